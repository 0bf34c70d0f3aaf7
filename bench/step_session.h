// bench::StepSession: one way of running a step after step while its buffers move, over the project's own systems.
//
//   eager         no graph: every command is enqueued on the stream.
//   record        all commands captured again as one graph, instantiated, the old executable graph destroyed.
//   record_nodes  the same, but built from recorded nodes, without a capture (hip/command_buffer, patching off).
//   update        all commands captured again; hipGraphExecUpdate brings the executable graph over.
//   retrace       a child graph a command, in graphs of at most kMaxChildren; the commands that hold a moved buffer are
//                 captured again and handed over by hipGraphExecChildGraphNodeSetParams.
//   patch         one executable graph, its addresses found by differential capture (hip/command_buffer).
//   careful       the same by a command buffer that knows the quirks of the release (hip/release_quirks.h): it checks
//                 each patch against them, and records again where setters have grown the release's memory. The model
//                 has no quirks; there the buffer applies the quirks of the release that the model reports.
//   capture       runs of other commands patched; each run of collectives, whose addresses are unknown, is captured
//                 again, instantiated and launched.
//   cache         the same, but runs of collectives come from a hip/trace_cache.
//   stabilise     inputs copied to buffers that stay, one launch, outputs copied back (hip/address_stabilizer).
//   remap         recorded for addresses that stay, in two sets; the memory of each buffer that moved is mapped there
//                 before the launch (hip/remapped_buffers). Needs a bed whose places are mapped.
//
// kMaxChildren: AMD's release 7.2 crashes when it launches a graph of 16 nodes of which one is a child (docs/quirks.md,
// child-16).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/step_bed.h"
#include "hip/remapped_buffers.h"

namespace bench {

enum class StepWay : std::uint8_t {
  kEager,
  kRecord,
  kRecordNodes,
  kUpdate,
  kRetrace,
  kPatch,
  kCareful,
  kCapture,
  kCache,
  kStabilise,
  kRemap
};
inline constexpr StepWay kStepWays[] = {StepWay::kEager,     StepWay::kRecord,  StepWay::kRecordNodes,
                                        StepWay::kUpdate,    StepWay::kRetrace, StepWay::kPatch,
                                        StepWay::kCareful,   StepWay::kCapture, StepWay::kCache,
                                        StepWay::kStabilise, StepWay::kRemap};
[[nodiscard]] std::string_view name_of(StepWay way);
// Whether the way needs a bed whose places are mapped.
[[nodiscard]] inline bool needs_mapped(StepWay way) {
  return way == StepWay::kRemap;
}

inline constexpr std::size_t kMaxChildren = 15;
// After so many steps every way has had each recording of its own at both places.
inline constexpr std::size_t kStepsOfATurn = 2 * hip::RemappedBuffers::kSets;

struct StepOptions {
  StepWay way = StepWay::kPatch;
  // Microseconds of this thread's time that each capture of a collective costs on top of its real nodes. Where it is
  // not 0, figures are synthetic: it stands for a collective library's set-up, which cannot be had here.
  std::uint32_t collective_capture_us = 0;
};

class StepSession {
 public:
  // Calls HIP through `api`: the bed's table or one around it. Both outlive the session. Does the one-time set-up.
  [[nodiscard]] static hip::Result<std::unique_ptr<StepSession>> make(const StepOptions& options, StepBed& bed,
                                                                      const hip::Api& api);
  virtual ~StepSession() = default;

  // Enqueues a step with the buffers at `addresses`, one of the bed's tables; the device is idle.
  [[nodiscard]] virtual hip::Status step(const hip::AddressTable& addresses) = 0;
  // Whether the buffers are moved away at the n-th step, from 0: chosen so that every step finds its moving buffers at
  // another place than its recording last did.
  [[nodiscard]] virtual bool away_at(std::size_t n) const { return n % 2 != 0; }
  // Device memory that steps have copied beside their commands' work.
  [[nodiscard]] virtual std::uint64_t bytes_copied() const { return 0; }
  // Whether a step leaves the same bytes in every buffer as the other ways, or only in the outwardly visible buffers.
  [[nodiscard]] virtual bool keeps_temporaries() const { return true; }
};

// Success when two steps, one with the buffers moved and one without, leave the same bytes as the commands without a
// graph; else the error. Steps are launched for real.
[[nodiscard]] hip::Status check_steps(const StepOptions& options, StepBed& bed);

// The counts of one step in the steady state.
struct StepCounts {
  std::uint64_t calls = 0;         // of HIP
  std::uint64_t setters = 0;       // calls that set something in an executable graph
  std::uint64_t launches = 0;      // of graphs
  std::uint64_t allocations = 0;   // of operator new, outside of the runtime
  std::uint64_t bytes_copied = 0;  // as StepSession has it
};
[[nodiscard]] hip::Result<StepCounts> count_step(const StepOptions& options, StepBed& bed);

}  // namespace bench
