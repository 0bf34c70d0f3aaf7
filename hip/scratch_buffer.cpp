#include "hip/scratch_buffer.h"

#include <cassert>
#include <cstdint>
#include <utility>

#include "hip/beside_captures.h"
#include "hip/device_scope.h"
#include "hip/pieces.h"

namespace hip {

ScratchBuffer::ScratchBuffer(StreamRef stream, const ScratchOptions& options) : stream_(stream), options_(options) {
  assert(options.granularity != 0);
}

ScratchBuffer::ScratchBuffer(ScratchBuffer&& other) noexcept
    : stream_(other.stream_),
      thread_(other.thread_),
      options_(other.options_),
      data_(std::exchange(other.data_, nullptr)),
      capacity_(std::exchange(other.capacity_, 0)),
      stuck_(std::exchange(other.stuck_, nullptr)) {}

ScratchBuffer& ScratchBuffer::operator=(ScratchBuffer&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  stream_ = other.stream_;
  thread_ = other.thread_;
  options_ = other.options_;
  data_ = std::exchange(other.data_, nullptr);
  capacity_ = std::exchange(other.capacity_, 0);
  stuck_ = std::exchange(other.stuck_, nullptr);
  return *this;
}

ScratchBuffer::~ScratchBuffer() {
  let_go();
}

// Refuses a stream that captures if memory is not freed in stream order: the captured work would use freed memory.
Status ScratchBuffer::refuse_capture() const {
  if (in_stream_order()) return {};
  const Result<bool> captures = stream_.capturing();
  // HIP refuses to query the null stream while a blocking stream captures; the null stream itself captures nothing
  // then.
  if (!captures && captures.error().code == hipErrorStreamCaptureImplicit) return {};
  if (!captures) return captures.error();
  if (!captures.value()) return {};
  return Error{hipErrorStreamCaptureUnsupported, "a scratch buffer cannot grow or shrink while its stream captures"};
}

// Makes the stream's device current: the memory comes from that device, and handle 0 means its default stream.
Result<void*> ScratchBuffer::allocate(std::size_t bytes) const {
  assert(on_its_thread());
  if (Status refused = refuse_capture(); !refused) return refused.error();
  const Api& api = stream_.api();
  const BesideCaptures beside(api, options_.errors);
  const Result<DeviceScope> scope = DeviceScope::enter(api, stream_.device(), options_.errors);
  if (!scope) return scope.error();
  void* memory = nullptr;
  const Status taken = in_stream_order() ? call<&Api::hipMallocAsync>(api, &memory, bytes, stream_.handle())
                                         : call<&Api::hipMalloc>(api, &memory, bytes);
  if (!taken) return taken.error();
  return memory;  // a failure to restore the caller's device goes to the sink
}

Status ScratchBuffer::free(void* memory) const {
  assert(on_its_thread());
  if (Status refused = refuse_capture(); !refused) return refused;
  const Api& api = stream_.api();
  const BesideCaptures beside(api, options_.errors);
  const Result<DeviceScope> scope = DeviceScope::enter(api, stream_.device(), options_.errors);
  if (!scope) return scope.error();
  return in_stream_order() ? call<&Api::hipFreeAsync>(api, memory, stream_.handle()) : call<&Api::hipFree>(api, memory);
}

Result<void*> ScratchBuffer::reserve(std::size_t bytes) {
  if (stuck_ != nullptr) {
    if (const Status status = free(stuck_); !status) return status.error();
    stuck_ = nullptr;
  }
  if (bytes <= capacity_) return data_;
  const std::size_t rest = bytes % options_.granularity;
  const std::size_t padding = rest == 0 ? 0 : options_.granularity - rest;
  if (padding > SIZE_MAX - bytes) return Error{hipErrorOutOfMemory, "a scratch buffer of that size cannot be"};
  const Result<void*> bigger = allocate(bytes + padding);
  if (!bigger) return bigger.error();
  if (data_ != nullptr) {
    // If the old memory cannot be freed, the new memory is freed instead and the buffer stays unchanged.
    if (Status kept = free(data_); !kept) {
      const Status undone = free(bigger.value());
      if (!undone) stuck_ = bigger.value();
      return both(std::move(kept), undone).error();
    }
  }
  data_ = bigger.value();
  capacity_ = bytes + padding;
  return data_;
}

Status ScratchBuffer::carve(std::span<const std::size_t> bytes, std::span<void*> pieces) {
  assert(bytes.size() == pieces.size());
  std::size_t total = 0;
  for (const std::size_t size : bytes) {
    const std::optional<std::size_t> next = behind_piece(total, size);
    if (!next) return Error{hipErrorOutOfMemory, "a scratch buffer of that size cannot be"};
    total = *next;
  }
  const Result<void*> base = reserve(total);
  if (!base) return base.error();
  std::size_t at = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    pieces[i] = bytes[i] == 0 ? nullptr : static_cast<std::byte*>(base.value()) + at;
    at = behind_piece(at, bytes[i]).value();
  }
  return {};
}

void ScratchBuffer::rebind(const StreamRef& stream) {
  assert(stream.device() == stream_.device() && &stream.api() == &stream_.api());
  stream_ = stream;
  thread_ = sync::this_thread_id();
}

bool ScratchBuffer::in_stream_order() const {
  const Api& api = stream_.api();
  return api.hipMallocAsync != nullptr && api.hipFreeAsync != nullptr && options_.free_async == nullptr;
}

bool ScratchBuffer::on_its_thread() const {
  return stream_.handle() != hipStreamPerThread || thread_ == sync::this_thread_id();
}

// Memory that could not be freed earlier is freed first: if that fails, the buffer stays as it is.
Status ScratchBuffer::release() {
  for (void** const memory : {&stuck_, &data_}) {
    if (*memory == nullptr) continue;
    if (Status status = free(*memory); !status) return status;
    *memory = nullptr;
  }
  capacity_ = 0;
  return {};
}

// A failure may be transient: it is reported and tried once more, then given up.
void ScratchBuffer::let_go() {
  for (void** const memory : {&stuck_, &data_}) {
    for (int attempt = 0; *memory != nullptr && attempt < 2; ++attempt) {
      const Status status = free(*memory);
      if (status) *memory = nullptr;
      options_.errors(status);
    }
    *memory = nullptr;
  }
  capacity_ = 0;
}

}  // namespace hip
