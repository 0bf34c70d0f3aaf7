#include "hip/address_ranges.h"

#include <algorithm>
#include <cstdint>

namespace hip {

void* AddressRanges::take_kept(std::size_t bytes, std::size_t alignment) {
  const sync::LockGuard lock(mutex_);
  std::vector<void*>& kept = kept_[bytes];
  const auto found = std::ranges::find_if(kept, [alignment](void* range) {
    return alignment == 0 || reinterpret_cast<std::uintptr_t>(range) % alignment == 0;
  });
  if (found == kept.end()) return nullptr;
  void* const range = *found;
  kept.erase(found);
  return range;
}

Result<void*> AddressRanges::reserve(const Api& api, std::size_t bytes, std::size_t alignment) {
  void* range = keeps_ ? take_kept(bytes, alignment) : nullptr;
  if (range != nullptr) return range;
  Status reserved = call<&Api::hipMemAddressReserve>(api, &range, bytes, alignment, nullptr, 0ULL);
  if (!reserved) return reserved.error();
  return range;
}

Status AddressRanges::free(const Api& api, void* range, std::size_t bytes, bool unmapped) {
  if (!keeps_ || !unmapped) return call<&Api::hipMemAddressFree>(api, range, bytes);
  const sync::LockGuard lock(mutex_);
  std::vector<void*>& kept = kept_[bytes];
  if (std::ranges::find(kept, range) != kept.end())
    return Error{hipErrorInvalidValue, "a range of addresses was freed twice"};
  kept.push_back(range);
  return {};
}

}  // namespace hip
