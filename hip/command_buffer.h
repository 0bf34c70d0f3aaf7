// hip::CommandBuffer: the commands of one executable graph, launched step after step while their buffers move.
//
// At each step the buffer decides how its executable graph gets to where the buffers are, and says why:
//
//   launch   nothing changed since the last step.
//   patch    buffers moved and every address is known: hip::GraphPatcher changes the graph in place.
//   update   the commands are others of the same shape, or a moved buffer is one of an opaque command: recorded into a
//            fresh graph that hipGraphExecUpdate brings over. Only where the options allow it.
//   record   anything else, and whatever could not be done: the first step, another shape, a patch or an update that
//            failed. Recording again is always right.
//
// What went wrong on a faster way is counted by its reason and told to the error sink: the step succeeds when recording
// does. An error of recording or launching is the answer; then the next step begins with recording. A buffer without
// commands is a graph of one empty node: HIP does not document what a graph without nodes does when it is instantiated.
// A step in which nothing changed makes one HIP call for the launch and one to note it, and allocates nothing.
//
// One thread at a time. Does not check that addresses hold memory, and that whoever changed a buffer's address has
// ordered that behind the steps before.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hip/api/api.h"
#include "hip/errors.h"
#include "hip/event.h"
#include "hip/graph_patcher.h"
#include "hip/recording.h"
#include "hip/stream.h"

namespace hip {

enum class StepDecision : std::uint8_t { kLaunch, kPatch, kUpdate, kRecord };
enum class StepReason : std::uint8_t {
  kUnchanged,       // launched
  kMoved,           // patched
  kFirst,           // recorded: there was nothing
  kOtherCommands,   // updated or recorded: set() was called
  kOpaque,          // updated or recorded: nobody can say where a moved buffer's address is
  kPatchingIsOff,   // updated or recorded: the options say so
  kPatchFailed,     // updated or recorded: and the patch said why
  kUpdateRefused,   // recorded: the runtime does not update to what it is now
  kEarlierFailure,  // recorded: the step before failed
};
inline constexpr std::size_t kStepDecisions = 4, kStepReasons = 9;

struct CommandBufferOptions {
  int device = 0;
  bool patch = true;
  bool flatten = false;  // child graphs become nodes of the buffer's own (hip/flatten.h), where they can
  bool update = false;   // releases of AMD's runtime leave something as it was and say nothing (docs/quirks.md)
  ErrorSink errors{};    // what no step could answer
};

struct CommandStep {
  StepDecision decision = StepDecision::kLaunch;
  StepReason reason = StepReason::kUnchanged;
  PatchReport patched{};  // of a patch
};

// How often each was what a step came to.
struct CommandBufferCounts {
  std::array<std::uint64_t, kStepDecisions> decisions{};
  std::array<std::uint64_t, kStepReasons> reasons{};
  std::uint64_t failed = 0;
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
  // Launches them with the buffers at `addresses`, which has every buffer that they name (asserted).
  [[nodiscard]] Result<CommandStep> step(std::span<const DeviceAddress> addresses, const StreamRef& stream);

  [[nodiscard]] const CommandBufferCounts& counts() const { return counts_; }
  // What the executable graph was instantiated from; null before the first step. Stays this one's.
  [[nodiscard]] hipGraph_t graph() const { return recorded_.graph; }

 private:
  [[nodiscard]] Result<CommandStep> bring(std::span<const DeviceAddress> addresses);
  [[nodiscard]] Result<CommandStep> patch(std::span<const DeviceAddress> addresses);
  [[nodiscard]] Result<CommandStep> record(std::span<const DeviceAddress> addresses, StepReason reason);
  [[nodiscard]] bool update(const RecordedGraph& fresh, std::span<const DeviceAddress> addresses);
  [[nodiscard]] Status launch(const StreamRef& stream);
  [[nodiscard]] Status wait();
  [[nodiscard]] Status drop();

  const Api& api_;
  const CommandBufferOptions options_;
  Recording commands_;
  RecordedGraph recorded_;  // its nodes name those of exec_
  hipGraphExec_t exec_ = nullptr;
  std::optional<GraphPatcher> patcher_;  // of exec_; goes before it
  AddressTable addresses_;               // where exec_ has the buffers
  std::vector<Move> moves_;              // of this step; kept, so that a step allocates nothing
  bool other_commands_ = false, broken_ = false;
  std::optional<Event> done_;  // behind the last launch
  bool unmarked_ = false;      // a launch is in flight that `done_` does not stand behind
  CommandBufferCounts counts_;
};

}  // namespace hip
