// hip::AddressRanges: ranges of device addresses for memory that is mapped (hipMemAddressReserve, hipMemAddressFree).
//
// On a release that confuses a range that was freed with the next one at the same addresses (`free_addresses`;
// docs/findings.md, freed-range-forgotten) free() frees nothing: the range stays reserved, and serves the next call of
// reserve() in this process that asks for as many bytes through the same function. So a process reserves at most as
// many ranges of a size as it uses at a time, and they last until it ends.
//
// For any number of threads.
#pragma once

#include <cstddef>

#include "hip/api/api.h"
#include "hip/errors.h"

namespace hip {

class AddressRanges {
 public:
  // `free_addresses`: ReleaseQuirks::of_free_addresses() of the runtime's release, or null: the release frees rightly.
  explicit AddressRanges(const struct ReleaseQuirk* free_addresses = nullptr) : keeps_(free_addresses != nullptr) {}

  // A range of `bytes` bytes where nothing is mapped. 0: no alignment is asked for; releases may ignore one.
  [[nodiscard]] Result<void*> reserve(const Api& api, std::size_t bytes, std::size_t alignment = 0) const;
  // `range` and `bytes`: as of reserve(). Nothing is mapped there any more.
  [[nodiscard]] Status free(const Api& api, void* range, std::size_t bytes) const;

 private:
  bool keeps_;
};

}  // namespace hip
