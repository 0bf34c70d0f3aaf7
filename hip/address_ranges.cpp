#include "hip/address_ranges.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "hip/sync/sync.h"

namespace hip {
namespace {

struct KeptRanges {
  // The function that reserved the ranges stands for the runtime.
  using Key = std::pair<decltype(Api::hipMemAddressReserve), std::size_t>;
  sync::Mutex mutex;
  std::map<Key, std::vector<void*>> ranges;
};

// Never destroyed: objects with static lifetime may give ranges back.
KeptRanges& kept_ranges() {
  static KeptRanges* const all = new KeptRanges;
  return *all;
}

void* take_kept(const Api& api, std::size_t bytes, std::size_t alignment) {
  KeptRanges& all = kept_ranges();
  const sync::LockGuard lock(all.mutex);
  std::vector<void*>& ranges = all.ranges[{api.hipMemAddressReserve, bytes}];
  for (void*& range : ranges) {
    if (alignment != 0 && reinterpret_cast<std::uintptr_t>(range) % alignment != 0) continue;
    std::swap(range, ranges.back());
    void* const taken = ranges.back();
    ranges.pop_back();
    return taken;
  }
  return nullptr;
}

}  // namespace

Result<void*> AddressRanges::reserve(const Api& api, std::size_t bytes, std::size_t alignment) const {
  void* range = keeps_ ? take_kept(api, bytes, alignment) : nullptr;
  if (range != nullptr) return range;
  Status reserved = call<&Api::hipMemAddressReserve>(api, &range, bytes, alignment, nullptr, 0ULL);
  if (!reserved) return reserved.error();
  return range;
}

Status AddressRanges::free(const Api& api, void* range, std::size_t bytes) const {
  if (!keeps_) return call<&Api::hipMemAddressFree>(api, range, bytes);
  KeptRanges& all = kept_ranges();
  const sync::LockGuard lock(all.mutex);
  all.ranges[{api.hipMemAddressReserve, bytes}].push_back(range);
  return {};
}

}  // namespace hip
