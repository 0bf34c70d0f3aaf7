#include "verify/oracle/stream_variants.h"

#include <algorithm>

#include "verify/program/state.h"

namespace verify {

namespace {

class Builder {
 public:
  explicit Builder(const Program& program) { variant_.program.setting = program.setting; }
  bool put(Command command, std::size_t origin, std::uint32_t repeat = 1) {
    if (variant_.program.steps.size() == kMaxVariantSteps) return false;
    variant_.program.steps.push_back({std::move(command), repeat, 0});
    variant_.origin.push_back(origin);
    return true;
  }
  StreamVariant take() { return std::move(variant_); }

 private:
  StreamVariant variant_;
};

// Indices of a graph's nodes in an order that the edges allow; the order of addition where that is one.
std::vector<std::size_t> some_order(const GraphState& graph) {
  std::vector<std::size_t> order;
  std::vector<char> done(graph.nodes.size(), 0);
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const auto& after = graph.nodes[i].after;
      if (done[i] != 0 || !std::ranges::all_of(after, [&](std::uint32_t d) { return done[d] != 0; })) continue;
      done[i] = 1;
      order.push_back(i);
      progress = true;
    }
  }
  return order;
}

struct EagerNodes {
  const State& state;
  Builder& builder;
  std::size_t origin;
  Id stream;

  // Whether a frozen scalar has other bits now. It keeps the bits from when its node was recorded, which eager work
  // cannot take any more.
  [[nodiscard]] bool thawed(const NodeParams& params) const {
    bool moved = false;
    for_each_frozen(params, [&](const BufferRef& ref) {
      const BufferState& buffer = *state.buffer(ref.buffer);
      moved = moved || !buffer.alive || buffer.version != 0;
    });
    return moved;
  }
  bool run(const GraphState& graph) const {  // NOLINT(misc-no-recursion): as deep as graphs nest
    for (const std::size_t i : some_order(graph)) {
      const NodeState& node = graph.nodes[i];
      if (node.child && node.enabled && !run(*node.child)) return false;
      if (node.child || !node.enabled || std::holds_alternative<EmptyParams>(node.params)) continue;
      // An event node orders other launches too, which eager work in one stream does not.
      if (is_event_node(node.params)) return false;
      if (thawed(node.params)) return false;
      // The project's kernels do not wait for all workgroups; kernels of others may.
      const auto* kernel = std::get_if<KernelParams>(&node.params);
      const bool may_wait = kernel != nullptr && kernel->kernel->object != nullptr;
      for (std::uint32_t k = 0; k < node.fan; ++k) {
        Enqueue work{stream, fan_instance(node.params, k), 0};
        work.cooperative = may_wait && node.attributes.cooperative.value_or(false);
        if (!builder.put(std::move(work), origin)) return false;
      }
    }
    return true;
  }
};

// Whether the graph has nodes that become eager work.
bool has_work(const GraphState& graph) {  // NOLINT(misc-no-recursion): as deep as graphs nest
  return std::ranges::any_of(graph.nodes, [](const NodeState& node) {
    if (!node.enabled) return false;
    return node.child ? has_work(*node.child) : !std::holds_alternative<EmptyParams>(node.params);
  });
}

void apply(State& state, const Step& step) {
  for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state.apply(step.command);
}

// Whether `command` belongs to a capture, and so is left out where captures are recorded by hand.
bool of_a_capture(const State& state, const Command& command) {
  if (std::holds_alternative<BeginCapture>(command) || std::holds_alternative<CaptureInfo>(command) ||
      std::holds_alternative<CaptureAfter>(command))
    return true;
  return gives_captured_work(state, command);
}

bool same_by_hand(const State& state, const Command& command) {
  if (state.answer(command).status != 0) return false;
  // A node that is added later would name addresses where nothing is mapped any more.
  if (std::holds_alternative<UnmapMemory>(command) && !state.captures().empty()) return false;
  if (const auto* begin = std::get_if<BeginCapture>(&command)) return !begin->into;
  if (const auto* launch = std::get_if<Launch>(&command)) return state.capture_of(launch->stream) == nullptr;
  const auto* gone = std::get_if<Destroy>(&command);
  return gone == nullptr || gone->target != Target::kStream || state.capture_of(gone->id) == nullptr;
}

bool add_by_hand(Builder& builder, const EndCapture& end, const CaptureState& capture, std::size_t origin) {
  if (!builder.put(DeclareGraph{end.graph}, origin)) return false;
  const std::vector<NodeState>& nodes = capture.graph.nodes;
  for (const NodeState& node : nodes) {
    if (node.child) return false;  // its graph may have changed since, or be gone
    AddNode add{end.graph, node.id, node.params, {}, 1};
    for (const std::uint32_t index : node.after) add.after.push_back(nodes[index].id);
    if (!builder.put(std::move(add), origin)) return false;
    const bool has_attributes = !(node.attributes == NodeAttributes{});
    if (has_attributes && !builder.put(SetAttributes{end.graph, node.id, node.attributes}, origin)) return false;
  }
  return true;
}

}  // namespace

std::optional<StreamVariant> launched_eagerly(const Program& program) {
  State state;
  Builder builder(program);
  bool changed = false;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const auto* launch = std::get_if<Launch>(&step.command);
    bool kept = true;
    if (launch != nullptr && state.capture_of(launch->stream) == nullptr && state.answer(*launch).status == 0) {
      // Launches of one executable graph run one after the other, and eager work on several streams does not.
      if (state.exec_runs_beside(launch->exec, launch->stream)) return {};
      // A launch in the null stream also orders other streams; with no work in its place, nothing would order them.
      const GraphState& graph = state.exec(launch->exec)->graph;
      if (launch->stream == kNullStream && !graph.nodes.empty() && !has_work(graph)) return {};
      changed = true;
      for (std::uint32_t k = 0; k < step.repeat && kept; ++k)
        kept = EagerNodes{state, builder, i, launch->stream}.run(state.exec(launch->exec)->graph);
    } else if (!arms_failure(step.command)) {
      kept = builder.put(step.command, i, step.repeat);
    }
    if (!kept) return {};
    apply(state, step);
  }
  StreamVariant variant = builder.take();
  // Eager work has rules of its own (pageable sources), which the variant may break.
  if (!changed || validate(variant.program)) return {};
  return variant;
}

std::optional<StreamVariant> recorded_by_hand(const Program& program) {
  State state;
  Builder builder(program);
  bool changed = false;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (!same_by_hand(state, step.command)) return {};
    bool kept = true;
    if (const auto* end = std::get_if<EndCapture>(&step.command)) {
      changed = true;
      kept = add_by_hand(builder, *end, *state.capture_of(end->stream), i);
    } else if (!of_a_capture(state, step.command) && !arms_failure(step.command)) {
      kept = builder.put(step.command, i, step.repeat);
    }
    if (!kept) return {};
    apply(state, step);
  }
  StreamVariant variant = builder.take();
  // Nodes are added later than they were captured: memory that they name may be freed by then.
  if (!changed || !state.captures().empty() || validate(variant.program)) return {};
  return variant;
}

Observation in_terms_of(const Program& program, const StreamVariant& variant, const Observation& expected,
                        Observation observed) {
  const auto original = [&](std::size_t step) {
    return step < variant.origin.size() ? variant.origin[step] : program.steps.size();
  };
  std::vector<StepStatus> statuses = expected.statuses;
  std::vector<char> met(statuses.size(), 0);
  for (std::size_t i = 0; i < observed.statuses.size(); ++i) {
    const std::size_t step = original(i);
    if (step >= statuses.size()) continue;
    // Where several steps replace one step, the first that failed gives the status; without a failure, the first.
    const bool first_failure = statuses[step].code == 0 && observed.statuses[i].code != 0;
    if (met[step] == 0 || first_failure) statuses[step] = observed.statuses[i];
    met[step] = 1;
  }
  observed.statuses = std::move(statuses);
  for (BytesSeen& seen : observed.reads) seen.step = original(seen.step);
  for (std::size_t& step : observed.patched_in_place) step = original(step);
  observed.death_step = original(observed.death_step);
  return observed;
}

}  // namespace verify
