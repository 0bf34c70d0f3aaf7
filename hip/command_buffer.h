// hip::CommandBuffer: the commands of one executable graph, launched step after step while their buffers move.
//
// At each step the buffer decides how its executable graph gets to where the buffers are, and says why:
//
//   launch   nothing changed since the last step.
//   patch    buffers moved and every address is known: hip::GraphPatcher changes the graph in place, and traces of
//            traced commands are handed over as children.
//   update   the commands are others of the same shape, or a moved buffer is one of an opaque command: recorded into a
//            fresh graph that hipGraphExecUpdate brings over. Only where the options allow it.
//   record   anything else, and whatever could not be done: the first step, another shape, a patch or an update that
//            failed. Recording again is always right.
//
// Traced commands (hip/traced_command.h) are children of the graph. The buffer keeps their traces (hip/trace_cache.h):
// a step says how many were as they had to be (hit), brought there (patched) or captured. What has not moved is not
// asked about. A trace that does not fit in place of the child that is there is one more reason to record the graph.
//
// Collectives are traced commands, and every step asks about each: in the order of the commands, ranks agree to use
// their traces or all of them capture (C6). They agree once more when their graphs are ready. A rank that fails before
// that still comes to each round, so that its peers launch nothing and say so, and the next step of all of them can
// succeed; a rank that does not come is an error for all within the agreement's patience, never a deadlock. A rank
// takes part with the same collectives in the same order at every step, which is the caller's to see to: it is counted
// rounds that keep ranks together. What a device does whose peer's launch fails afterwards is the collective library's
// matter.
//
// Given the quirks of the runtime's release (hip/release_quirks.h), no way is taken that they touch: commands are
// flattened or chained when they are set, done by the host (hip/by_host.h; where the memory is known), and added by
// functions and kinds of copies that the release does rightly; what a setter, a hand-over or an update would do wrong
// is recorded, and so is a graph that was set so often that the release has grown by it. The step says which quirk it
// was that made it record, or record otherwise.
//
//   known    what a library enqueues, and differential capture knows, becomes nodes of the buffer's own then, which are
//            flattened, chained, patched and held to the release's quirks like any other; no trace of it is kept.
//   opaque   what nobody can look into is taken to be done rightly by itself. Where the release launches a graph with
//            such a child wrongly, the commands go into several executable graphs, launched one behind the other. Each
//            has traces of its own, of which max_traces holds; set() and another footing of what is known begin them
//            anew.
//
// A step is for a stream that does not capture: hip/captured_launch.h is for one that does; where the release would
// launch at once, such a step is refused. Where nothing helps, a step is hipErrorNotSupported, and so it is for memory
// that the graph allocates (its addresses are others with every recording), and for a collective in a child graph that
// cannot be flattened (its ranks could not agree).
//
// Work that throws has failed like any other: its exception is the caller's when the step is over, rounds and all.
//
// What went wrong on a faster way is counted by its reason and told to the error sink: the step succeeds when recording
// does. An error of recording or launching is the answer; then the next step begins with recording (of several
// graphs those that failed). Of these the ones before the one that could not be launched have been: the next step
// launches them once more. A buffer without
// commands is a graph of one empty node: HIP does not document what a graph without nodes does when it is instantiated.
// A step in which nothing changed makes one HIP call for the launch and one to note it (for each executable graph), and
// allocates nothing. On another stream than the last step's it comes behind that (hip/last_launch.h), which is one more
// call; where the release launches into captures, asking whether the stream captures is another.
//
// One thread at a time. Does not check that addresses hold memory, and that whoever changed a buffer's address has
// ordered that behind the steps before. Child graphs that hold traced commands are flattened.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hip/api/api.h"
#include "hip/device_scope.h"
#include "hip/errors.h"
#include "hip/graph_patcher.h"
#include "hip/last_launch.h"
#include "hip/rank_agreement.h"
#include "hip/recording.h"
#include "hip/release_quirks.h"
#include "hip/stream.h"
#include "hip/traced_command.h"

namespace hip {

enum class StepDecision : std::uint8_t { kLaunch, kPatch, kUpdate, kRecord };
enum class StepReason : std::uint8_t {
  kUnchanged,       // launched
  kMoved,           // patched
  kTraces,          // patched: no buffer moved, but a trace is another one (a peer had none, or a buffer was forgotten)
  kFirst,           // recorded: there was nothing
  kOtherCommands,   // updated or recorded: set() was called
  kOpaque,          // updated or recorded: nobody can say where a moved buffer's address is
  kPatchingIsOff,   // updated or recorded: the options say so
  kPatchFailed,     // updated or recorded: and the patch said why
  kTraceRefused,    // recorded: a trace did not fit in the place of the one before
  kQuirk,           // recorded: the runtime's release would do the faster way wrong
  kRenewed,         // recorded: the graph was set so often that the release has grown by it
  kUpdateRefused,   // recorded: the runtime does not update to what it is now
  kEarlierFailure,  // recorded: the step before failed
};
inline constexpr std::size_t kStepDecisions = 4, kStepReasons = 13;

struct CommandBufferOptions {
  int device = 0;
  // Some memory, node or stream is not of that device; each node names its device then, 0 as well. Nothing else tells
  // the buffer so: where it is true and not said, quirks of several devices are met.
  bool several_devices = false;
  bool patch = true;
  bool flatten = false;  // child graphs become nodes of the buffer's own (hip/flatten.h), where they can
  bool update = false;   // releases of AMD's runtime leave something as it was and say nothing (docs/quirks.md)
  // Of traced commands, and as many of collectives; at least 1. As many as the commands have are kept in any case.
  std::size_t max_traces = 64;
  std::uint64_t renew_after = 16384;  // calls of setters and nodes updated, where the release grows by them
  RankAgreement* ranks = nullptr;  // of this rank with its peers, for collectives; outlives the buffer. None: no peers
  ReleaseQuirks quirks{};          // of the runtime's release; none: it is taken to be right
  // Of the buffers, as far as quirks depend on it; none: not known. A buffer's number keeps its kind until set(), also
  // behind forget().
  std::function<BufferMemory(BufferIndex)> memory{};
  ErrorSink errors{};  // what no step could answer
};

// What became of the traces of traced commands.
struct TraceUse {
  std::uint64_t hits = 0, patched = 0, captured = 0;  // of those that were asked about
  std::uint64_t overruled = 0;                        // captured only because a peer had to
  std::uint64_t handed_over = 0;                      // children replaced in place
};

struct CommandStep {
  StepDecision decision = StepDecision::kLaunch;
  StepReason reason = StepReason::kUnchanged;
  PatchReport patched{};  // of a patch
  TraceUse traces{};
  const ReleaseQuirk* quirk = nullptr;  // that made it be recorded, or otherwise than it was set
};

// How often each was what a step came to.
struct CommandBufferCounts {
  std::array<std::uint64_t, kStepDecisions> decisions{};
  std::array<std::uint64_t, kStepReasons> reasons{};
  std::uint64_t failed = 0;
  TraceUse traces{};
};

class CommandBuffer {
 public:
  explicit CommandBuffer(const Api& api, const CommandBufferOptions& options = {});
  CommandBuffer(const CommandBuffer&) = delete;
  CommandBuffer& operator=(const CommandBuffer&) = delete;
  // Waits for the last step. What fails is tried again and told to the error sink.
  ~CommandBuffer();

  // The commands from the next step on.
  void set(Recording commands);
  // The buffer of this number is another one from now on, wherever it is: no trace of the one before is used for it.
  void forget(BufferIndex buffer);
  // Launches them with the buffers at `addresses`, which has every buffer that they name (asserted).
  [[nodiscard]] Result<CommandStep> step(std::span<const DeviceAddress> addresses, const StreamRef& stream);

  [[nodiscard]] const CommandBufferCounts& counts() const { return counts_; }
  // What the executable graph was instantiated from; null before the first step, and where there are several of them.
  // Stays this one's.
  [[nodiscard]] hipGraph_t graph() const { return recorded_.graph; }

 private:
  // A traced command: a node of commands_ whose record puts `graph` there.
  struct Traced {
    NodeIndex node = 0;
    std::shared_ptr<const TracedWork> work;
    std::optional<RecordedNode> known{};   // what differential capture made of it
    std::vector<TraceBuffer> buffers{};    // as the last step named them
    bool asked = false;                    // in this step
    std::shared_ptr<TracedGraph> graph{};  // of this step, once asked; null: it enqueues nothing
    std::uint64_t version = 0;             // of what `graph` holds; kNothing where it is null
    std::uint64_t held = 0;                // the version that exec_ has
  };
  static constexpr std::uint64_t kNothing = 0;
  class KeptTrace;

  // Commands of a traced one's that became nodes, for buffers at these addresses.
  struct Inlined {
    std::shared_ptr<const TracedWork> work;
    AddressTable at;
  };

  [[nodiscard]] QuirkContext quirk_context() const { return {options_.memory, {}, options_.several_devices}; }
  [[nodiscard]] Result<DeviceScope> nodes_device() const;
  [[nodiscard]] Status prepare(std::span<const DeviceAddress> addresses);
  [[nodiscard]] Status look_into_traced(std::span<const DeviceAddress> addresses, Recording& commands);
  void make_launchable();
  void split();
  void take_traced();
  [[nodiscard]] Result<CommandStep> get_ready(std::span<const DeviceAddress> addresses, Status status);
  [[nodiscard]] Result<CommandStep> get_parts_ready(std::span<const DeviceAddress> addresses, Status status);
  [[nodiscard]] Status launch(const StreamRef& stream);
  void finish();
  template <class Body>
  [[nodiscard]] auto caught(const Body& body) -> decltype(body());
  [[nodiscard]] bool stands_otherwise(std::span<const DeviceAddress> addresses) const;
  [[nodiscard]] Result<CommandStep> bring(std::span<const DeviceAddress> addresses);
  [[nodiscard]] Result<CommandStep> patch(std::span<const DeviceAddress> addresses);
  [[nodiscard]] std::optional<StepReason> patch_nodes(PatchReport& report);
  [[nodiscard]] const ReleaseQuirk* quirk_of_patch() const;
  [[nodiscard]] const ReleaseQuirk* grown_by() const;
  [[nodiscard]] bool hand_over();
  [[nodiscard]] Result<CommandStep> record(std::span<const DeviceAddress> addresses, StepReason reason,
                                           const ReleaseQuirk* quirk = nullptr);
  [[nodiscard]] Result<RecordedGraph> record_nodes(std::span<const DeviceAddress> addresses) const;
  [[nodiscard]] bool update(const RecordedGraph& fresh);
  [[nodiscard]] Status replace(RecordedGraph fresh);
  void is_now(std::span<const DeviceAddress> addresses);
  [[nodiscard]] bool moved(const Traced& traced, std::span<const DeviceAddress> addresses) const;
  [[nodiscard]] Result<std::unique_ptr<Trace>> capture(std::span<const DeviceAddress> addresses);
  [[nodiscard]] Status ask(Traced& traced, std::span<const DeviceAddress> addresses);
  [[nodiscard]] Status ask_collectives(std::span<const DeviceAddress> addresses, Status status);
  [[nodiscard]] Status agree_to_launch(Status status);
  [[nodiscard]] Status drop();
  void count(const CommandStep& step);

  const Api& api_;
  const CommandBufferOptions options_;
  TraceCache traces_, collectives_;
  std::vector<std::uint64_t> identities_;  // of the buffers, for the caches
  std::uint64_t versions_ = kNothing;      // that traces have had
  Recording given_;                        // as it was set
  std::size_t collective_count_ = 0;       // of the commands
  bool prepared_ = false;                  // what follows is that of `given_`
  bool looks_into_ = true;                 // known traced commands become nodes
  const char* unsupported_ = nullptr;      // why no step can be made of these commands
  std::vector<Inlined> inlined_;
  std::vector<std::unique_ptr<CommandBuffer>> parts_;  // instead of a graph of its own, one behind the other
  std::size_t last_part_ = 0;                          // the one that was launched last
  Recording commands_;                                 // traced commands put their graph there and name no buffer
  BufferIndex buffers_ = 0;                            // that the commands name, traced ones too
  const ReleaseQuirk* launched_by_ = nullptr;          // the quirk for which commands_ are flattened or chained
  const ReleaseQuirk* unlaunchable_ = nullptr;         // the one that is left
  std::vector<const ReleaseQuirk*> patch_quirks_;      // of moving each buffer of commands_
  Recording before_;  // what exec_ was recorded from or updated to, where updates are asked about
  std::vector<Traced> traced_;
  Traced* asking_ = nullptr;   // the one whose trace the cache is asked for
  TraceUse use_;               // of this step
  std::exception_ptr thrown_;  // by a command's work in this step
  RecordedGraph recorded_;     // its nodes name those of exec_
  hipGraphExec_t exec_ = nullptr;
  std::optional<GraphPatcher> patcher_;  // of exec_; goes before it
  AddressTable addresses_;               // where exec_ has the buffers
  std::vector<Move> moves_;              // of this step; kept, so that a step allocates nothing
  bool other_commands_ = false, broken_ = false, stepped_ = false;
  bool unrecorded_ = false;      // in this step, as nodes of the release's
  std::uint64_t set_calls_ = 0;  // since the graph was instantiated
  LastLaunch last_launch_;
  CommandBufferCounts counts_;
};

}  // namespace hip
