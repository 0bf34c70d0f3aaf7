#include "verify/execute/mapped_allocations.h"

#include <algorithm>
#include <utility>

#include "hip/errors.h"

namespace verify {

const char* MappedAllocations::missing_function(const hip::Api& api) {
  using hip::Api;
  return hip::first_missing<&Api::hipMemGetAllocationGranularity, &Api::hipMemAddressReserve, &Api::hipMemAddressFree,
                            &Api::hipMemCreate, &Api::hipMemRelease, &Api::hipMemMap, &Api::hipMemUnmap,
                            &Api::hipMemSetAccess, &Api::hipMemGetAccess>(api);
}

hip::Result<std::uint64_t> MappedAllocations::granularity() {
  if (granularity_ != 0) return granularity_;
  std::uint64_t largest = 1;
  for (Id device = 0; device < devices_; ++device) {
    const hipMemAllocationProp properties = hip::memory_of_device(static_cast<int>(device));
    std::size_t bytes = 0;
    hip::Status asked = hip::call<&hip::Api::hipMemGetAllocationGranularity>(platform_.api(), &bytes, &properties,
                                                                             hipMemAllocationGranularityMinimum);
    if (!asked) return asked.error();
    largest = std::max<std::uint64_t>(largest, bytes);
  }
  return granularity_ = largest;
}

hip::Status MappedAllocations::map(void* range, const hip::PhysicalMemory& memory) const {
  const hip::Api& api = platform_.api();
  hip::Status status = hip::call<&hip::Api::hipMemMap>(api, range, memory.bytes, std::size_t{0}, memory.handle, 0ULL);
  if (!status) return status;
  std::vector<hipMemAccessDesc> access(devices_);
  for (Id device = 0; device < devices_; ++device) {
    access[device].location = hip::memory_of_device(static_cast<int>(device)).location;
    access[device].flags = hipMemAccessFlagsProtReadWrite;
  }
  status = hip::call<&hip::Api::hipMemSetAccess>(api, range, memory.bytes, access.data(), access.size());
  if (status) return status;
  return hip::both(std::move(status), hip::call<&hip::Api::hipMemUnmap>(api, range, memory.bytes));
}

hip::Result<void*> MappedAllocations::allocate(std::uint64_t bytes, Id device) {
  const hip::Api& api = platform_.api();
  const hip::Result<std::uint64_t> unit = granularity();
  if (!unit) return unit.error();
  hip::PhysicalMemory memory;
  memory.bytes = (bytes + unit.value() - 1) / unit.value() * unit.value();
  memory.number = ++numbers_;
  const hipMemAllocationProp properties = hip::memory_of_device(static_cast<int>(device));
  const hip::Result<void*> range = ranges_.reserve(api, memory.bytes);
  if (!range) return range.error();
  hip::Status status = hip::call<&hip::Api::hipMemCreate>(api, &memory.handle, memory.bytes, &properties, 0ULL);
  if (status) {
    status = map(range.value(), memory);
    if (!status) status = hip::both(std::move(status), hip::call<&hip::Api::hipMemRelease>(api, memory.handle));
  }
  if (!status) {
    return hip::both(std::move(status), ranges_.free(api, range.value(), memory.bytes)).error();
  }
  allocations_[reinterpret_cast<hip::DeviceAddress>(range.value())] = memory;
  return range;
}

hip::Status MappedAllocations::give_up(void* address) {
  const hip::PhysicalMemory* const memory = at(reinterpret_cast<hip::DeviceAddress>(address));
  if (memory == nullptr) return hip::Error{hipErrorInvalidValue, "no mapped allocation begins there"};
  for (Holder* const holder : holders_) {
    if (hip::Status given = holder->give_up(memory->number); !given) return given;
  }
  return {};
}

hip::Status MappedAllocations::free(void* address) {
  if (hip::Status given = give_up(address); !given) return given;
  const hip::Api& api = platform_.api();
  const auto found = allocations_.find(reinterpret_cast<hip::DeviceAddress>(address));
  const hip::PhysicalMemory memory = found->second;
  allocations_.erase(found);
  hip::Status all = hip::call<&hip::Api::hipMemUnmap>(api, address, memory.bytes);
  const bool unmapped = all.ok();
  all = hip::both(std::move(all), hip::call<&hip::Api::hipMemRelease>(api, memory.handle));
  return hip::both(std::move(all), ranges_.free(api, address, memory.bytes, unmapped));
}

hip::Status MappedAllocations::free_all() {
  hip::Status all;
  std::vector<hip::DeviceAddress> addresses;
  for (const auto& [address, memory] : allocations_) addresses.push_back(address);
  for (const hip::DeviceAddress address : addresses)
    all = hip::both(std::move(all), free(reinterpret_cast<void*>(address)));
  return all;
}

const hip::PhysicalMemory* MappedAllocations::at(hip::DeviceAddress address) const {
  const auto found = allocations_.find(address);
  return found == allocations_.end() ? nullptr : &found->second;
}

}  // namespace verify
