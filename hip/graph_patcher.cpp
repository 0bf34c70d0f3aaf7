// One patch: check all moves, refuse moves of buffers of opaque nodes, find the nodes, prepare child graphs, then write
// the new addresses into the owned records and hand each touched node to its setter. Since a field is always base plus
// addend, the old parameters need no copy: to undo a patch, write the old addresses and call the same setters again.
#include "hip/graph_patcher.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <utility>

#include "hip/captured_graph.h"
#include "hip/cloned_nodes.h"
#include "hip/device_scope.h"
#include "hip/node_setter.h"
#include "hip/patch_tree.h"

namespace hip {
namespace {

constexpr unsigned kBitsOfWord = 64;

PatchError call_failed(int code, const std::string& what) {
  return {PatchFailure::kRolledBack, code,
          what + "; the graph is as it was before the patch: patch again or record it again"};
}

PatchError record_again(const std::string& why) {
  return {PatchFailure::kRecordAgain, 0, why + "; nothing was changed: record the graph again"};
}

PatchError bad_move(BufferIndex buffer, const std::string& why) {
  return {PatchFailure::kBadMove, 0, "the move of buffer " + std::to_string(buffer) + " " + why};
}

}  // namespace

void report_teardown_error(int code, const char* what) {
  std::fprintf(stderr, "hgcheck: %s: %s\n", what, status_name(code).c_str());
}

struct GraphPatcher::State {
  State(const Api& api, const Recording& recording, std::span<const hipGraphNode_t> handles, hipGraphExec_t exec,
        std::span<const DeviceAddress> addresses, PatcherOptions options)
      : api_(api),
        exec_(exec),
        options_(std::move(options)),
        addresses_(addresses.begin(), addresses.end()),
        tree_(recording, handles, addresses) {
    reserve_scratch();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { drop_private_graphs(); }

  PatchResult patch(std::span<const Move> moves);
  void replace(NodeIndex node, NodeRecord record, std::vector<Relocation> relocations);
  void replace_all(const Recording& recording, std::span<const DeviceAddress> addresses);

  // A setter call of the patch under way: of a node, or of a top-level child graph node that is handed its graph.
  struct Step {
    TreeIndex node = 0;
    bool hand_over = false;
  };

  [[nodiscard]] std::optional<PatchError> check(std::span<const Move> moves);
  [[nodiscard]] std::optional<PatchError> refuse_opaque(std::span<const Move> moves) const;
  std::uint32_t plan(std::span<const Move> moves);
  void order_touched();
  [[nodiscard]] std::optional<PatchError> prepare_children(std::uint32_t& prepared);
  [[nodiscard]] std::optional<PatchError> prepare(TreeIndex child);
  [[nodiscard]] std::optional<PatchError> adopt(TreeIndex parent, std::span<const hipGraphNode_t> handles);
  [[nodiscard]] std::optional<PatchError> adopt_clone(TreeIndex child);
  void write(std::span<const Move> moves, DeviceAddress Move::* where);
  [[nodiscard]] hipError_t call(const Step& step);
  [[nodiscard]] hipError_t put_back(std::size_t first_failed);
  [[nodiscard]] std::string name_of(const Step& step) const;
  void drop_private_graph(TreeNode& node);
  void drop_private_graphs();
  void reserve_scratch();

  Api api_;
  hipGraphExec_t exec_;  // null: the graph's definition is patched
  PatcherOptions options_;
  AddressTable addresses_;
  PatchTree tree_;
  bool usable_ = true;

  // Scratch, empty or all false between patches; its capacity suffices for all nodes and buffers of the tree.
  std::vector<bool> buffer_seen_;
  std::vector<std::uint64_t> node_seen_;  // kBitsOfWord nodes a word
  std::vector<TreeIndex> touched_;
  std::vector<Step> steps_;
};

PatchResult GraphPatcher::State::patch(std::span<const Move> moves) {
  if (!usable_) {
    return PatchError{PatchFailure::kUnusable, 0, "an earlier patch could not be put back: record the graph again"};
  }
  if (auto error = check(moves)) return std::move(*error);
  if (auto error = refuse_opaque(moves)) return std::move(*error);
  PatchReport report;
  report.relocations = plan(moves);
  report.nodes = static_cast<std::uint32_t>(touched_.size());
  report.calls = static_cast<std::uint32_t>(steps_.size());
  if (auto error = prepare_children(report.prepared)) return std::move(*error);

  write(moves, &Move::to);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const hipError_t status = call(steps_[i]);
    if (status == hipSuccess) continue;
    const std::string what = name_of(steps_[i]) + ": " + status_name(status);
    write(moves, &Move::from);
    const hipError_t stuck = put_back(i);
    if (stuck == hipSuccess) return call_failed(status, what);
    usable_ = false;
    return PatchError{PatchFailure::kUnusable, status,
                      what + "; putting back what had been changed failed (" + status_name(stuck) +
                          "): do not launch it, record the graph again"};
  }
  for (const Move& move : moves) addresses_[move.buffer] = move.to;
  return report;
}

std::optional<PatchError> GraphPatcher::State::check(std::span<const Move> moves) {
  std::optional<PatchError> error;
  std::size_t checked = 0;
  for (; checked < moves.size() && !error; ++checked) {
    const Move& move = moves[checked];
    if (move.buffer >= addresses_.size()) {
      error = bad_move(move.buffer, "names a buffer that the patcher was not told about");
      break;  // it has no mark to clear
    }
    if (buffer_seen_[move.buffer])
      error = bad_move(move.buffer, "is not the only one of that buffer in this patch");
    else if (move.from != addresses_[move.buffer])
      error = bad_move(move.buffer, "starts from where it is not");
    buffer_seen_[move.buffer] = true;
  }
  for (std::size_t i = 0; i < checked; ++i) buffer_seen_[moves[i].buffer] = false;
  return error;
}

std::optional<PatchError> GraphPatcher::State::refuse_opaque(std::span<const Move> moves) const {
  for (const Move& move : moves) {
    if (move.from == move.to) continue;
    const auto uses = tree_.table().opaque_uses_of(move.buffer);
    if (uses.empty()) continue;
    const TreeIndex at = uses.front().node;
    const auto* opaque = std::get_if<OpaqueRecord>(&tree_[at].record);
    return record_again(tree_.name_of(at) + " may hold buffer " + std::to_string(move.buffer) +
                        " and cannot be patched, " +
                        (opaque != nullptr ? opaque->reason : "its child graphs are too deep or too many"));
  }
  return std::nullopt;
}

// Fills touched_ and steps_ and returns how many fields change.
std::uint32_t GraphPatcher::State::plan(std::span<const Move> moves) {
  touched_.clear();
  steps_.clear();
  std::uint32_t relocations = 0;
  for (const Move& move : moves) {
    if (move.from == move.to) continue;
    for (const RelocationSite& site : tree_.table().relocations_of(move.buffer)) {
      ++relocations;
      std::uint64_t& word = node_seen_[site.node / kBitsOfWord];
      const std::uint64_t bit = std::uint64_t{1} << (site.node % kBitsOfWord);
      if ((word & bit) != 0) continue;
      word |= bit;
      touched_.push_back(site.node);
    }
  }
  order_touched();
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    steps_.push_back({touched_[i], false});
    // Inner nodes of one top-level child follow each other; after the last the child is handed over, once.
    const TreeIndex top = tree_[touched_[i]].top;
    const bool last = i + 1 == touched_.size() || tree_[touched_[i + 1]].top != top;
    if (exec_ != nullptr && tree_.is_inner(touched_[i]) && last) steps_.push_back({top, true});
  }
  return relocations;
}

// Brings touched_ into node order and clears the marks. Many nodes are read from the marks, which are in order already
// and take fewer words than there are touched nodes. Few nodes are sorted, so that the cost of a small patch does not
// depend on the size of the graph.
void GraphPatcher::State::order_touched() {
  if (touched_.size() < node_seen_.size()) {
    for (const TreeIndex node : touched_) node_seen_[node / kBitsOfWord] = 0;
    std::ranges::sort(touched_);
    return;
  }
  touched_.clear();
  for (std::size_t i = 0; i < node_seen_.size(); ++i) {
    for (std::uint64_t word = std::exchange(node_seen_[i], 0); word != 0; word &= word - 1) {
      touched_.push_back(static_cast<TreeIndex>(i * kBitsOfWord + std::countr_zero(word)));
    }
  }
}

std::optional<PatchError> GraphPatcher::State::prepare_children(std::uint32_t& prepared) {
  for (const TreeIndex node : touched_) {
    const TreeIndex top = tree_[node].top;
    if (top == node || tree_[top].prepared) continue;
    if (auto error = prepare(top)) {
      drop_private_graph(tree_[top]);
      error->message = tree_.name_of(top) + ": " + error->message;
      return error;
    }
    tree_[top].prepared = true;
    ++prepared;
  }
  return std::nullopt;
}

// Gives every node below a top-level child graph node a handle through which it can be set: in a private copy for an
// executable graph, in the node's own graph otherwise.
std::optional<PatchError> GraphPatcher::State::prepare(TreeIndex child) {
  if (exec_ == nullptr) return adopt_clone(child);
  const Recording& recording = *std::get<ChildRecord>(tree_[child].record).graph;
  Result<RecordedGraph> recorded = record_graph(api_, recording, addresses_);
  if (!recorded) {
    return call_failed(recorded.error().code, "recording a private child graph failed: " + recorded.error().message);
  }
  tree_[child].private_graph = recorded.value().graph;
  if (!recorded.value().kept.empty()) return record_again("a node of a child graph keeps memory of its own");
  return adopt(child, recorded.value().nodes);
}

// Recursion here and in adopt_clone is as deep as child graphs are opened: kMaxChildDepth.
std::optional<PatchError> GraphPatcher::State::adopt(TreeIndex parent, std::span<const hipGraphNode_t> handles) {
  std::size_t place = 0;
  for (TreeIndex node = parent + 1; node < tree_[parent].end; node = tree_[node].end) {
    tree_[node].handle = handles[place++];
    if (!tree_.holds_relocations(node + 1, tree_[node].end)) continue;
    if (auto error = adopt_clone(node)) return error;
  }
  assert(place == handles.size());
  return std::nullopt;
}

std::optional<PatchError> GraphPatcher::State::adopt_clone(TreeIndex child) {
  hipGraph_t graph = nullptr;
  if (const hipError_t status = api_.hipGraphChildGraphNodeGetGraph(tree_[child].handle, &graph);
      status != hipSuccess) {
    return call_failed(status, std::string("hipGraphChildGraphNodeGetGraph: ") + status_name(status));
  }
  const Recording& recording = *std::get<ChildRecord>(tree_[child].record).graph;
  const Result<ClonedNodes> clone = nodes_of_clone(api_, graph, recording, addresses_);
  if (!clone) return call_failed(clone.error().code, clone.error().message);
  if (clone.value().difference != nullptr) {
    return record_again(std::string("the runtime's clone of a child graph differs from its recording: ") +
                        clone.value().difference);
  }
  return adopt(child, clone.value().nodes);
}

void GraphPatcher::State::write(std::span<const Move> moves, DeviceAddress Move::* where) {
  for (const Move& move : moves) {
    if (move.from == move.to) continue;
    for (const RelocationSite& site : tree_.table().relocations_of(move.buffer)) {
      write_address(tree_[site.node].record, site.relocation, move.*where);
    }
  }
}

hipError_t GraphPatcher::State::call(const Step& step) {
  TreeNode& node = tree_[step.node];
  const auto set = [&] {
    if (step.hand_over) return api_.hipGraphExecChildGraphNodeSetParams(exec_, node.handle, node.private_graph);
    hipGraphExec_t exec = tree_.is_inner(step.node) ? nullptr : exec_;
    return set_node(api_, exec, node.handle, node.form, node.record);
  };
  const std::optional<int> device = device_needed(node.record);
  if (!device) return set();
  Result<DeviceScope> scope = DeviceScope::enter(api_, *device);
  if (!scope) return static_cast<hipError_t>(scope.error().code);
  const hipError_t status = set();
  const Status left = scope.value().leave();
  return status != hipSuccess || left ? status : static_cast<hipError_t>(left.error().code);
}

// Sets everything up to and including the step that failed to the records, which hold the old addresses again. The step
// that failed is documented to have changed nothing; it is put back all the same, because runtimes give up half-way
// (AMD's stops at the first inner node of a handed-over child that it refuses), and the changed parameters would point
// into memory that the caller believes free. Child graphs are handed over after their inner nodes were put back. Goes
// on after an error, to put back as much as possible; returns the first error.
hipError_t GraphPatcher::State::put_back(std::size_t first_failed) {
  hipError_t first_error = hipSuccess;
  for (const bool hand_over : {false, true}) {
    for (std::size_t i = first_failed + 1; i-- > 0;) {
      if (steps_[i].hand_over != hand_over) continue;
      const hipError_t status = call(steps_[i]);
      if (first_error == hipSuccess) first_error = status;
    }
  }
  return first_error;
}

std::string GraphPatcher::State::name_of(const Step& step) const {
  const char* setter = step.hand_over ? "hipGraphExecChildGraphNodeSetParams"
                                      : setter_name(tree_[step.node].record, exec_ && !tree_.is_inner(step.node));
  return tree_.name_of(step.node) + ": " + setter;
}

void GraphPatcher::State::replace(NodeIndex node, NodeRecord record, std::vector<Relocation> relocations) {
  drop_private_graph(tree_[tree_.top_level()[node]]);
  tree_.replace(node, std::move(record), std::move(relocations), addresses_);
  reserve_scratch();
}

void GraphPatcher::State::replace_all(const Recording& recording, std::span<const DeviceAddress> addresses) {
  assert(recording.nodes().size() == tree_.top_level().size() && "as many nodes as before");
  std::vector<hipGraphNode_t> handles;
  for (std::size_t i = 0; i < recording.nodes().size(); ++i) {
    const TreeNode& old = tree_[tree_.top_level()[i]];
    const NodeRecord& now = recording.nodes()[i].record;
    assert(may_follow(old.record, now) && "a node keeps its type");
    handles.push_back(old.handle);
  }
  drop_private_graphs();
  tree_ = PatchTree(recording, handles, addresses);
  addresses_.assign(addresses.begin(), addresses.end());
  reserve_scratch();
}

void GraphPatcher::State::drop_private_graph(TreeNode& node) {
  hipGraph_t graph = std::exchange(node.private_graph, nullptr);
  node.prepared = false;
  if (graph == nullptr) return;
  if (const Status destroyed = destroy_graph(api_, graph); !destroyed) {
    const int status = destroyed.error().code;
    constexpr const char* kWhat = "GraphPatcher could not destroy a child graph that it had recorded for itself";
    if (options_.on_teardown_error)
      options_.on_teardown_error(status, kWhat);
    else
      report_teardown_error(status, kWhat);
  }
}

void GraphPatcher::State::drop_private_graphs() {
  for (const TreeIndex node : tree_.top_level()) drop_private_graph(tree_[node]);
}

void GraphPatcher::State::reserve_scratch() {
  buffer_seen_.resize(addresses_.size());  // all false between patches
  node_seen_.resize((std::size_t{tree_.size()} + kBitsOfWord - 1) / kBitsOfWord);
  touched_.reserve(tree_.size());
  steps_.reserve(std::size_t{tree_.size()} + tree_.top_level().size());
}

GraphPatcher::GraphPatcher(std::unique_ptr<State> state) : state_(std::move(state)) {}
GraphPatcher::GraphPatcher(GraphPatcher&&) noexcept = default;
GraphPatcher& GraphPatcher::operator=(GraphPatcher&&) noexcept = default;
GraphPatcher::~GraphPatcher() = default;

GraphPatcher GraphPatcher::of_exec(const Api& api, const Recording& recording, const RecordedGraph& graph,
                                   hipGraphExec_t exec, std::span<const DeviceAddress> addresses,
                                   PatcherOptions options) {
  assert(exec != nullptr);
  return GraphPatcher(std::make_unique<State>(api, recording, graph.nodes, exec, addresses, std::move(options)));
}

GraphPatcher GraphPatcher::of_graph(const Api& api, const Recording& recording, const RecordedGraph& graph,
                                    std::span<const DeviceAddress> addresses, PatcherOptions options) {
  return GraphPatcher(std::make_unique<State>(api, recording, graph.nodes, nullptr, addresses, std::move(options)));
}

PatchResult GraphPatcher::patch(std::span<const Move> moves) {
  return state_->patch(moves);
}

std::span<const DeviceAddress> GraphPatcher::addresses() const {
  return state_->addresses_;
}

bool GraphPatcher::usable() const {
  return state_->usable_;
}

void GraphPatcher::replace(NodeIndex node, NodeRecord record, std::vector<Relocation> relocations) {
  state_->replace(node, std::move(record), std::move(relocations));
}

void GraphPatcher::replace_all(const Recording& recording, std::span<const DeviceAddress> addresses) {
  state_->replace_all(recording, addresses);
}

}  // namespace hip
