// The words of a line that say the work of a node or of a stream (fuzz/recorded_work.h reads them), and the memory of
// the host that such work reads and writes.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstring>
#include <vector>

#include "hip/recorder/host_memory.h"
#include "hip/recorder/kernels.h"
#include "hip/recorder/log.h"

namespace hip::recorder {

inline void copy_words(Line& line, const void* dst, const void* src, std::size_t bytes, hipMemcpyKind kind) {
  device_may_write(dst);
  line.word("copy").address(dst).address(src).number(bytes).number(static_cast<std::uint64_t>(kind));
}
inline void copy_words(Line& line, const hipMemcpy3DParms& p) {
  device_may_write(p.dstPtr.ptr);
  line.word(p.srcArray != nullptr || p.dstArray != nullptr ? "array" : "copy3d");
  line.address(p.dstPtr.ptr).number(p.dstPtr.pitch).number(p.dstPtr.ysize);
  line.number(p.dstPos.x).number(p.dstPos.y).number(p.dstPos.z);
  line.address(p.srcPtr.ptr).number(p.srcPtr.pitch).number(p.srcPtr.ysize);
  line.number(p.srcPos.x).number(p.srcPos.y).number(p.srcPos.z);
  line.number(p.extent.width).number(p.extent.height).number(p.extent.depth).number(static_cast<std::uint64_t>(p.kind));
}
// A copy of rows, as hipMemcpy2D has it.
inline hipMemcpy3DParms rows_of(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                                std::size_t width, std::size_t height, hipMemcpyKind kind) {
  hipMemcpy3DParms p{};
  p.dstPtr = {dst, dst_pitch, width, height};
  p.srcPtr = {const_cast<void*>(src), src_pitch, width, height};
  p.extent = {width, height, 1};
  p.kind = kind;
  return p;
}
// The bytes of one end of a copy, without those between its rows.
inline std::vector<std::byte> bytes_of(const hipPitchedPtr& end, const hipPos& at, const hipExtent& extent) {
  std::vector<std::byte> bytes(extent.width * extent.height * extent.depth);
  for (std::size_t row = 0; !bytes.empty() && row < extent.height * extent.depth; ++row) {
    const std::size_t slice = at.z + row / extent.height, line = at.y + row % extent.height;
    std::memcpy(bytes.data() + row * extent.width,
                static_cast<const std::byte*>(end.ptr) + (slice * end.ysize + line) * end.pitch + at.x, extent.width);
  }
  return bytes;
}
// A copy of rows and slices that is given in the words of the driver's functions.
inline hipMemcpy3DParms of_driver(const HIP_MEMCPY3D& d) {
  const auto any = [](hipMemoryType type) { return type == hipMemoryTypeUnified || type == hipMemoryTypeManaged; };
  const bool to_host = d.dstMemoryType == hipMemoryTypeHost, from_host = d.srcMemoryType == hipMemoryTypeHost;
  hipMemcpy3DParms p{};
  p.dstPtr = {to_host ? d.dstHost : d.dstDevice, d.dstPitch, d.WidthInBytes, d.dstHeight};
  p.srcPtr = {from_host ? const_cast<void*>(d.srcHost) : d.srcDevice, d.srcPitch, d.WidthInBytes, d.srcHeight};
  p.dstPos = {d.dstXInBytes, d.dstY, d.dstZ};
  p.srcPos = {d.srcXInBytes, d.srcY, d.srcZ};
  p.extent = {d.WidthInBytes, d.Height, d.Depth};
  if (d.dstMemoryType == hipMemoryTypeArray) p.dstArray = d.dstArray;
  if (d.srcMemoryType == hipMemoryTypeArray) p.srcArray = d.srcArray;
  p.kind = from_host ? (to_host ? hipMemcpyHostToHost : hipMemcpyHostToDevice)
                     : (to_host ? hipMemcpyDeviceToHost : hipMemcpyDeviceToDevice);
  if (any(d.dstMemoryType) || any(d.srcMemoryType)) p.kind = hipMemcpyDefault;
  return p;
}
inline void fill_words(Line& line, const void* dst, std::uint64_t value, unsigned element, std::size_t width,
                       std::size_t height = 1, std::size_t pitch = 0) {
  device_may_write(dst);
  line.word("fill").address(dst).number(value).number(element).number(width).number(height).number(pitch);
}
inline void fill_words(Line& line, const hipMemsetParams& p) {
  fill_words(line, p.dst, p.value, p.elementSize, p.width, p.height, p.height > 1 ? p.pitch : 0);
}
// `word`: "kernel" or, for a cooperative launch, "cooperative".
inline void launch_words(Line& line, const void* function, dim3 grid, dim3 block, std::size_t shared, void** params,
                         void** extra, const char* word = "kernel") {
  line.word(word).number(grid.x).number(grid.y).number(grid.z).number(block.x).number(block.y).number(block.z);
  line.number(shared);
  describe_kernel(line, function, params, extra);
}
inline void kernel_words(Line& line, const hipKernelNodeParams& p) {
  kernel_may_write(p.func, p.kernelParams, p.extra);
  launch_words(line, p.func, p.gridDim, p.blockDim, p.sharedMemBytes, p.kernelParams, p.extra);
}
inline void host_words(Line& line, const void* function) {
  line.word("host").address(function);
}

// Logs the pageable memory of a copy that is made later, since nothing else logs its contents.
inline void adopt_ends(const void* dst, const void* src, std::size_t bytes, hipMemcpyKind kind) {
  if (kind == hipMemcpyHostToDevice || kind == hipMemcpyHostToHost) adopt(src, bytes);
  if (kind == hipMemcpyDeviceToHost || kind == hipMemcpyHostToHost) adopt(dst, bytes);
}
inline void adopt_rows(const void* address, std::size_t pitch, std::size_t width, std::size_t height) {
  if (width != 0 && height != 0) adopt(address, pitch * (height - 1) + width, pitch - width);
}
inline void adopt_ends(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch, std::size_t width,
                       std::size_t height, hipMemcpyKind kind) {
  if (kind == hipMemcpyHostToDevice || kind == hipMemcpyHostToHost) adopt_rows(src, src_pitch, width, height);
  if (kind == hipMemcpyDeviceToHost || kind == hipMemcpyHostToHost) adopt_rows(dst, dst_pitch, width, height);
}
inline void adopt_ends(const hipMemcpy3DParms* given) {
  if (given == nullptr) return;
  const hipMemcpy3DParms& p = *given;
  const bool within_host = p.kind == hipMemcpyHostToHost;
  if ((p.kind == hipMemcpyHostToDevice || within_host) && p.srcArray == nullptr) {
    adopt(p.srcPtr.ptr, p.srcPtr.pitch * p.srcPtr.ysize * (p.extent.depth + p.srcPos.z));
  }
  if ((p.kind == hipMemcpyDeviceToHost || within_host) && p.dstArray == nullptr) {
    adopt(p.dstPtr.ptr, p.dstPtr.pitch * p.dstPtr.ysize * (p.extent.depth + p.dstPos.z));
  }
}
inline void adopt_ends(const HIP_MEMCPY3D* given) {
  if (given == nullptr) return;
  const hipMemcpy3DParms copy = of_driver(*given);
  adopt_ends(&copy);
}
inline void adopt_ends(const hipGraphNodeParams* given) {
  if (given != nullptr && given->type == hipGraphNodeTypeMemcpy) adopt_ends(&given->memcpy.copyParams);
}

}  // namespace hip::recorder
