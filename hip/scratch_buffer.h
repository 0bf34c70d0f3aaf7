// hip::ScratchBuffer: device memory of a stream that grows on demand and is used again and again.
//
//   reserve   at least that many bytes. Only growing allocates, and it allocates the new memory before it frees the
//             old: when the allocation fails, the buffer keeps its address and its contents. Growing does not carry
//             contents over: scratch is written before it is read.
//   order     memory is allocated and freed in stream order (hipMallocAsync, hipFreeAsync), so work that was given to
//             the stream before a call of reserve() may still use the old memory; work given to it afterwards may not:
//             a pointer is valid until the next reserve() that grows. Where the runtime lacks these functions, or its
//             release gives such memory to a stream that is not ordered behind the work (`free_async`;
//             docs/findings.md, early-event-hands-memory), hipFree waits for the device instead. Growing and freeing
//             are then refused while the stream captures, and a buffer that is destroyed during the capture leaks its
//             memory and reports that.
//   move      leaves the source empty and as usable as a new one, on the same stream.
//   threads   one at a time. On hipStreamPerThread only the thread that made the buffer, or called rebind() last: on
//             another thread the calls, the destructor's too, would go to another stream. Functions that allocate or
//             free memory assert that.
//
// The destructor frees the memory in stream order, so the stream has to outlive the buffer.
#pragma once

#include <cstddef>
#include <span>

#include "hip/api/api.h"
#include "hip/errors.h"
#include "hip/stream.h"
#include "hip/sync/sync.h"

namespace hip {

struct ScratchOptions {
  // Allocations are a multiple of this, so that sizes that vary a little do not allocate.
  std::size_t granularity = 4096;
  // ReleaseQuirks::of_free_async() of the runtime's release, or null: the release frees in stream order rightly.
  const struct ReleaseQuirk* free_async = nullptr;
  ErrorSink errors{};  // receives the errors of destructors
};

class ScratchBuffer {
 public:
  // Makes an empty buffer; nothing is allocated.
  explicit ScratchBuffer(StreamRef stream, const ScratchOptions& options = {});
  ScratchBuffer(ScratchBuffer&& other) noexcept;
  ScratchBuffer& operator=(ScratchBuffer&& other) noexcept;
  // An error of release() goes to the error sink.
  ~ScratchBuffer();

  // The buffer's address; null for 0 bytes of an empty buffer.
  [[nodiscard]] Result<void*> reserve(std::size_t bytes);
  // Several pieces at once, each aligned like the start of an allocation. The total is reserved before the first piece
  // is cut, so that growing invalidates no piece of the call; pieces are valid until the next call that grows.
  [[nodiscard]] Status carve(std::span<const std::size_t> bytes, std::span<void*> pieces);
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] const StreamRef& stream() const { return stream_; }

  // From now on the buffer allocates and frees in the order of another stream of the same device. The caller ensures
  // that the work of the former stream is done.
  void rebind(const StreamRef& stream);

  // Frees the memory; the buffer is empty and usable. If that fails, the buffer keeps the memory and can try again.
  Status release();

 private:
  [[nodiscard]] Result<void*> allocate(std::size_t bytes) const;
  [[nodiscard]] Status free(void* memory) const;
  [[nodiscard]] Status refuse_capture() const;
  [[nodiscard]] bool in_stream_order() const;
  [[nodiscard]] bool on_its_thread() const;
  void let_go();

  StreamRef stream_;
  sync::ThreadId thread_ = sync::this_thread_id();  // the owner of the stream if it is hipStreamPerThread
  ScratchOptions options_;
  void* data_ = nullptr;
  std::size_t capacity_ = 0;
  void* stuck_ = nullptr;  // memory that could not be given back yet
};

}  // namespace hip
