// Plain data of hip::CommandBuffer (hip/command_buffer.h): its options, the answer to a step, and its counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "hip/command_states.h"
#include "hip/errors.h"
#include "hip/graph_patcher.h"
#include "hip/rank_agreement.h"
#include "hip/release_quirks.h"

namespace hip {

enum class StepDecision : std::uint8_t { kLaunch, kPatch, kUpdate, kRecord };
enum class StepReason : std::uint8_t {
  kUnchanged,       // launched
  kMoved,           // patched
  kTraces,          // patched: no buffer moved, but a trace is another one (a peer had none, or a buffer was forgotten)
  kFirst,           // recorded: there was no executable graph
  kOtherCommands,   // updated or recorded: set() was called, or known commands may have become other nodes
  kOpaque,          // updated or recorded: it is unknown where the graph has a moved buffer's address
  kPatchingIsOff,   // updated or recorded: the options say so
  kPatchFailed,     // updated or recorded: the patch failed; the error sink got its error
  kTraceRefused,    // recorded: a trace could not replace the trace before it as a child
  kQuirk,           // recorded: the runtime's release would do the faster way wrong
  kRenewed,         // recorded: so many setter calls have made the release's memory grow
  kUpdateRefused,   // recorded: the executable graph could not be updated to the present commands
  kEarlierFailure,  // recorded: the step before failed
};
inline constexpr std::size_t kStepDecisions = 4, kStepReasons = 13;

struct CommandBufferOptions {
  int device = 0;
  // Whether some memory, node or stream is of another device; each node then names its device, also device 0. The
  // command buffer cannot find this out: if it is true and not set, the quirks of several devices are not avoided.
  bool several_devices = false;
  bool patch = true;
  bool flatten = false;  // child graphs become nodes of the command buffer (hip/flatten.h), where possible
  bool update = false;   // updates of AMD's releases leave some values as they were, without an error (docs/quirks.md)
  // How many traces of traced commands, and how many of collectives, are kept; at least 1. A trace for each command of
  // the buffer is kept in any case.
  std::size_t max_traces = 64;
  std::uint64_t renew_after = 16384;  // setter calls and updated nodes, where they make the release's memory grow
  RankAgreement* ranks = nullptr;  // of this rank with its peers, for collectives; outlives the buffer. Null: no peers
  ReleaseQuirks quirks{};          // of the runtime's release; empty: it is assumed to have none
  // The kind of memory of each buffer, for quirks that depend on it; empty: unknown. The kind of a buffer index stays
  // the same until set(), also after forget().
  std::function<BufferMemory(BufferIndex)> memory{};
  ErrorSink errors{};  // receives errors that no step returns
};

// The use that was made of the traces of traced commands.
struct TraceUse {
  std::uint64_t hits = 0, patched = 0, captured = 0;  // of the traces that were asked for
  std::uint64_t overruled = 0;                        // captured only because a peer had to
  std::uint64_t handed_over = 0;                      // children replaced in place
};

struct CommandStep {
  StepDecision decision = StepDecision::kLaunch;
  StepReason reason = StepReason::kUnchanged;
  PatchReport patched{};  // of a patch
  TraceUse traces{};
  const ReleaseQuirk* quirk = nullptr;  // for which the graph was recorded, or has other nodes than were set
};

// Counts of steps by decision and by reason, of failed steps, of traces, and of transitions.
struct CommandBufferCounts {
  std::array<std::uint64_t, kStepDecisions> decisions{};
  std::array<std::uint64_t, kStepReasons> reasons{};
  std::uint64_t failed = 0;
  TraceUse traces{};
  CommandTransitions transitions{};
};

}  // namespace hip
