// hip::CommandBuffer: the commands of one executable graph, launched step after step while their buffers move.
//
// At each step the buffer decides how its executable graph gets the present addresses of the buffers, and says why:
//
//   launch   nothing changed since the last step.
//   patch    buffers moved and every address is known: hip::GraphPatcher changes the graph in place, and traces of
//            traced commands are handed over as children.
//   update   set() gave other commands of the same shape, or a moved buffer belongs to an opaque command: the commands
//            are recorded into a fresh graph for hipGraphExecUpdate. Only where the options allow it.
//   record   all other cases: the first step, another shape, a patch or an update that failed. Recording again is
//            always right.
//
// Traced commands (hip/traced_command.h) are children of the graph. The buffer keeps their traces (hip/trace_cache.h).
// A step counts the traces that were ready (hit), patched or captured. It does not ask for a trace if no buffer of the
// command moved. A trace that does not fit in place of the present child is one more reason to record the graph.
//
// Collectives are traced commands, and every step asks for the trace of each: in the order of the commands, ranks agree
// to use their traces or all of them capture (C6). They agree once more when their graphs are ready. A rank that fails
// before that still comes to each round, so that its peers launch nothing and say so, and the next step of all of them
// can succeed; a rank that does not come is an error for all within the agreement's patience, never a deadlock. The
// caller ensures that a rank takes part with the same collectives in the same order at every step: ranks only count
// rounds. If a peer's launch fails after the agreement, the collective library decides how it ends on the other
// devices.
//
// With the quirks of the runtime's release (hip/release_quirks.h), the buffer takes no way that they affect: commands
// are flattened or chained when they are set, done by the host (hip/by_host.h; where the memory is known), and added by
// functions and kinds of copies that the release does rightly. Where the release does a setter, a hand-over or an
// update wrong, the graph is recorded; it is also recorded after so many calls of setters that the release has grown by
// them. The step names the quirk that made it record, or record otherwise.
//
//   known    with quirks, the work of a traced command that differential capture knows becomes nodes of the buffer's
//            own. They are flattened, chained, patched and held to the quirks like any other; no trace of it is kept.
//   opaque   other work of traced commands is taken to be done rightly by itself. If the release launches a graph with
//            such a child wrongly, the commands go into several executable graphs, launched one behind the other. Each
//            graph has a cache of its own for max_traces traces. set() starts new caches, and so do buffers that move
//            so that known commands may become other nodes.
//
// A step is for a stream that does not capture; hip/captured_launch.h is for a stream that does. If the release would
// launch at once, a step on a capturing stream is refused. A step returns hipErrorNotSupported where nothing helps, for
// memory that the graph allocates (each recording gets new addresses), and for a collective in a child graph that
// cannot be flattened (its ranks could not agree).
//
// Work that throws has failed like other work: the step ends, its rounds included, and the caller gets the exception.
//
// A failure on a faster way is counted by its reason and told to the error sink: the step succeeds when recording
// does. An error of recording or launching is returned, and the next step begins with recording (with several graphs,
// the failed ones). If one of several graphs could not be launched, the graphs before it have been launched: the next
// step launches them once more. A buffer without commands is a graph of one empty node: HIP does not document the
// instantiation of a graph without nodes.
// A step in which nothing changed makes one HIP call for the launch and one to note it (for each executable graph), and
// allocates nothing. On another stream than the last step's it comes behind that (hip/last_launch.h), which is one more
// call; where the release launches into captures, asking whether the stream captures is another.
//
// The states, and the tables of their transitions, are in hip/command_states.h; each transition is asserted to be one
// of the table. In short:
//
//   commands   Given becomes Ready when a step prepares them, and Given again by set() or on another footing of known
//              commands. When known commands failed twice in a row: GivenOpaque, which becomes ReadyOpaque. Commands of
//              which no step can be made are Unsupported until set().
//   graph      None and FailedFirst become Current by a step that brings it; Current becomes Outdated by other
//              commands, and Failed by a failure; a step that brings it makes each of them Current.
//   a step     Choose, Compare, Patch, HandOver, Ready; each of the first four can give way to Record. From there
//              Update, Ready; Record and Update can give way to Replace, and that leads to Ready. Failed is the other
//              end.
//
// The graph, or one of several, is a hip::CommandGraph (hip/command_graph.h), which takes a step's ways. The buffer
// prepares the commands, comes to the ranks' rounds, and launches. Data of a single step is in a CommandGraph::Step, on
// the stack of step().
//
// One thread at a time. Does not check that addresses hold memory, and that whoever changed a buffer's address has
// ordered that behind the steps before. Child graphs that hold traced commands are flattened.
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

  // The commands from the next step on.
  void set(Recording commands);
  // The buffer of this number is another one from now on, wherever it is: no trace of the one before is used for it.
  void forget(BufferIndex buffer);
  // Launches them with the buffers at `addresses`, which has every buffer that they name (asserted).
  [[nodiscard]] Result<CommandStep> step(std::span<const DeviceAddress> addresses, const StreamRef& stream);

  [[nodiscard]] const CommandBufferCounts& counts() const { return counts_; }
  // The graph that the executable one was instantiated from; null before the first step, and where there are several of
  // them. Stays this one's.
  [[nodiscard]] hipGraph_t graph() const { return whole_.graph(); }

 private:
  using Step = CommandGraph::Step;
  // Traced commands that became nodes, for buffers at these addresses.
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
  BufferIndex buffers_ = 0;            // that it names
  std::size_t collective_count_ = 0;   // of it
  const char* unsupported_ = nullptr;  // why no step can be made of it, if so
  std::vector<Inlined> inlined_;
  std::vector<Part> parts_;    // instead of whole_, one behind the other
  std::size_t last_part_ = 0;  // the one that was launched last
  CommandGraph whole_;         // without an executable graph while there are parts; goes before them
};

}  // namespace hip
