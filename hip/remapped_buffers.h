// hip::RemappedBuffers: buffers with virtual addresses of their own, under which each step maps the physical memory
// that the caller's allocator chose, so that one recording is launched at every step and no byte is copied.
//
// A step names, for each buffer, its physical memory of this step, and the stream. The class maps the memory that
// changed, lets the caller record its graph for the addresses where that is due, and launches the recording.
//
//   sets      each buffer has two addresses, one in each of two sets; steps take the sets in turn, and the caller
//             records one executable graph for each set. A step changes mappings of its own set only. So it never
//             changes a mapping under the launch of the step before, which uses the other set.
//   waiting   HIP's calls that change mappings wait for nothing. A step therefore waits first until the set's earlier
//             launch, that of two steps ago, is over: by its event, and at most as long as `patience`. If the launch is
//             still running then, the step changes nothing and answers hipErrorNotReady. Two waits have no limit: that
//             of the destructor, and that for a launch on hipStreamPerThread behind which no event could be recorded.
//             Only the device can be waited for then.
//   order     all work of a step goes to its stream, behind the earlier step, on whatever stream that was: both may
//             use the same memory. Streams are told apart by their handles: a stream has to outlive the work that a
//             step gave to it.
//   sizes     a buffer's addresses cover its bytes, rounded up to the granularity. Memory is mapped whole and from its
//             first byte: releases refuse to map a part, some without an error (`checked`).
//   memory    belongs to the caller, and so does its handle. Two buffers may have the same memory, and so may both
//             sets. The caller gives each memory a number at hipMemCreate that it gives to no other memory. Handles
//             cannot tell memories apart: a new one may get the handle of one that was released. The caller
//             releases a handle only when holds() is false for the memory: a step maps the earlier memory again when
//             it fails, and some releases end the process if that was released. withdraw() gives a memory up.
//   access    all devices that the options name may read and write each buffer.
//   checked   a map that answered success counts only after hipMemGetAccess has told that every device has access:
//             AMD's 7.2 and 6.4 answer success for a map that they refused. No step relies on
//             hipMemRetainAllocationHandle, or unmaps a part of a mapping or two mappings at once.
//   ranks     of a collective may read and write each other's buffers. Their launches then depend on all ranks'
//             mappings. So each step comes to two rounds of the agreement: when this rank's launch of two steps ago is
//             over, before it changes a mapping; and when its memory is mapped and its work recorded, before it
//             launches. If one rank is not ready for the first round, no rank changes anything. If one is not ready for
//             the second, none launches, and the ranks that were ready put back what was mapped. They answer
//             hipErrorNotReady. Every rank takes the same steps in the same order. Not covered: a launch that fails on
//             one rank; withdraw(), clear() and the destructor, which wait for this rank alone; addresses of one rank
//             that change, by clear() or by a failure that replaced them, while recordings of its peers name them.
//   failure   is returned, and the next step is right. A step that cannot map its memory puts back what was mapped
//             before. Where that fails, too, the error says that recording again is due: the set's next step replaces
//             the addresses in question and calls record(). The former ones stay reserved until clear(): 7.2 confuses
//             a range that is reserved again with the earlier one. Memory that could not be unmapped stays mapped there
//             until clear() or withdraw().
//   teardown  gives every mapping and range back once (a range to `ranges`, where the options have them), behind the
//             work in flight; a failure is returned, or reported by the destructor, and is tried again. The destructor
//             waits for work in flight without a limit.
//
// Sources: HIP's header documentation, group Virtual; CUDA's documentation of the driver, Virtual Memory Management.
//
// Threads: a step holds one lock from begin to end, also while the work is recorded and launched, so steps do not
// overlap; the work must not call the class.
//
// Not checked: that the work uses no other addresses, that a handle is one of memory of the stated size, that numbers
// of memories are not given twice, and the use of memory by others. Streams that capture must not be used.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hip/address_ranges.h"
#include "hip/api/api.h"
#include "hip/errors.h"
#include "hip/event.h"
#include "hip/rank_agreement.h"
#include "hip/stream.h"
#include "hip/sync/sync.h"

namespace hip {

// A buffer of the graph. A buffer of 0 bytes has a null address and no memory.
struct RemappedBuffer {
  std::size_t bytes = 0;  // the graph uses so many
  // Memory of a step may have up to so many bytes; 0: as many as `bytes`, rounded up to the granularity.
  std::size_t most_bytes = 0;
};

// Physical memory, the caller's. None has 0 bytes.
struct PhysicalMemory {
  hipMemGenericAllocationHandle_t handle = nullptr;
  std::size_t bytes = 0;     // the size that hipMemCreate was given
  std::uint64_t number = 0;  // the caller's number for this memory and no other; any but 0
  bool operator==(const PhysicalMemory&) const = default;
};

// The work that is launched. Every step passes the same object.
class RemappedWork {
 public:
  virtual ~RemappedWork() = default;
  // Records the work of this set (0 or 1) for these addresses, one for each buffer (null: 0 bytes). The addresses are
  // mapped, and no launch of the set's earlier recording is in flight.
  [[nodiscard]] virtual Status record(std::size_t set, std::span<void* const> addresses) = 0;
  // Launches the set's last recording on the stream. An exception goes to the caller of the step.
  [[nodiscard]] virtual Status launch(std::size_t set, const StreamRef& stream) = 0;
};

struct RemappedBuffersOptions {
  int device = 0;              // of the streams
  std::vector<int> devices{};  // may access the buffers, all different; empty: `device` alone
  // Sizes and addresses are multiples of this granularity, the largest among the devices.
  hipMemAllocationGranularity_flags granularity = hipMemAllocationGranularityMinimum;
  std::chrono::milliseconds patience{10000};  // a step waits so long for the launch of two steps ago
  ErrorSink errors{};                         // receives errors that cannot be returned, such as the destructor's
  // This rank's with its peers, whose launches use the memory; outlives the object. Null: there are none. Its patience
  // has to be longer than `patience`, mapping and recording together: a rank that comes too late ends the agreement.
  RankAgreement* ranks = nullptr;
  // Reserves and frees the ranges, and outlives the object. Null: the runtime's release frees ranges rightly. On others
  // (ReleaseQuirks::of_free_addresses()) calls end in a crash without one.
  AddressRanges* ranges = nullptr;
};

struct RemappedBuffersCounts {
  std::uint64_t steps = 0;     // steps that succeeded
  std::uint64_t recorded = 0;  // how often a set was recorded
  std::uint64_t reserved = 0;  // ranges of addresses that were reserved, or taken from kept ones
  std::uint64_t maps = 0;      // mappings that were made and checked, those that a failed step put back among them
  std::uint64_t unmaps = 0;    // mappings that were taken away
  std::uint64_t accesses = 0;  // calls of hipMemSetAccess that succeeded
  std::uint64_t kept = 0;      // buffers whose memory a step found mapped already
  std::uint64_t waits = 0;     // waits of the host for a launch that was in flight
  std::uint64_t put_back = 0;  // steps that failed and put back what was mapped before
  std::uint64_t replaced = 0;  // ranges that could not be used any more and that other ranges replaced
};

struct RemappedStep {
  std::size_t set = 0;    // the addresses that the step used
  bool recorded = false;  // the step recorded the set, for the first time or again
};

class RemappedBuffers {
 public:
  static constexpr std::size_t kSets = 2;

  // Nothing is called before the first step. `api` outlives the object.
  RemappedBuffers(const Api& api, std::vector<RemappedBuffer> buffers, RemappedBuffersOptions options = {});
  RemappedBuffers(const RemappedBuffers&) = delete;
  RemappedBuffers& operator=(const RemappedBuffers&) = delete;
  // An error of clear() goes to the error sink; a failure is tried once more.
  ~RemappedBuffers();

  // The granularity of the sizes of memory, in bytes. hipErrorNotSupported: the runtime lacks a function.
  [[nodiscard]] Result<std::size_t> granularity();
  // One memory for each buffer; that of a buffer of 0 bytes is not looked at. The stream is of the options' device.
  // hipErrorInvalidValue: a memory has a size that does not fit. hipErrorNotReady: the launch of two steps ago runs, or
  // that of the step before, on another stream and without an event; nothing was changed.
  [[nodiscard]] Result<RemappedStep> step(std::span<const PhysicalMemory> memories, const StreamRef& stream,
                                          RemappedWork& work);
  // Whether the memory of that number is mapped, or may be.
  [[nodiscard]] bool holds(std::uint64_t number) const;
  // Unmaps the memory of that number everywhere, behind the launches of the sets that have it; waits as a step does.
  // All addresses stay reserved. If it fails, the memory is still held, and can be withdrawn again.
  Status withdraw(std::uint64_t number);
  // Unmaps all memory and frees all addresses; waits as a step does. The caller's graphs must not be launched any more:
  // the next steps reserve and record again. Tries everything and returns the first error; can be called again.
  Status clear();
  [[nodiscard]] RemappedBuffersCounts counts() const;

 private:
  // The words of an error: which launch, how things stand then, and what to do.
  struct StillRunning {
    const char* launch;
    const char* state;
    const char* remedy;
  };
  // A range of addresses, and the memory under it.
  struct Slot {
    void* reserved = nullptr;  // as hipMemAddressReserve returned it; null: none
    std::size_t reserved_bytes = 0;
    void* address = nullptr;  // a multiple of the granularity within the range
    PhysicalMemory memory;    // mapped at the address, or possibly mapped if `broken`
    bool broken = false;      // what is mapped there is unknown: the set's next step replaces the range
    bool refused = false;     // it was to be given back, and could not be unmapped
  };
  struct Set {
    std::vector<Slot> slots;  // of each buffer
    std::vector<void*> addresses;
    std::vector<PhysicalMemory> before;  // scratch of one step: of the buffers that it looked at
    bool recorded = false;
    std::optional<Event> done;        // recorded behind the set's last launch
    std::optional<StreamRef> stream;  // of that launch
    bool in_flight = false;           // the launch was not waited for
    bool unmarked = false;            // it is not behind `done`
  };
  struct State {
    std::size_t granularity = 0;  // 0: not asked for yet
    std::array<Set, kSets> sets;
    std::size_t next = 0;        // the set of the next step; the other one is that of the step before
    std::vector<Slot> replaced;  // ranges that were not given back yet
    RemappedBuffersCounts counts;
  };

  [[nodiscard]] AddressRanges& ranges() const { return options_.ranges != nullptr ? *options_.ranges : plain_; }
  [[nodiscard]] std::size_t rounded_up(const State& state, std::size_t bytes) const;
  [[nodiscard]] std::size_t room(const State& state, const RemappedBuffer& buffer) const;
  [[nodiscard]] Status ask_granularity(State& state) const;
  [[nodiscard]] Status check(const State& state, std::span<const PhysicalMemory> memories) const;
  [[nodiscard]] Result<bool> over(const Set& set) const;
  [[nodiscard]] Error still_running(const StillRunning& words) const;
  [[nodiscard]] Status wait(State& state, Set& set, const StillRunning& then) const;
  [[nodiscard]] Status wait_without_limit(Set& set) const;
  [[nodiscard]] Status reserve(State& state, Slot& slot, std::size_t bytes) const;
  [[nodiscard]] Status prepare(State& state, Set& set) const;
  [[nodiscard]] Status map(State& state, Slot& slot, const PhysicalMemory& memory) const;
  [[nodiscard]] Status unmap(State& state, Slot& slot) const;
  [[nodiscard]] bool nothing_is_mapped(const Slot& slot) const;
  [[nodiscard]] Status give_access(State& state, const Slot& slot) const;
  [[nodiscard]] Status remap(State& state, Set& set, std::span<const PhysicalMemory> memories) const;
  [[nodiscard]] Status put_back(State& state, Set& set) const;
  [[nodiscard]] Status agree(Status mine, const char* otherwise) const;
  [[nodiscard]] Status map_and_record(State& state, Set& set, std::span<const PhysicalMemory> memories,
                                      RemappedWork& work, RemappedStep& outcome) const;
  [[nodiscard]] Set& set_before(State& state) const;
  [[nodiscard]] Status wait_for_unmarked(State& state, const StreamRef& stream) const;
  [[nodiscard]] Status order_behind(State& state, const StreamRef& stream) const;
  [[nodiscard]] Status launch(State& state, const StreamRef& stream, RemappedWork& work) const;
  [[nodiscard]] Status mark(State& state, Set& set, const StreamRef& stream) const;
  [[nodiscard]] Status give_back(State& state, Slot& slot) const;
  [[nodiscard]] Status give_back(State& state, Set& set) const;
  [[nodiscard]] Status give_back_replaced(State& state) const;

  const Api& api_;
  const std::vector<RemappedBuffer> buffers_;
  const RemappedBuffersOptions options_;
  mutable AddressRanges plain_;           // where the options have none
  std::vector<hipMemAccessDesc> access_;  // of every device that gets it
  mutable sync::Mutex mutex_;
  sync::Cell<State> state_;  // guarded by mutex_
};

}  // namespace hip
