// bench::StepBed: a workload on a runtime: its memory, its kernels, and the work that each command enqueues.
//
// Every buffer has a place at home; a buffer that moves has a second place. A step finds the buffers at one of the two
// address tables. The memory is the runtime's; filling and reading it is not timed. Either all places are in one
// allocation, or each has physical memory of its own, which can be mapped elsewhere, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bench/step_workload.h"
#include "hip/recording.h"
#include "hip/stream.h"
#include "verify/execute/mapped_allocations.h"
#include "verify/execute/platform.h"

namespace bench {

class StepBed {
 public:
  // `platform` has begun, is entered and stays so. An error is one of the runtime's.
  [[nodiscard]] static hip::Result<std::unique_ptr<StepBed>> make(verify::Platform& platform, StepWorkload workload,
                                                                  bool mapped = false);
  StepBed(const StepBed&) = delete;
  StepBed& operator=(const StepBed&) = delete;
  ~StepBed();

  [[nodiscard]] const StepWorkload& workload() const { return workload_; }
  [[nodiscard]] const hip::Api& api() const { return platform_.api(); }  // that owns the streams and the memory
  // Where the buffers are: moved away or not.
  [[nodiscard]] const hip::AddressTable& addresses(bool away) const { return away ? away_ : home_; }
  // The number of the place at `address`; it identifies the buffer that is there.
  [[nodiscard]] std::uint64_t place_of(hip::DeviceAddress address) const;
  // The memory of the place at `address`; null: it has none of its own.
  [[nodiscard]] const hip::PhysicalMemory* memory_at(hip::DeviceAddress address) const {
    return mapped_ ? mapped_->at(address) : nullptr;
  }
  [[nodiscard]] hipStream_t stream() const { return stream_; }        // the steps'
  [[nodiscard]] hipStream_t capturing() const { return capturing_; }  // nothing ever runs on it

  // The work of a command, with the buffers at `at`.
  [[nodiscard]] hip::Status enqueue(const hip::Api& api, const StepCommand& command, hipStream_t stream,
                                    std::span<const hip::DeviceAddress> at) const;
  // The commands that `which` says, in order, each behind the one before, with their addresses found by differential
  // capture and as nodes of their own. An error too where a command is opaque.
  [[nodiscard]] hip::Result<hip::Recording> known_commands(const hip::Api& api,
                                                           std::span<const StepCommand> commands) const;

  // Fills every place with the same contents at every call; a place without a buffer gets bytes that no step uses.
  [[nodiscard]] hip::Status fill(bool away);
  [[nodiscard]] hip::Status synchronize() const;
  // The bytes of all buffers with a role that `counts` accepts, one after the other; waits for the stream first.
  using Counts = bool (*)(BufferRole role);
  [[nodiscard]] hip::Result<std::vector<std::byte>> read(bool away, Counts counts);

 private:
  struct Kernel {
    hipFunction_t function = nullptr;
    std::uint32_t bytes = 0;               // of its arguments
    std::vector<hip::ArgumentSlot> slots;  // in order
    std::vector<std::uint32_t> pointers;   // offsets of the arguments that are addresses
    std::vector<std::byte> scalars;        // the block without its addresses
  };
  static constexpr std::size_t kKinds = 3;
  static constexpr std::uint64_t kSpacing = 512;  // buffers of kStepBufferBytes do not touch
  static constexpr std::size_t kMaxArguments = 16, kMaxBlock = 128;

  StepBed(verify::Platform& platform, StepWorkload workload);
  [[nodiscard]] hip::Status prepare(bool mapped);
  [[nodiscard]] hip::Status allocate(bool mapped);
  [[nodiscard]] Kernel kernel(CommandKind kind);
  [[nodiscard]] std::optional<std::vector<hip::ArgumentSlot>> layout_of(hipFunction_t function) const;

  verify::Platform& platform_;
  StepWorkload workload_;
  std::vector<Kernel> kernels_;                      // by kind
  void* memory_ = nullptr;                           // of all places
  std::optional<verify::MappedAllocations> mapped_;  // of each place
  std::vector<hip::DeviceAddress> places_;           // two a buffer
  std::uint64_t spacing_;                            // between two places, where they are in one allocation
  void* shadows_ = nullptr;                          // for differential capture
  hip::AddressTable home_, away_;
  hipStream_t stream_ = nullptr, capturing_ = nullptr;
};

}  // namespace bench
