// hip::CommandGraph: one executable graph of a hip::CommandBuffer, with the traces of its traced commands.
//
// The buffer gives it prepared commands, and asks it at each step to bring the executable graph to where the buffers
// are. It takes the ways of hip/command_states.h (WayTable): one loop does the action of the way that it is on, and the
// table says which way comes next. Data of a single step is in a Step, on the stack of its caller, or in `Traced::now`,
// which finish() resets.
//
// Does not launch by itself, and does not know whether the step before failed: the buffer says so.
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
  const ReleaseQuirk* unlaunchable = nullptr;  // the quirk that is left: no step can be made of them
};

void add(TraceUse& sum, const TraceUse& use);
[[nodiscard]] QuirkContext quirk_context(const CommandBufferOptions& options);

// The traces of one graph's commands. They go after the graph.
struct CommandTraces {
  explicit CommandTraces(const CommandBufferOptions& options);
  TraceCache traces, collectives;
};

class CommandGraph {
 public:
  // Data of one step of one graph.
  struct Step {
    std::span<const DeviceAddress> addresses;
    GraphState begins = GraphState::kNone;  // before the step
    CommandStep answer{};                   // as far as it is known
    TraceUse use{};
    Status error{};                        // of Way::kFailed
    bool unrecorded = false;               // the commands could not be recorded
    std::optional<RecordedGraph> fresh{};  // between Way::kRecord and the way behind it
    std::exception_ptr thrown{};           // by a command's work

    // An exception of a command's work is an error of the step until that is over: peers count its rounds, and nothing
    // of it may be taken for the next one's.
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

  // All outlive it.
  CommandGraph(const Api& api, const CommandBufferOptions& options, CommandTraces& traces, TakenRows<WayTable>& taken);
  CommandGraph(const CommandGraph&) = delete;
  CommandGraph& operator=(const CommandGraph&) = delete;
  // Waits for the last launch. Failures are told to the error sink.
  ~CommandGraph();

  // As many buffers are named from now on, and traces kept at least.
  void expect(BufferIndex buffers, std::size_t traced, std::size_t collectives);
  // The commands from the next step on.
  void take(LaunchableCommands commands);
  void forget(BufferIndex buffer);
  // Brings the executable graph to where the buffers are. Comes to one round for each collective, whatever `status` is.
  [[nodiscard]] Result<CommandStep> get_ready(Step& step, Status status);
  [[nodiscard]] Status launch(const StreamRef& stream) { return last_launch_.launch(exec_, stream); }
  [[nodiscard]] Status follow(const StreamRef& stream) { return last_launch_.follow(stream); }
  // The step is over.
  void finish();
  // Waits for the last launch, and destroys the executable graph.
  [[nodiscard]] Status drop();

  // The graph that the executable one was instantiated from, or null.
  [[nodiscard]] hipGraph_t graph() const { return recorded_.graph; }
  [[nodiscard]] const ReleaseQuirk* launched_by() const { return launched_by_; }

 private:
  static constexpr std::uint64_t kNothing = 0;
  // A traced command: the node of commands_ that adds the trace of the step to the graph.
  struct Traced {
    NodeIndex node = 0;
    std::shared_ptr<const TracedWork> work;
    std::optional<RecordedNode> known{};  // made of it by differential capture
    std::vector<TraceBuffer> buffers{};   // as the last step named them
    std::uint64_t held = 0;               // the version that exec_ has
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
  std::uint64_t versions_ = kNothing;      // that traces have had
  Recording commands_;                     // traced commands put their graph there and name no buffer
  BufferIndex buffers_ = 0;                // that the commands name, traced ones too
  const ReleaseQuirk* launched_by_ = nullptr;
  const ReleaseQuirk* unlaunchable_ = nullptr;
  std::vector<const ReleaseQuirk*> patch_quirks_;  // of moving each buffer of commands_
  Recording before_;  // exec_ was recorded from it or updated to it; kept where updates are asked about
  std::vector<Traced> traced_;
  Traced* asking_ = nullptr;  // by ask(), while the cache is asked for the trace of it
  RecordedGraph recorded_;    // its node handles name the nodes of exec_
  hipGraphExec_t exec_ = nullptr;
  std::optional<GraphPatcher> patcher_;  // of exec_; goes before it
  AddressTable addresses_;               // where exec_ has the buffers
  std::vector<Move> moves_;              // filled by compare(); kept, so that a step allocates nothing
  std::uint64_t set_calls_ = 0;          // since the graph was instantiated
  LastLaunch last_launch_;
};

}  // namespace hip
