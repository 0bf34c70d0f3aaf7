// hip::CommandGraph: one executable graph of a hip::CommandBuffer, with the traces of its traced commands.
//
// The command buffer gives it prepared commands, and asks it at each step to bring the executable graph up to date. A
// step goes through ways of hip/command_states.h (WayTable): a loop does the action of the way that the step is on, and
// the table says which way comes next. Data of a single step is in a Step, on the stack of its caller, or in
// `Traced::now`, which finish() resets.
//
// Launches only when launch() is called, and does not know whether the step before failed: Step::begins says so.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hip/api/api.h"
#include "hip/command_states.h"
#include "hip/command_step.h"
#include "hip/device_scope.h"
#include "hip/graph_patcher.h"
#include "hip/last_launch.h"
#include "hip/recording.h"
#include "hip/release_quirks.h"
#include "hip/stream.h"
#include "hip/trace_cache.h"
#include "hip/traced_command.h"

namespace hip {

// Commands in a form that the release launches rightly.
struct LaunchableCommands {
  Recording commands;
  const ReleaseQuirk* launched_by = nullptr;   // the quirk for which they are flattened, chained or split
  const ReleaseQuirk* unlaunchable = nullptr;  // the quirk that is left: no step can launch them
};

void add(TraceUse& sum, const TraceUse& use);
[[nodiscard]] QuirkContext quirk_context(const CommandBufferOptions& options);

// The traces of one graph's commands; destroyed after the graph.
struct CommandTraces {
  explicit CommandTraces(const CommandBufferOptions& options);
  TraceCache traces, collectives;
};

class CommandGraph {
 public:
  // Data of one step of one graph.
  struct Step {
    std::span<const DeviceAddress> addresses;
    GraphState begins = GraphState::kNone;  // the state before the step
    CommandStep answer{};                   // as far as it is known
    TraceUse use{};
    Status error{};                        // of Way::kFailed
    bool unrecorded = false;               // the commands could not be recorded
    std::optional<RecordedGraph> fresh{};  // between Way::kRecord and the way behind it
    std::exception_ptr thrown{};           // the exception of a command's work

    // An exception of a command's work is treated as an error until the step is over: peers count the step's rounds,
    // and no data of this step may be left for the next step.
    template <class Body>
    auto caught(const Body& body) -> decltype(body()) {
      try {
        return body();
      } catch (...) {
        thrown = std::current_exception();
        return Error{hipErrorUnknown, "the work of a command threw"};
      }
    }
  };

  // All arguments outlive the object.
  CommandGraph(const Api& api, const CommandBufferOptions& options, CommandTraces& traces, TakenRows<WayTable>& taken);
  CommandGraph(const CommandGraph&) = delete;
  CommandGraph& operator=(const CommandGraph&) = delete;
  // Waits for the last launch. Failures are told to the error sink.
  ~CommandGraph();

  // Sets how many buffers the commands name, and how many traces of each kind have to be kept at least.
  void expect(BufferIndex buffers, std::size_t traced, std::size_t collectives);
  // Sets the commands for the next step and those after it.
  void take(LaunchableCommands commands);
  void forget(BufferIndex buffer);
  // Brings the executable graph to the step's addresses. Comes to one round for each collective, whatever `status` is.
  [[nodiscard]] Result<CommandStep> get_ready(Step& step, Status status);
  [[nodiscard]] Status launch(const StreamRef& stream) { return last_launch_.launch(exec_, stream); }
  [[nodiscard]] Status follow(const StreamRef& stream) { return last_launch_.follow(stream); }
  // Ends the step: drops the traces that it asked for.
  void finish();
  // Waits for the last launch, and destroys the executable graph.
  [[nodiscard]] Status drop();

  // The graph that the executable graph was instantiated from, or null.
  [[nodiscard]] hipGraph_t graph() const { return recorded_.graph; }
  [[nodiscard]] const ReleaseQuirk* launched_by() const { return launched_by_; }

 private:
  static constexpr std::uint64_t kNothing = 0;
  // A traced command: the node of commands_ that adds the trace of the step to the graph.
  struct Traced {
    NodeIndex node = 0;
    std::shared_ptr<const TracedWork> work;
    std::optional<RecordedNode> known{};  // the result of differential capture
    std::vector<TraceBuffer> buffers{};   // as the last step named them
    std::uint64_t held = 0;               // the version of its trace in exec_
    struct InStep {
      bool asked = false;
      std::shared_ptr<TracedGraph> graph{};  // once asked; null: it enqueues nothing
      std::uint64_t version = kNothing;      // of the content of `graph`; kNothing where it is null
    } now{};
    [[nodiscard]] bool is_held() const { return !now.asked || now.version == held; }
  };
  class KeptTrace;

  [[nodiscard]] Result<CommandStep> bring(Step& step);
  // One action for each way.
  [[nodiscard]] WayEvent act(Way way, Step& step);
  [[nodiscard]] WayEvent choose(Step& step) const;
  [[nodiscard]] WayEvent compare(Step& step);
  [[nodiscard]] WayEvent patch(Step& step);
  [[nodiscard]] WayEvent hand_over(Step& step);
  [[nodiscard]] WayEvent record(Step& step);
  [[nodiscard]] WayEvent update(Step& step);
  [[nodiscard]] WayEvent replace(Step& step);

  [[nodiscard]] bool moved(const Traced& traced, std::span<const DeviceAddress> addresses) const;
  [[nodiscard]] Result<std::unique_ptr<Trace>> capture(std::span<const DeviceAddress> addresses);
  [[nodiscard]] Status ask(Traced& traced, Step& step);
  [[nodiscard]] Status ask_collectives(Step& step, Status status);
  [[nodiscard]] const ReleaseQuirk* quirk_of_patch() const;
  [[nodiscard]] const ReleaseQuirk* grown_by() const;
  [[nodiscard]] std::optional<StepReason> patch_nodes(PatchReport& report);
  [[nodiscard]] bool replace_child(const Traced& traced) const;
  [[nodiscard]] Result<DeviceScope> nodes_device() const;
  [[nodiscard]] Result<RecordedGraph> record_nodes(std::span<const DeviceAddress> addresses) const;
  [[nodiscard]] bool may_update(Step& step) const;
  [[nodiscard]] bool updated_to(const RecordedGraph& fresh);
  void is_at(std::span<const DeviceAddress> addresses) { addresses_.assign(addresses.begin(), addresses.end()); }
  WayEvent is_recorded(Step& step, StepDecision decision);

  const Api& api_;
  const CommandBufferOptions& options_;
  CommandTraces& traces_;
  TakenRows<WayTable>& taken_;
  std::vector<std::uint64_t> identities_;  // of the buffers, for the caches
  std::uint64_t versions_ = kNothing;      // how many versions traces have had
  Recording commands_;                     // traced commands are nodes that add their trace and name no buffer
  BufferIndex buffers_ = 0;                // how many the commands name, traced commands included
  const ReleaseQuirk* launched_by_ = nullptr;
  const ReleaseQuirk* unlaunchable_ = nullptr;
  std::vector<const ReleaseQuirk*> patch_quirks_;  // by buffer of commands_: the quirk of moving it
  Recording before_;  // the commands of exec_; kept only if updates are allowed and there are quirks
  std::vector<Traced> traced_;
  Traced* asking_ = nullptr;  // set by ask() while it asks the cache for this command's trace
  RecordedGraph recorded_;    // its node handles name the nodes of exec_
  hipGraphExec_t exec_ = nullptr;
  std::optional<GraphPatcher> patcher_;  // of exec_; destroyed before it
  AddressTable addresses_;               // of the buffers in exec_
  std::vector<Move> moves_;              // filled by compare(); kept, so that a step allocates nothing
  std::uint64_t set_calls_ = 0;          // since the graph was instantiated
  LastLaunch last_launch_;
};

}  // namespace hip
