#include "verify/run/graph_memory.h"

#include <algorithm>
#include <set>
#include <utility>

#include "hip/errors.h"
#include "verify/execute/strategy.h"

namespace verify {

static void* memory_at(hip::DeviceAddress address) {
  return reinterpret_cast<void*>(address);
}

void GraphMemory::added(Id buffer, std::uint64_t bytes, hip::DeviceAddress address) {
  buffers_[buffer] = {bytes, 0, 0};
  context_.buffer_bytes[buffer] = bytes;
  memory_.show_elsewhere(buffer, bytes, address);
}

void GraphMemory::captured(Id buffer, std::uint64_t bytes, hip::DeviceAddress address) {
  added(buffer, bytes, address);
  buffers_[buffer].captured = address;
}

hip::Status GraphMemory::free_captured(Id buffer, hipStream_t stream) {
  if (context_.api.hipFreeAsync == nullptr) return lacking(context_, "hipFreeAsync");
  const Buffer& freed = buffers_.at(buffer);
  return hip::call<&hip::Api::hipFreeAsync>(context_.api, memory_at(freed.live != 0 ? freed.live : freed.captured),
                                            stream);
}

void GraphMemory::show_as_in(const hip::AddressTable& addresses) {
  for (const auto& [id, buffer] : buffers_) memory_.show_elsewhere(id, buffer.bytes, addresses[id]);
}

void GraphMemory::show_live() {
  for (const auto& [id, buffer] : buffers_) {
    memory_.show_elsewhere(id, buffer.bytes, buffer.live != 0 ? buffer.live : buffer.captured);
  }
}

bool GraphMemory::frees_where_it_was(const ExecObject& exec) const {
  if (!exec.recording.has_memory_nodes()) return false;
  std::set<Id> own;
  return std::ranges::any_of(exec.recording.nodes(), [&](const hip::RecordedNode& node) {
    if (const auto* memory = std::get_if<hip::MemoryAllocRecord>(&node.record)) own.insert(memory->buffer);
    const auto* freed = std::get_if<hip::MemoryFreeRecord>(&node.record);
    if (freed == nullptr || own.contains(freed->buffer)) return false;
    const hip::DeviceAddress live = buffers_.at(freed->buffer).live;
    return live != 0 && live != exec.addresses[freed->buffer];
  });
}

void GraphMemory::launched(const ExecObject& exec) {
  if (!exec.recording.has_memory_nodes()) return;
  for (const hip::RecordedNode& node : exec.recording.nodes()) {
    const auto* memory = std::get_if<hip::MemoryAllocRecord>(&node.record);
    if (memory != nullptr) buffers_.at(memory->buffer).live = exec.addresses[memory->buffer];
  }
  for (const hip::RecordedNode& node : exec.recording.nodes()) {
    const auto* freed = std::get_if<hip::MemoryFreeRecord>(&node.record);
    if (freed != nullptr) buffers_.at(freed->buffer).live = 0;
  }
}

std::uint64_t GraphMemory::live_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, buffer] : buffers_) bytes += buffer.live != 0 ? buffer.bytes : 0;
  return bytes;
}

hip::Status GraphMemory::free(Id buffer) {
  hip::Status status =
      hip::called(context_.api.hipFree(memory_at(buffers_.at(buffer).live)), "hipFree of a graph's memory");
  if (status) buffers_.at(buffer).live = 0;
  return status;
}

hip::Status GraphMemory::free_async(Id buffer, hipStream_t stream) {
  if (context_.api.hipFreeAsync == nullptr) return lacking(context_, "hipFreeAsync");
  hip::Status status = hip::call<&hip::Api::hipFreeAsync>(context_.api, memory_at(buffers_.at(buffer).live), stream);
  if (status) buffers_.at(buffer).live = 0;
  return status;
}

hip::Status GraphMemory::free_everything() {
  hip::Status first;
  for (auto& [id, buffer] : buffers_) {
    if (buffer.live == 0) continue;
    hip::Status status =
        hip::called(context_.interposer.inner().hipFree(memory_at(buffer.live)), "hipFree of a graph's memory");
    buffer.live = 0;
    if (first) first = std::move(status);
  }
  return first;
}

}  // namespace verify
