// A handle that hipMemRetainAllocationHandle returns is not counted: releasing one releases the memory of all.
// The story: finding.toml.
#include "../check.h"

int main() {
  constexpr size_t kPage = 4096;
  hipMemAllocationProp properties{};
  properties.type = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  hipMemGenericAllocationHandle_t first = nullptr, second = nullptr;
  MUST(hipMemCreate(&first, kPage, &properties, 0));
  char* range = nullptr;
  MUST(hipMemAddressReserve(reinterpret_cast<void**>(&range), 2 * kPage, 0, nullptr, 0));
  MUST(hipMemMap(range, kPage, 0, first, 0));
  MUST(hipMemRetainAllocationHandle(&second, range));

  // The second handle keeps the memory.
  MUST(hipMemRelease(first));
  MUST(hipMemUnmap(range, kPage));
  const hipError_t mapped = hipMemMap(range + kPage, kPage, 0, second, 0);
  hipMemAccessDesc access{};
  access.location = properties.location;
  access.flags = hipMemAccessFlagsProtReadWrite;
  const hipError_t set = hipMemSetAccess(range + kPage, kPage, &access, 1);
  check("hipMemMap with the handle that was not released", 0, static_cast<int>(mapped));
  check("hipMemSetAccess there", 0, static_cast<int>(set));
  return verdict();
}
