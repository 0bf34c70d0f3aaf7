// Checked access to memory; the contract is in the header.
#include "model/kernel.h"

namespace model {

std::byte* MemoryAccess::access(Address address, std::size_t size, bool write) {
  if (bad_ || size == 0) return nullptr;
  std::byte* bytes = nullptr;
  for (const Cached& cached : cache_) {
    if (address >= cached.begin && address < cached.end && size <= cached.end - address) {
      bytes = cached.bytes + (address - cached.begin);
      break;
    }
  }
  if (bytes == nullptr) {
    BadAccess why;
    bytes = space_.access(address, size, write, who_, &why);
    if (bytes == nullptr) {
      bad_ = why;
      return nullptr;
    }
    if (const Allocation* found = space_.find(address)) {
      cache_[next_cached_] = {found->base, found->base + found->size, found->bytes};
      next_cached_ = (next_cached_ + 1) % cache_.size();
    }
  }
  if (log_ != nullptr) (write ? log_->writes : log_->reads).add(address, size);
  return bytes;
}

}  // namespace model
