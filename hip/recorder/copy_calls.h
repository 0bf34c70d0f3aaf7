// Memory, and the copies and memsets of hosts and of streams.
#pragma once

#include "hip/recorder/actions.h"
#include "hip/recorder/host_memory.h"
#include "hip/recorder/kernels.h"
#include "hip/recorder/words.h"

namespace hip::recorder {

// memory
inline void begins(const char* kind, const void* address, std::size_t bytes) {
  if (address == nullptr) return;
  Line("alloc").word(kind).address(address).number(bytes);
  if (std::string_view(kind) != "device") host_range_begins(address, bytes);
}
inline void ends(const void* address) {
  if (address == nullptr) return;
  host_range_ends(address);
  Line("free").address(address);
}
AFTER_IS(hipMalloc, begins("device", *p, n), void** p, size_t n)
// Whether it becomes a buffer or work of a capture depends on the stream.
inline void begins_async(const void* address, std::size_t bytes, hipStream_t stream, hipMemPool_t pool = nullptr) {
  if (address == nullptr) return;
  Line("alloc").word("async").address(address).number(bytes).address(stream).address(pool);
}
AFTER_IS(hipMallocAsync, begins_async(*p, n, t), void** p, size_t n, hipStream_t t)
AFTER_IS(hipMallocFromPoolAsync, begins_async(*p, n, t, pool), void** p, size_t n, hipMemPool_t pool, hipStream_t t)
AFTER_IS(hipHostMalloc, begins("pinned", *p, n), void** p, size_t n, unsigned)
AFTER_IS(hipHostAlloc, begins("pinned", *p, n), void** p, size_t n, unsigned)
AFTER_IS(hipMallocHost, begins("pinned", *p, n), void** p, size_t n)
AFTER_IS(hipMemAllocHost, begins("pinned", *p, n), void** p, size_t n)
AFTER_IS(hipMallocManaged, begins("managed", *p, n), void** p, size_t n, unsigned)
AFTER_IS(hipMallocPitch, begins("device", *p, *pitch* h), void** p, size_t* pitch, size_t, size_t h)
AFTER_IS(hipMalloc3D, begins("device", p->ptr, p->pitch* e.height* e.depth), hipPitchedPtr* p, hipExtent e)
AFTER_IS(hipHostRegister, begins("registered", p, n), void* p, size_t n, unsigned)
ENDS(hipFree, void*, ends(ended))
inline void ends_async(const void* address, hipStream_t stream) {
  host_range_ends(address);
  if (address != nullptr) Line("freeasync").address(address).address(stream);
}
ENDS(hipFreeAsync, void*, ends_async(ended, t), hipStream_t t)
ENDS(hipHostFree, void*, ends(ended))
ENDS(hipFreeHost, void*, ends(ended))
ENDS(hipHostUnregister, void*, ends(ended))

// copies that the host waits for
inline void copied(void* dst, const void* src, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream = nullptr) {
  Line line("copied");
  line.address(dst).address(src).number(bytes).number(static_cast<std::uint64_t>(kind)).address(stream);
  const bool from_host = kind == hipMemcpyHostToDevice || kind == hipMemcpyHostToHost;
  const bool to_host = kind == hipMemcpyDeviceToHost;
  if (from_host) line.data(src, bytes);
  if (to_host) line.number(hash_of({static_cast<const std::byte*>(dst), bytes}));
}
WAITS_FOR(hipMemcpy, d, copied(d, s, n, k), void* d, const void* s, size_t n, hipMemcpyKind k)
WAITS_FOR(hipMemcpyWithStream, d, copied(d, s, n, k, t), void* d, const void* s, size_t n, hipMemcpyKind k,
          hipStream_t t)
WAITS_FOR(hipMemcpyHtoD, d, copied(d, s, n, hipMemcpyHostToDevice), hipDeviceptr_t d, const void* s, size_t n)
WAITS_FOR(hipMemcpyDtoH, d, copied(d, s, n, hipMemcpyDeviceToHost), void* d, hipDeviceptr_t s, size_t n)
WAITS_FOR(hipMemcpyDtoD, d, copied(d, s, n, hipMemcpyDeviceToDevice), hipDeviceptr_t d, hipDeviceptr_t s, size_t n)
WAITS_FOR(hipMemcpyToSymbol, symbol, copied(symbol_at(symbol, at), s, n, k), const void* symbol, const void* s,
          size_t n, size_t at, hipMemcpyKind k)
WAITS_FOR(hipMemcpyFromSymbol, d, copied(d, symbol_at(symbol, at), n, k), void* d, const void* symbol, size_t n,
          size_t at, hipMemcpyKind k)
inline void copied(const hipMemcpy3DParms& p) {
  Line line("copied3d");
  copy_words(line, p);
  if (p.srcArray != nullptr || p.dstArray != nullptr) return;
  if (p.kind == hipMemcpyHostToDevice || p.kind == hipMemcpyHostToHost) {
    const std::vector<std::byte> bytes = bytes_of(p.srcPtr, p.srcPos, p.extent);
    line.data(bytes.data(), bytes.size());
  }
  if (p.kind == hipMemcpyDeviceToHost) line.number(hash_of(bytes_of(p.dstPtr, p.dstPos, p.extent)));
}
WAITS_FOR(hipMemcpy2D, d, copied(rows_of(d, dp, s, sp, w, h, k)), void* d, size_t dp, const void* s, size_t sp,
          size_t w, size_t h, hipMemcpyKind k)
inline const void* target_of(const hipMemcpy3DParms* p) {
  return p == nullptr ? nullptr : p->dstPtr.ptr;
}
WAITS_FOR(hipMemcpy3D, target_of(p), copied(*p), const hipMemcpy3DParms* p)

// work given to a stream: its pageable memory is adopted first
inline void copy_later(void* d, const void* s, size_t n, hipMemcpyKind k, hipStream_t stream) {
  Work work(stream);
  copy_words(work.line, d, s, n, k);
}
inline void copy_later(const hipMemcpy3DParms& p, hipStream_t stream) {
  Work work(stream);
  copy_words(work.line, p);
}
GIVES(hipMemcpyAsync, (adopt_ends(d, s, n, k), d), copy_later(d, s, n, k, t), void* d, const void* s, size_t n,
      hipMemcpyKind k, hipStream_t t)
GIVES(hipMemcpyHtoDAsync, (adopt(s, n), d), copy_later(d, s, n, hipMemcpyHostToDevice, t), hipDeviceptr_t d,
      const void* s, size_t n, hipStream_t t)
GIVES(hipMemcpyDtoHAsync, (adopt(d, n), d), copy_later(d, s, n, hipMemcpyDeviceToHost, t), void* d, hipDeviceptr_t s,
      size_t n, hipStream_t t)
GIVES(hipMemcpyDtoDAsync, d, copy_later(d, s, n, hipMemcpyDeviceToDevice, t), hipDeviceptr_t d, hipDeviceptr_t s,
      size_t n, hipStream_t t)
GIVES(hipMemcpyToSymbolAsync, (adopt_ends(symbol, s, n, k), symbol), copy_later(symbol_at(symbol, at), s, n, k, t),
      const void* symbol, const void* s, size_t n, size_t at, hipMemcpyKind k, hipStream_t t)
GIVES(hipMemcpyFromSymbolAsync, (adopt_ends(d, symbol, n, k), d), copy_later(d, symbol_at(symbol, at), n, k, t),
      void* d, const void* symbol, size_t n, size_t at, hipMemcpyKind k, hipStream_t t)
GIVES(hipMemcpy3DAsync, (adopt_ends(p), target_of(p)), copy_later(*p, t), const hipMemcpy3DParms* p, hipStream_t t)
GIVES(hipMemcpy2DAsync, (adopt_ends(d, dp, s, sp, w, h, k), d), copy_later(rows_of(d, dp, s, sp, w, h, k), t), void* d,
      size_t dp, const void* s, size_t sp, size_t w, size_t h, hipMemcpyKind k, hipStream_t t)
inline void filled(hipStream_t t, const void* d, std::uint64_t v, unsigned e, size_t w, size_t h = 1,
                   size_t pitch = 0) {
  Work work(t);
  fill_words(work.line, d, v, e, w, h, h > 1 ? pitch : 0);
}
inline std::uint64_t byte(int value) {
  return static_cast<unsigned char>(value);
}
inline void filled_at_once(const void* d, std::uint64_t v, unsigned e, size_t w, size_t h = 1, size_t pitch = 0) {
  Work work(nullptr);
  fill_words(work.line, d, v, e, w, h, h > 1 ? pitch : 0);
  work.line.word("wait");
}
// Slices that follow each other without a gap are rows.
inline std::size_t rows_of(const hipPitchedPtr& p, const hipExtent& e) {
  if (e.depth == 1 || p.ysize == e.height) return e.height * e.depth;
  Line("lost").word("a-memset-of-slices-with-other-rows-between-them");
  return 0;
}
WAITS_FOR(hipMemset3D, p.ptr,
          if (const std::size_t rows = rows_of(p, e)) filled_at_once(p.ptr, byte(v), 1, e.width, rows, p.pitch),
          hipPitchedPtr p, int v, hipExtent e)
GIVES(hipMemset3DAsync, p.ptr,
      if (const std::size_t rows = rows_of(p, e)) filled(t, p.ptr, byte(v), 1, e.width, rows, p.pitch), hipPitchedPtr p,
      int v, hipExtent e, hipStream_t t)
WAITS_FOR(hipMemset, d, filled_at_once(d, byte(v), 1, n), void* d, int v, size_t n)
WAITS_FOR(hipMemset2D, d, filled_at_once(d, byte(v), 1, w, h, p), void* d, size_t p, int v, size_t w, size_t h)
GIVES(hipMemsetAsync, d, filled(t, d, byte(v), 1, n), void* d, int v, size_t n, hipStream_t t)
GIVES(hipMemset2DAsync, d, filled(t, d, byte(v), 1, w, h, p), void* d, size_t p, int v, size_t w, size_t h,
      hipStream_t t)
WAITS_FOR(hipMemsetD8, d, filled_at_once(d, v, 1, n), hipDeviceptr_t d, unsigned char v, size_t n)
WAITS_FOR(hipMemsetD16, d, filled_at_once(d, v, 2, n), hipDeviceptr_t d, unsigned short v, size_t n)
WAITS_FOR(hipMemsetD32, d, filled_at_once(d, static_cast<unsigned>(v), 4, n), hipDeviceptr_t d, int v, size_t n)
GIVES(hipMemsetD8Async, d, filled(t, d, v, 1, n), hipDeviceptr_t d, unsigned char v, size_t n, hipStream_t t)
GIVES(hipMemsetD16Async, d, filled(t, d, v, 2, n), hipDeviceptr_t d, unsigned short v, size_t n, hipStream_t t)
GIVES(hipMemsetD32Async, d, filled(t, d, static_cast<unsigned>(v), 4, n), hipDeviceptr_t d, int v, size_t n,
      hipStream_t t)
WAITS_FOR(hipMemsetD2D8, d, filled_at_once(d, v, 1, w, h, p), hipDeviceptr_t d, size_t p, unsigned char v, size_t w,
          size_t h)
GIVES(hipMemsetD2D8Async, d, filled(t, d, v, 1, w, h, p), hipDeviceptr_t d, size_t p, unsigned char v, size_t w,
      size_t h, hipStream_t t)
WAITS_FOR(hipMemsetD2D16, d, filled_at_once(d, v, 2, w, h, p), hipDeviceptr_t d, size_t p, unsigned short v, size_t w,
          size_t h)
GIVES(hipMemsetD2D16Async, d, filled(t, d, v, 2, w, h, p), hipDeviceptr_t d, size_t p, unsigned short v, size_t w,
      size_t h, hipStream_t t)
WAITS_FOR(hipMemsetD2D32, d, filled_at_once(d, v, 4, w, h, p), hipDeviceptr_t d, size_t p, unsigned v, size_t w,
          size_t h)
GIVES(hipMemsetD2D32Async, d, filled(t, d, v, 4, w, h, p), hipDeviceptr_t d, size_t p, unsigned v, size_t w, size_t h,
      hipStream_t t)

}  // namespace hip::recorder
