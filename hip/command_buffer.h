// hip::CommandBuffer: the commands of one executable graph, launched step after step while their buffers move.
//
// At each step the command buffer decides how its executable graph gets the buffers' current addresses, and says why:
//
//   launch   nothing changed since the last step.
//   patch    buffers moved and every address is known: hip::GraphPatcher changes the graph in place, and traces of
//            traced commands are handed over as children.
//   update   set() gave other commands of the same shape, or a moved buffer belongs to an opaque command: the commands
//            are recorded into a fresh graph for hipGraphExecUpdate. Only where the options allow it.
//   record   all other cases: the first step, another shape, a patch or an update that failed. Recording again is
//            always right.
//
// Traced commands (hip/traced_command.h) are children of the graph. The command buffer keeps their traces
// (hip/trace_cache.h). A step counts the traces that were ready (hit), patched or captured. It does not ask for a trace
// if no buffer of the command moved. If a trace cannot replace the present child graph, the graph is recorded.
//
// Collectives are traced commands, and every step asks for the trace of each: in the order of the commands, ranks agree
// to use their traces or all of them capture (C6). They agree once more when their graphs are ready. A rank that fails
// before that still comes to each round, so that its peers launch nothing and return an error, and the next step of all
// of them can succeed; a rank that does not come is an error for all within the agreement's patience, never a deadlock.
// The caller ensures that a rank takes part with the same collectives in the same order at every step: ranks only count
// rounds. If a peer's launch fails after the agreement, the collective library decides how it ends on the other
// devices.
//
// With the quirks of the runtime's release (hip/release_quirks.h), the command buffer avoids the operations that they
// affect: commands are flattened or chained when they are prepared, done by the host (hip/by_host.h; where the memory
// is known), and added by functions and kinds of copies that work on the release. If the release does a setter, a
// hand-over or an update wrong, the graph is recorded; so it is after many setter calls, where these make the release's
// memory grow. The step names the quirk for which it recorded, or recorded other nodes than were set.
//
//   known    with quirks, work of a traced command that differential capture knows becomes nodes of the command buffer.
//            They are flattened, chained, patched and held to the quirks like other nodes; no trace of it is kept.
//   opaque   other work of traced commands is assumed to run rightly by itself. If the release launches a graph with
//            such a child wrongly, the commands go into several executable graphs, launched one behind the other. Each
//            graph has a cache of its own for max_traces traces. New caches are started by set(), and when buffers move
//            so that known commands may become other nodes.
//
// A step is for a stream that does not capture; hip/captured_launch.h is for a stream that does. If the release would
// launch at once, a step on a capturing stream is refused. A step returns hipErrorNotSupported for commands that the
// release launches wrongly in every form, for memory that the graph allocates (each recording gets new addresses), and
// for a collective in a child graph that cannot be flattened (its ranks could not agree).
//
// Work that throws counts as failed: the step comes to its remaining rounds, and then the caller gets the exception.
//
// A failed patch or update is counted by its reason and told to the error sink; the step succeeds if recording does. An
// error of recording or launching is returned, and the next step begins with recording (with several graphs, it records
// the failed ones). If one of several graphs could not be launched, the graphs before it have been launched: the next
// step launches them once more. A command buffer without commands is a graph of one empty node: HIP does not document
// the instantiation of a graph without nodes.
// A step in which nothing changed makes one HIP call to launch and one to record an event behind the launch (for each
// executable graph), and allocates nothing. On another stream than the last step's, one more call puts it behind that
// step (hip/last_launch.h); where the release launches into captures, one asks whether the stream captures.
//
// The states, and the tables of their transitions, are in hip/command_states.h; each transition is asserted to be in
// its table. In short:
//
//   commands   Given becomes Ready when a step prepares them. They are Given again after set(), or when buffers moved
//              so that known commands may become other nodes. After known commands failed twice in a row they are
//              GivenOpaque, then ReadyOpaque. Commands that no step can launch are Unsupported until set().
//   graph      None and FailedFirst become Current by a step that succeeds; other commands make Current Outdated, and a
//              failure makes it Failed; a step that succeeds makes each of them Current.
//   a step     Choose, Compare, Patch, HandOver, Ready; each of the first four can give way to Record. Behind Record
//              come Update and Ready; Record and Update can give way to Replace, which leads to Ready. Failed is the
//              other end.
//
// Each executable graph belongs to a hip::CommandGraph (hip/command_graph.h), which brings it up to date at a step. The
// command buffer prepares the commands, comes to the ranks' rounds, and launches. Data of a single step is in a
// CommandGraph::Step, on the stack of step().
//
// One thread at a time. Not checked: that addresses hold memory, and that work which moved a buffer was ordered behind
// the earlier steps. Child graphs that hold traced commands are flattened.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hip/api/api.h"
#include "hip/command_graph.h"
#include "hip/command_states.h"
#include "hip/command_step.h"
#include "hip/recording.h"
#include "hip/stream.h"
#include "hip/traced_command.h"

namespace hip {

class CommandBuffer {
 public:
  explicit CommandBuffer(const Api& api, const CommandBufferOptions& options = {});
  CommandBuffer(const CommandBuffer&) = delete;
  CommandBuffer& operator=(const CommandBuffer&) = delete;
  // Waits for the last step. Failures are tried again and told to the error sink.
  ~CommandBuffer() = default;

  // Sets the commands for the next step and those after it.
  void set(Recording commands);
  // The index names a new buffer from now on, even at the same address: traces of the former buffer are not used for
  // it.
  void forget(BufferIndex buffer);
  // Launches the commands with the buffers at `addresses`, which has every buffer that the commands name (asserted).
  [[nodiscard]] Result<CommandStep> step(std::span<const DeviceAddress> addresses, const StreamRef& stream);

  [[nodiscard]] const CommandBufferCounts& counts() const { return counts_; }
  // The graph that the executable graph was instantiated from; null before the first step, and where there are several
  // executable graphs. The command buffer keeps ownership.
  [[nodiscard]] hipGraph_t graph() const { return whole_.graph(); }

 private:
  using Step = CommandGraph::Step;
  // A traced command that became nodes, with its buffers at these addresses.
  struct Inlined {
    std::shared_ptr<const TracedWork> work;
    AddressTable at;
  };
  struct Part {
    std::unique_ptr<CommandTraces> traces;
    std::unique_ptr<CommandGraph> graph;
    StateMachine<GraphTable> state{};
  };

  void take(CommandsEvent event) { commands_.take(event, counts_.transitions.commands); }
  void take(StateMachine<GraphTable>& state, GraphEvent event) { state.take(event, counts_.transitions.graphs); }
  [[nodiscard]] bool ready() const;
  [[nodiscard]] Status prepare(std::span<const DeviceAddress> addresses);
  [[nodiscard]] Status look_into_traced(std::span<const DeviceAddress> addresses, Recording& commands);
  [[nodiscard]] Result<RecordedNode> looked_into(const TracedWork& work, std::span<const DeviceAddress> addresses);
  [[nodiscard]] bool stands_otherwise(std::span<const DeviceAddress> addresses) const;
  void split(LaunchableCommands& commands);
  [[nodiscard]] Result<CommandStep> get_ready(Step& step, Status status);
  [[nodiscard]] Result<CommandStep> get_parts_ready(Step& step, Status status);
  void give_up_after(const Step& failed);
  [[nodiscard]] Status agree_to_launch(Status status);
  [[nodiscard]] Status launch(const StreamRef& stream);
  void finish();
  void count(const CommandStep& step);

  const Api& api_;
  const CommandBufferOptions options_;
  CommandBufferCounts counts_;
  CommandTraces traces_;  // of whole_
  StateMachine<CommandsTable> commands_;
  StateMachine<GraphTable> graph_;     // of whole_, or of all parts together
  Recording given_;                    // as it was set
  BufferIndex buffers_ = 0;            // the number of buffers that given_ names
  std::size_t collective_count_ = 0;   // in given_
  const char* unsupported_ = nullptr;  // why given_ cannot be launched; null if it can
  std::vector<Inlined> inlined_;
  std::vector<Part> parts_;    // instead of whole_, one behind the other
  std::size_t last_part_ = 0;  // the index of the part that was launched last
  CommandGraph whole_;         // has no executable graph while there are parts; destroyed before them
};

}  // namespace hip
