// U30: an allocator that gives memory to its next owner while the previous owner still uses it.
//
// U30 (kokkos/kokkos#9433: memory of one thread's kernels was freed too early, and another thread's allocation got it).
// The author believed: a caller that frees memory no longer needs it, so the block is free from that call on, and the
// next allocation of its size can take it without a call of the runtime. The mistake: the free is ordered in its stream
// behind work that has not run, and the next owner's stream waits for nothing. S1.
#include <map>

#include "fuzz/faults/runtime/faults.h"

namespace fuzz {

namespace {

class ReusesWhatIsBeingFreed final : public hip::ApiLayer {
  using Self = ReusesWhatIsBeingFreed;

  void start() override {
    sizes_.clear();
    free_.clear();
    if (inner().hipMallocAsync == nullptr || inner().hipFreeAsync == nullptr) return;
    replace().hipMallocAsync = allocate;
    replace().hipFreeAsync = give_back;
    replace().hipFree = free_now;
    replace().hipDeviceSynchronize = synchronize;
  }

  // Whether the stream captures. A capture makes nodes, which this allocator does not handle.
  [[nodiscard]] bool captures(hipStream_t stream) const {
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    if (inner().hipStreamIsCapturing == nullptr) return false;
    return inner().hipStreamIsCapturing(stream, &status) != hipSuccess || status != hipStreamCaptureStatusNone;
  }
  static hipError_t allocate(void** memory, std::size_t bytes, hipStream_t stream) {
    Self& self = current<Self>();
    if (memory == nullptr || self.captures(stream)) return self.inner().hipMallocAsync(memory, bytes, stream);
    if (const auto block = self.free_.find(bytes); block != self.free_.end()) {
      *memory = block->second;
      self.free_.erase(block);
      return hipSuccess;
    }
    const hipError_t status = self.inner().hipMallocAsync(memory, bytes, stream);
    if (status == hipSuccess && *memory != nullptr) self.sizes_[*memory] = bytes;
    return status;
  }
  static hipError_t give_back(void* memory, hipStream_t stream) {
    Self& self = current<Self>();
    const auto known = self.sizes_.find(memory);
    if (known == self.sizes_.end() || self.captures(stream)) return self.inner().hipFreeAsync(memory, stream);
    self.free_.emplace(known->second, memory);
    return hipSuccess;
  }
  static hipError_t free_now(void* memory) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipFree(memory);
    if (status == hipSuccess) self.sizes_.erase(memory);
    return status;
  }
  // Nothing runs after this call: memory that no allocation has reused is given back.
  static hipError_t synchronize() {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipDeviceSynchronize();
    if (status != hipSuccess) return status;
    for (const auto& [bytes, memory] : self.free_) {
      self.sizes_.erase(memory);
      if (const hipError_t freed = self.inner().hipFree(memory); freed != hipSuccess) return freed;
    }
    self.free_.clear();
    return hipSuccess;
  }

  std::map<void*, std::size_t> sizes_;
  std::multimap<std::size_t, void*> free_;  // by size
};

}  // namespace

std::vector<RuntimeFault> stream_memory_faults() {
  return {{"U30", layer_factory<ReusesWhatIsBeingFreed>()}};
}

}  // namespace fuzz
