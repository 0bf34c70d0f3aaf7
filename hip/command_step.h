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
  kFirst,           // recorded: there was nothing
  kOtherCommands,   // updated or recorded: set() was called
  kOpaque,          // updated or recorded: nobody can say where a moved buffer's address is
  kPatchingIsOff,   // updated or recorded: the options say so
  kPatchFailed,     // updated or recorded: and the patch said why
  kTraceRefused,    // recorded: a trace did not fit in the place of the one before
  kQuirk,           // recorded: the runtime's release would do the faster way wrong
  kRenewed,         // recorded: the graph was set so often that the release has grown by it
  kUpdateRefused,   // recorded: the runtime does not update to the present commands
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
  // Traces of traced commands, and as many of collectives; at least 1. As many as the commands have are kept in any
  // case.
  std::size_t max_traces = 64;
  std::uint64_t renew_after = 16384;  // calls of setters and nodes updated, where the release grows by them
  RankAgreement* ranks = nullptr;  // of this rank with its peers, for collectives; outlives the buffer. None: no peers
  ReleaseQuirks quirks{};          // of the runtime's release; none: it is taken to be right
  // The memory of the buffers, as far as quirks depend on it; none: not known. A buffer's number keeps its kind until
  // set(), also behind forget().
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
  const ReleaseQuirk* quirk = nullptr;  // that made it be recorded, or otherwise than it was set
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
