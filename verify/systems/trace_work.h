// verify::TraceWork: the commands of scenarios of traces, over three buffers of the caller: the work that each command
// enqueues, and the bytes that it leaves behind.
//
//   0  fills buffer 0
//   1  fills buffers 0 and 1
//   2  fills buffers 1 and 2; in a command buffer it is a traced command of a library
//   3  a library's kernel, from buffer 0 to buffer 2: its arguments are a packed struct, with pointers at odd bytes
//      and a scalar that has the bits of an address that buffers may have
//
// A buffer of 0 bytes (for the kernel: fewer than 4) is left out, so that a command may have nothing to do. Two buffers
// may have the same place.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hip/traced_command.h"
#include "verify/systems/bench.h"

namespace verify {

class TraceWork {
 public:
  using Bytes = std::vector<unsigned char>;
  // The kind of a traced command, as a command buffer sees it.
  enum class Form : std::uint8_t { kOpaque, kKnown, kCollective };
  static constexpr int kFirstTraced = 2;

  // Allocates the caller's memory and the memory of the shadows; finish() frees both.
  explicit TraceWork(BenchContext& context);
  TraceWork(const TraceWork&) = delete;
  TraceWork& operator=(const TraceWork&) = delete;
  void finish();

  // Replaces a buffer by a new one. The numbers of commands depend on version(), which this changes.
  void replace(std::size_t buffer, std::size_t place, std::size_t bytes);
  void move(std::size_t buffer, std::size_t place) { buffers_[buffer].place = place; }

  [[nodiscard]] static std::span<const std::size_t> buffers_of(int command);
  [[nodiscard]] bool works(int command) const;
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] std::vector<hip::TraceBuffer> named_by(int command) const;
  [[nodiscard]] std::vector<hip::DeviceAddress> addresses() const;
  // Whether traces of the command that were made with the buffers at `before` may be patched to where they are now.
  [[nodiscard]] bool same_footing(int command, std::span<const hip::DeviceAddress> before) const;

  // `addresses` has the addresses of buffers_of(command), in that order.
  [[nodiscard]] hip::Status enqueue(int command, hipStream_t stream, std::span<const std::uint64_t> addresses) const;
  // The commands of the mask, each behind the previous one; traced commands are captured on `capturing`.
  [[nodiscard]] hip::Recording commands_of(int mask, Form form, hipStream_t capturing) const;

  void wipe() const;
  [[nodiscard]] Bytes look() const;
  // The bytes that the commands of the mask leave in wiped memory.
  [[nodiscard]] Bytes expected(int mask) const;

 private:
  struct Buffer {
    std::uint64_t identity = 0;
    std::size_t place = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] std::uint64_t address(const Buffer& buffer) const;
  [[nodiscard]] std::uint32_t elements() const;
  [[nodiscard]] hip::Status launch(hipStream_t stream, std::uint64_t in, std::uint64_t out) const;
  [[nodiscard]] hip::RecordedNode traced(int command, Form form, hipStream_t capturing) const;
  void add_fills(int command, hip::Recording& commands) const;

  BenchContext& context_;
  hipFunction_t kernel_ = nullptr;
  void* arena_ = nullptr;
  void* shadows_ = nullptr;
  std::array<Buffer, kTraceBuffers> buffers_;
  std::uint64_t identities_ = 0, version_ = 1;
};

}  // namespace verify
