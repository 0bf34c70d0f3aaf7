// hip::AddressStabilizer: persistent device buffers, so that one recording is launched at every step although the
// caller's buffers move from step to step.
//
// A step names a command, the caller's buffers and the stream. The stabiliser keeps a persistent buffer for each of the
// caller's buffers, copies the inputs of the step in, launches the command on the persistent buffers, and copies the
// outputs back to the caller's buffers of this step. The caller sees no difference (S4):
//
//   uses      an input is copied in, an output copied back, and a kInOut buffer both. A donated buffer is copied in and
//             given up: it is not copied back, and after step() the caller may free it in stream order. An output that
//             the command does not write whole has to be kInOut, or its other bytes come back stale.
//   aliasing  overlapping buffers of a step share one persistent buffer at the same distances, whatever their uses: a
//             buffer that is given twice has one address; buffers that only touch do not share. A buffer alone, or
//             buffers that all begin at one address, begin where an allocation begins. Slices, which overlap and begin
//             at different addresses, keep the alignment of the caller's addresses modulo 256.
//   moving    the command is recorded at its first step, after a failed recording, and when its persistent addresses or
//             memory change: a buffer has outgrown its persistent buffer, other buffers overlap, or slices have another
//             alignment. If the alignment of slices modulo 256 changes at each step, each step records, which is right
//             and slow: the buffer that contains the slices should be aligned as allocations are. A command counts as
//             recorded only after recording has succeeded.
//   order     all work of a step goes to its stream, behind the command's earlier step, on whatever stream that was.
//             Streams are told apart by their handles: a stream has to outlive the work that a step gave to it. If the
//             stream of the earlier step has begun to capture, some releases refuse to let another stream wait for that
//             step's event. Where the host may wait instead, it does (ReleaseQuirks::of_follow_capturing).
//   devices   a persistent buffer is on the device of the caller's buffer. If that is not the stabiliser's device, a
//             step that replaces it waits for the stabiliser's device: hipFree does not wait for that device's work.
//   steady    a step in which nothing changed allocates nothing, neither from HIP nor from the host. Its own cost is
//             that of sorting its buffers by address, and logarithmic in the number of persistent buffers.
//   failure   is returned. Until the copies back begin, the caller's buffers are unchanged. The next step is right.
//   teardown  every persistent buffer is freed once; a failure to free is returned, or reported by the destructor, and
//             freeing is tried again.
//
// Threads: a step holds one lock from begin to end, also while the command is recorded and launched, so steps do not
// overlap; the command must not call the stabiliser.
//
// Not checked: that a command keeps to its stated uses, that it depends on nothing but addresses (StableWork::record),
// and buffers of concurrent steps. A buffer that lies in the stabiliser's own memory is refused. Streams that capture
// must not be used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "hip/api/api.h"
#include "hip/cached_allocator.h"
#include "hip/errors.h"
#include "hip/event.h"
#include "hip/stream.h"
#include "hip/sync/sync.h"

namespace hip {

enum class BufferUse : std::uint8_t { kIn, kOut, kInOut, kDonated };

// Device memory of the caller, at its address of this step. A buffer of 0 bytes needs no address.
struct StepBuffer {
  void* address = nullptr;
  std::size_t bytes = 0;
  BufferUse use = BufferUse::kIn;
  int device = 0;  // the device of the buffer's memory and of its persistent buffer
};

// The work that is launched on persistent buffers. Every step of a command passes the same object until the command is
// released.
class StableWork {
 public:
  virtual ~StableWork() = default;
  // Records the work for these addresses, one per buffer in the order of the step (null: 0 bytes). If the work depends
  // on anything else, such as the sizes of its buffers, each case needs a command number of its own: a step with other
  // sizes that fit launches the recording as it is. The last launch of the earlier recording may still run: an
  // implementation that destroys the earlier recording waits first (LastLaunch).
  [[nodiscard]] virtual Status record(std::span<void* const> addresses) = 0;
  // Launches the last recording on the stream. An exception goes to the caller of the step.
  [[nodiscard]] virtual Status launch(const StreamRef& stream) = 0;
};

struct AddressStabilizerOptions {
  int device = 0;
  // ReleaseQuirks::of_follow_capturing() of the runtime's release (hip/release_quirks.h); null: it is taken to be
  // right.
  const struct ReleaseQuirk* follow_capturing = nullptr;
  ErrorSink errors{};  // receives errors that cannot be returned, such as the destructor's
};

struct AddressStabilizerCounts {
  std::uint64_t steps = 0;       // steps that succeeded
  std::uint64_t recorded = 0;    // how often a command was recorded
  std::uint64_t bytes_in = 0;    // copied to persistent buffers
  std::uint64_t bytes_back = 0;  // copied back from persistent buffers
};

struct StableStep {
  bool recorded = false;  // the step recorded the command, for the first time or again
};

class AddressStabilizer {
 public:
  using Command = std::uint32_t;

  explicit AddressStabilizer(const Api& api, const AddressStabilizerOptions& options = {});
  AddressStabilizer(const AddressStabilizer&) = delete;
  AddressStabilizer& operator=(const AddressStabilizer&) = delete;
  // An error of clear() goes to the error sink; a failure is tried once more.
  ~AddressStabilizer();

  // The stream is of the stabiliser's device.
  [[nodiscard]] Result<StableStep> step(Command command, std::span<const StepBuffer> buffers, const StreamRef& stream,
                                        StableWork& work);
  // Frees the command's buffers, which waits for its work; its next step records. Tries every buffer and returns the
  // first error; clear() tries again to free the buffers that are left.
  Status release(Command command);
  Status clear();
  [[nodiscard]] AddressStabilizerCounts counts() const;

 private:
  // Buffers of a step that overlap, and the address of their persistent buffer.
  struct Region {
    std::uintptr_t begin = 0, end = 0;  // the caller's addresses
    std::uint32_t first = 0;            // the lowest index among its buffers; names its persistent buffer
    int device = 0;
    bool slices = false;  // its buffers do not all begin where it does
    std::uintptr_t stable = 0;
  };
  struct Entry {
    // Scratch of one step; kept, so that a step allocates nothing.
    std::vector<std::uint32_t> order;  // the buffers that have bytes, by address
    std::vector<std::size_t> region;   // of each buffer
    std::vector<Region> regions;
    std::vector<void*> addresses;
    // From step to step.
    std::vector<void*> recorded_for;
    bool recorded = false;
    std::uint32_t names = 0;        // the names of the persistent buffers have indices below this
    std::optional<Event> done;      // recorded behind the last step
    std::optional<StreamRef> last;  // its stream
    bool unmarked = false;          // a step may be in flight behind which `done` is not recorded
  };
  struct State {
    std::map<Command, Entry> commands;
    AddressStabilizerCounts counts;
  };
  enum class Way : std::uint8_t { kIn, kBack };

  [[nodiscard]] static CachedAllocator::Name name(Command command, std::uint32_t index) {
    return CachedAllocator::Name{command} << 32 | index;
  }
  [[nodiscard]] Status check(std::span<const StepBuffer> buffers) const;
  static void lay_out(Entry& entry, std::span<const StepBuffer> buffers);
  [[nodiscard]] Status place(Command command, Entry& entry, std::span<const StepBuffer> buffers);
  [[nodiscard]] Status order_behind(Entry& entry, const StreamRef& stream) const;
  [[nodiscard]] Result<std::uint64_t> copy(const Entry& entry, std::span<const StepBuffer> buffers, Way way,
                                           const StreamRef& stream) const;
  [[nodiscard]] Status enqueue(Entry& entry, std::span<const StepBuffer> buffers, const StreamRef& stream,
                               StableWork& work, AddressStabilizerCounts& counts) const;
  [[nodiscard]] Status mark(Entry& entry, const StreamRef& stream) const;
  [[nodiscard]] Status give_back(Command command, Entry& entry);

  const Api& api_;
  const AddressStabilizerOptions options_;
  CachedAllocator& memory_of(int device);

  std::map<int, CachedAllocator> memory_;  // by device; guarded by mutex_
  mutable sync::Mutex mutex_;
  sync::Cell<State> state_;  // guarded by mutex_
};

}  // namespace hip
