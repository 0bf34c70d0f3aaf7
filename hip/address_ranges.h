// hip::AddressRanges: ranges of device addresses for memory that is mapped (hipMemAddressReserve, hipMemAddressFree).
//
// A release may confuse a range that was freed with the next one at the same addresses (docs/findings.md,
// freed-range-forgotten). There an object of this class frees no range: it keeps it, and serves the next call of
// reserve() that asks for as many bytes with it. Kept ranges stay reserved until the process ends, so on such a release
// a process should have one object, and all that maps memory should use it.
//
// An object is for one runtime, and for any number of threads.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "hip/api/api.h"
#include "hip/errors.h"
#include "hip/sync/sync.h"

namespace hip {

// Physical memory of a device, as hipMemCreate and hipMemGetAllocationGranularity take its properties.
[[nodiscard]] inline hipMemAllocationProp memory_of_device(int device) {
  hipMemAllocationProp properties{};
  properties.type = hipMemAllocationTypePinned;
  properties.location.type = hipMemLocationTypeDevice;
  properties.location.id = device;
  return properties;
}

class AddressRanges {
 public:
  // `free_addresses`: ReleaseQuirks::of_free_addresses() of the runtime's release, or null: the release frees rightly.
  explicit AddressRanges(const struct ReleaseQuirk* free_addresses = nullptr) : keeps_(free_addresses != nullptr) {}
  AddressRanges(const AddressRanges&) = delete;
  AddressRanges& operator=(const AddressRanges&) = delete;

  // A range of `bytes` bytes where nothing is mapped. Alignment 0: none is asked for; releases may ignore one. Errors
  // are hipMemAddressReserve's.
  [[nodiscard]] Result<void*> reserve(const Api& api, std::size_t bytes, std::size_t alignment = 0);
  // `range` and `bytes`: as of reserve(). Errors are hipMemAddressFree's; hipErrorInvalidValue for a range that is kept
  // already. `unmapped` is false where memory may still be mapped in the range: it is not kept then, and
  // hipMemAddressFree refuses it.
  [[nodiscard]] Status free(const Api& api, void* range, std::size_t bytes, bool unmapped = true);

 private:
  // Null: none is kept that fits.
  [[nodiscard]] void* take_kept(std::size_t bytes, std::size_t alignment);

  const bool keeps_;
  sync::Mutex mutex_;
  std::map<std::size_t, std::vector<void*>> kept_;  // by their bytes
};

}  // namespace hip
