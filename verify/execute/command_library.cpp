#include "verify/execute/command_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "hip/captured_graph.h"
#include "verify/execute/captured_launch.h"
#include "verify/execute/interposer.h"
#include "verify/execute/library_place.h"
#include "verify/execute/rebuild.h"
#include "verify/execute/shown_nodes.h"

namespace verify {
namespace {

// Whether the library gets the commands of the graph.
bool handed_over(const hip::Recording& recording) {
  if (recording.has_memory_nodes()) return false;
  for (hip::NodeIndex i = 0; i < recording.nodes().size(); ++i) {
    const hip::RecordedNode& node = recording.nodes()[i];
    if (std::ranges::any_of(node.dependencies, [i](hip::NodeIndex before) { return before >= i; })) return false;
    const auto* opaque = std::get_if<hip::OpaqueRecord>(&node.record);
    if (opaque != nullptr && opaque->with_the_one_before) return false;
    const auto* child = std::get_if<hip::ChildRecord>(&node.record);
    if (child != nullptr && !handed_over(*child->graph)) return false;
  }
  return true;
}

// The commands of a recording without their parameters: a step with another shape has other commands.
void append_shape(const hip::Recording& recording, std::vector<std::size_t>& shape) {
  shape.push_back(recording.nodes().size());
  for (const hip::RecordedNode& node : recording.nodes()) {
    shape.push_back(node.record.index());
    shape.push_back(node.dependencies.size());
    shape.insert(shape.end(), node.dependencies.begin(), node.dependencies.end());
    const auto* kernel = std::get_if<hip::KernelRecord>(&node.record);
    shape.push_back(kernel != nullptr && hip::has_any(kernel->attributes) ? 1 : 0);
    const auto* copy = std::get_if<hip::CopyRecord>(&node.record);
    shape.push_back(copy == nullptr ? 0 : copy->symbol.symbol != nullptr ? 1 : copy->linear ? 2 : 3);
    if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) append_shape(*child->graph, shape);
  }
}

// The commands of one step as the ABI's structs, with the graphs of traced commands.
class ShownCommands {
 public:
  ShownCommands(StrategyContext& context, const hip::Recording& recording,
                std::span<const hip::DeviceAddress> addresses)
      : context_(context), addresses_(addresses), shown_(addresses), commands_(show_all(recording)) {}
  ShownCommands(const ShownCommands&) = delete;
  ShownCommands& operator=(const ShownCommands&) = delete;
  ~ShownCommands() { end(); }

  [[nodiscard]] const std::vector<hgcommands_command>& commands() const { return *commands_; }
  // The first error of a capture, where one failed.
  [[nodiscard]] const hip::Status& status() const { return status_; }
  // The library has returned: its graphs of traced commands are no more.
  void end() {
    for (const hip::RecordedGraph& graph : traced_) {
      if (!hip::destroy_graph(context_.interposer.inner(), graph.graph)) context_.error_reported = true;
    }
    traced_.clear();
  }
  void overwrite() {
    shown_.overwrite();
    for (std::vector<hgcommands_command>& level : levels_) {
      for (hgcommands_command& command : level)
        std::memset(static_cast<void*>(&command), static_cast<int>(kPoison), sizeof command);
    }
  }

 private:
  const std::vector<hgcommands_command>* show_all(const hip::Recording& recording) {
    std::vector<hgcommands_command> level;
    for (const hip::RecordedNode& node : recording.nodes()) level.push_back(show(node));
    return &levels_.emplace_back(std::move(level));
  }
  hgcommands_command show(const hip::RecordedNode& recorded) {
    hgcommands_command command{};
    command.node = shown_.show(recorded);
    command.device = hip::device_of(recorded.record);
    const auto* kernel = std::get_if<hip::KernelRecord>(&recorded.record);
    const bool attributes = kernel != nullptr && hip::has_any(kernel->attributes);
    if (attributes || command.node.kind == HGPATCHER_OPAQUE) {
      const hgpatcher_node shown = command.node;
      command.node = {};
      command.node.kind = HGPATCHER_OPAQUE;
      command.node.dependencies = shown.dependencies;
      command.node.dependency_count = shown.dependency_count;
    }
    if (const auto* child = std::get_if<hip::ChildRecord>(&recorded.record)) {
      const std::vector<hgcommands_command>* nested = show_all(*child->graph);
      command.nested = nested->data();
      command.nested_count = nested->size();
    }
    if (command.node.kind == HGPATCHER_OPAQUE) command.traced = trace(recorded);
    return command;
  }
  // A node that the version has no struct for is handed over as a graph of that node, as a traced command is.
  hipGraph_t trace(const hip::RecordedNode& recorded) {
    hip::RecordedNode alone = recorded;
    alone.dependencies.clear();
    hip::Recording recording;
    recording.add(std::move(alone));
    hip::Result<hip::RecordedGraph> graph = hip::record_graph(context_.interposer.inner(), recording, addresses_);
    if (!graph) {
      if (status_) status_ = graph.error();
      return nullptr;
    }
    return traced_.emplace_back(std::move(graph).value()).graph;
  }

  StrategyContext& context_;
  std::span<const hip::DeviceAddress> addresses_;
  ShownNodes shown_;
  std::deque<std::vector<hgcommands_command>> levels_;
  std::deque<hip::RecordedGraph> traced_;
  hip::Status status_;
  const std::vector<hgcommands_command>* commands_;
};

// Counts a step under `KIND: WHY`, under `KIND: other reasons` once there are many reasons.
void count_reason(const std::string& kind, const std::string& why, StepCounts& steps) {
  const std::string reason = kind + ": " + why;
  const auto reasons =
      std::ranges::count_if(steps, [&](const auto& one) { return one.first.starts_with(kind + ": "); });
  const bool fits = steps.contains(reason) || static_cast<std::size_t>(reasons) < kMaxReasons;
  ++steps[fits ? reason : kind + ": other reasons"];
}

// A call of the library that failed, or that gave an answer that the ABI does not know.
hip::Error failed_call(std::string_view function, hipError_t status, StepCounts& steps) {
  const std::string why = fmt::format("{} returned {}", function, hip::status_name(status));
  count_reason("failed", why, steps);
  return {status, why};
}
hip::Error wrong_answer(const std::string& why, StepCounts& steps) {
  count_reason("failed", why, steps);
  return {hipErrorUnknown, why};
}

void count(const hgcommands_did& did, StepCounts& steps) {
  ++steps[step_way(did.way)];
  if (did.way == HGCOMMANDS_SET) steps["setter calls"] += did.nodes;
  if (did.way == HGCOMMANDS_REFUSED) count_reason("refused", shown_reason(did.why), steps);
}

// An executable graph of the program that the library launches.
class LibraryExec final : public ExecPatcher {
 public:
  LibraryExec(const CommandLibrary& library, StrategyContext& context, const ExecObject& exec)
      : library_(library),
        interposer_(context.interposer),
        reported_(context.error_reported),
        finder_(context.api),
        exec_(exec) {}
  // hgcommands_destroy returns nothing, so it reports no call that was refused. The library makes such a call again.
  ~LibraryExec() override {
    if (commands_ == nullptr) return;
    const std::uint64_t fired = interposer_.fired();
    {
      const LibraryPlace place("hgcommands_destroy");
      library_.destroy(commands_);
    }
    if (interposer_.fired() != fired) reported_ = true;
  }

  // One step. False: the library refused, and launched nothing.
  hip::Result<bool> launch_on(StrategyContext& context, hipStream_t stream) {
    if (hip::Status made = make(context); !made) return made.error();
    hip::Recording recording = emptied(exec_.recording, exec_.disabled);
    auto shown = std::make_unique<ShownCommands>(context, recording, exec_.addresses);
    if (!shown->status()) return shown->status().error();
    hgcommands_did did{};
    const hip::Status status = step(context, recording, *shown, stream, did);
    shown->end();
    // Kept for a while: a stale reference reads poison, or without poison the bytes that were there (P1).
    if (context.poison) shown->overwrite();
    passed_.push_back(std::move(shown));
    if (passed_.size() > kKeptSteps) passed_.pop_front();
    if (!status) return status.error();
    if (step_way(did.way) == nullptr)
      return wrong_answer(fmt::format("hgcommands_launch says that it went way {}", did.way), context.steps);
    count(did, context.steps);
    if (did.way == HGCOMMANDS_REFUSED) return false;
    const bool fresh = did.way == HGCOMMANDS_UPDATED || did.way == HGCOMMANDS_RECORDED;
    if (!addresses_.empty() && !other_parameters_ && !fresh)
      context.library_step = {std::move(recording), addresses_, exec_.addresses};
    addresses_ = exec_.addresses;
    if (fresh) other_parameters_ = false;
    return true;
  }
  // The next step differs from the last one in more than addresses. Later steps may show that the library got it wrong,
  // which is P3: no step is judged as a patch until everything is recorded again.
  void note_other_parameters() { other_parameters_ = true; }

  // The rest is never called: the library sees the program's changes as commands of its next step.
  hip::PatchResult patch(std::span<const hip::Move>) override {
    return hip::PatchError{hip::PatchFailure::kRecordAgain, 0, "a command buffer changes when it is launched"};
  }
  void replace(hip::NodeIndex, hip::NodeRecord, std::vector<hip::Relocation>) override {}
  void replace_all(const hip::Recording&, std::span<const hip::DeviceAddress>) override {}

 private:
  hip::Status make(StrategyContext& context) {
    if (commands_ != nullptr) return {};
    const hipError_t made = [&] {
      const LibraryPlace place("hgcommands_create");
      return library_.create(&finder_.base, hip::home_of(exec_.recording), &commands_);
    }();
    if (made == hipSuccess && commands_ != nullptr) return {};
    commands_ = nullptr;
    if (made == hipErrorNotSupported) {
      const std::string& missing = finder_.missing;
      return lacking(context, missing.empty() ? "a function that the library needs" : missing.c_str());
    }
    if (made != hipSuccess) return failed_call("hgcommands_create", made, context.steps);
    return wrong_answer("hgcommands_create returned hipSuccess and a null object", context.steps);
  }
  hip::Status step(StrategyContext& context, const hip::Recording& recording, const ShownCommands& shown,
                   hipStream_t stream, hgcommands_did& did) {
    std::vector<std::size_t> shape;
    append_shape(recording, shape);
    const std::vector<hgcommands_command>& commands = shown.commands();
    const bool others = shape != shape_;
    if (others) shape_.clear();  // until these commands have been launched
    if (const hipError_t begun = begin(commands.size(), others); begun != hipSuccess)
      return failed_call("hgcommands_begin", begun, context.steps);
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const LibraryPlace place("hgcommands_update", i);
      if (const hipError_t taken = library_.update(commands_, i, &commands[i]); taken != hipSuccess)
        return failed_call("hgcommands_update", taken, context.steps);
    }
    const LibraryPlace place("hgcommands_launch");
    if (const hipError_t launched = library_.launch(commands_, stream, &did); launched != hipSuccess)
      return failed_call("hgcommands_launch", launched, context.steps);
    shape_ = std::move(shape);
    return {};
  }
  hipError_t begin(std::size_t commands, bool others) {
    const LibraryPlace place("hgcommands_begin");
    return library_.begin(commands_, commands, others ? 1 : 0);
  }

  const CommandLibrary& library_;
  const Interposer& interposer_;
  bool& reported_;  // StrategyContext::error_reported
  HipFinder finder_;
  const ExecObject& exec_;
  hgcommands* commands_ = nullptr;
  std::vector<std::size_t> shape_;  // of the last step that was launched
  hip::AddressTable addresses_;     // of that step
  bool other_parameters_ = false;   // since the library recorded last
  static constexpr std::size_t kKeptSteps = 4;
  std::deque<std::unique_ptr<ShownCommands>> passed_;
};

// Recording the program's own executable graph again would destroy the library's object. It is kept.
template <class Change>
auto keeping_library(ExecObject& exec, const Change& change) {
  std::unique_ptr<ExecPatcher> kept = std::move(exec.stable);
  auto result = change();
  exec.stable = std::move(kept);
  return result;
}

// The same for a change of more than addresses.
template <class Change>
auto changing_parameters(ExecObject& exec, const Change& change) {
  if (exec.stable) static_cast<LibraryExec&>(*exec.stable).note_other_parameters();
  return keeping_library(exec, change);
}

class LibraryStrategy final : public StrategyForExecs {
 public:
  using StrategyForExecs::patch;
  using StrategyForExecs::set;
  explicit LibraryStrategy(CommandLibrary library)
      : StrategyForExecs(make_strategy(StrategyKind::kRebuild)), library_(std::move(library)) {}

  PatchOutcome patch(StrategyContext& context, ExecObject& exec, std::span<const hip::Move> moves) override {
    // The program's own graph is kept current, for steps that the library refuses.
    PatchOutcome outcome = keeping_library(exec, [&] { return for_graphs().patch(context, exec, moves); });
    outcome.in_place = false;
    return outcome;
  }
  hip::Status set(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                  const hip::RecordedNode& node) override {
    return changing_parameters(exec, [&] { return for_graphs().set(context, exec, index, node); });
  }
  UpdateStatus update(StrategyContext& context, ExecObject& exec, const GraphObject& graph) override {
    return changing_parameters(exec, [&] { return for_graphs().update(context, exec, graph); });
  }
  hip::Status instantiate(StrategyContext& context, const GraphObject& graph, ExecObject& exec,
                          std::string* said) override {
    hip::Status status = Strategy::instantiate(context, graph, exec, said);
    const bool devices = context.devices <= 1 || library_.several_devices;
    if (status && devices && handed_over(graph.recording))
      exec.stable = std::make_unique<LibraryExec>(library_, context, exec);
    return status;
  }
  hip::Status record_again(StrategyContext& context, ExecObject& exec) override {
    return changing_parameters(exec, [&] { return Strategy::record_again(context, exec); });
  }
  hip::Status launch(StrategyContext& context, const ExecObject& exec, const hip::StreamRef& stream) override {
    if (!exec.stable) return Strategy::launch(context, exec, stream);
    if (captures(context, stream.handle())) return launch_as_child(context, exec, stream);
    auto& library = static_cast<LibraryExec&>(*exec.stable);
    const hip::Result<bool> launched = library.launch_on(context, stream.handle());
    if (!launched) return launched.error();
    if (launched.value()) return {};
    return hip::called(context.api.hipGraphLaunch(exec.exec, stream.handle()), "hipGraphLaunch");
  }

 private:
  CommandLibrary library_;
};

}  // namespace

const char* step_way(std::uint32_t way) {
  constexpr const char* kWays[] = {"launched", "set", "updated", "recorded", "refused"};
  return way < std::size(kWays) ? kWays[way] : nullptr;
}

std::string shown_reason(const char* text) {
  constexpr std::size_t kMaxLength = 100;
  if (text == nullptr || *text == 0) return "no reason given";
  std::string shown(text, strnlen(text, kMaxLength));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

std::unique_ptr<Strategy> make_library_strategy(CommandLibrary library) {
  return std::make_unique<LibraryStrategy>(std::move(library));
}

}  // namespace verify
