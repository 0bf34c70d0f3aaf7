#include "verify/run/mapped_memory.h"

#include <utility>
#include <vector>

#include "hip/errors.h"
#include "verify/execute/devices.h"
#include "verify/run/run.h"

namespace verify {

namespace {

void* pointer_to(hip::DeviceAddress base, std::uint32_t page) {
  return reinterpret_cast<void*>(base + page * kPageBytes);
}

hipMemLocation location_of(Id device) {
  return hip::memory_of_device(static_cast<int>(device)).location;
}

hipMemAccessDesc access_of(Id device, AccessRight right) {
  static constexpr hipMemAccessFlags kFlags[] = {hipMemAccessFlagsProtNone, hipMemAccessFlagsProtRead,
                                                 hipMemAccessFlagsProtReadWrite};
  hipMemAccessDesc access{};
  access.location = location_of(device);
  access.flags = kFlags[static_cast<std::size_t>(right)];
  return access;
}

}  // namespace

MappedMemory::Range* MappedMemory::range(Id id) {
  const auto found = ranges_.find(id);
  return found == ranges_.end() ? nullptr : &found->second;
}

hip::Result<std::size_t> MappedMemory::granularity(Id device) const {
  const hipMemAllocationProp properties = hip::memory_of_device(static_cast<int>(device));
  std::size_t bytes = 0;
  hip::Status status = hip::call<&hip::Api::hipMemGetAllocationGranularity>(
      context_.interposer.inner(), &bytes, &properties, hipMemAllocationGranularityMinimum);
  if (!status) return status.error();
  return bytes;
}

hip::Status MappedMemory::reserve(const ReserveRange& c) {
  const std::size_t bytes = c.pages * kPageBytes;
  const hip::Result<hip::DeviceAddress> base = memory_.place_range([&](void** out) {
    return hip::call<&hip::Api::hipMemAddressReserve>(context_.api, out, bytes, std::size_t{0}, nullptr, 0ULL);
  });
  if (!base) return base.error();
  ranges_[c.range] = {base.value(), bytes, c.device};
  return {};
}

hip::Status MappedMemory::unreserve(const FreeRange& c) {
  Range* const found = range(c.range);
  if (found == nullptr) return missing_object();
  hip::Status status = hip::call<&hip::Api::hipMemAddressFree>(context_.api, pointer_to(found->base, 0), found->bytes);
  if (!status) return status;
  ranges_.erase(c.range);
  std::erase_if(views_, [&c](const auto& view) { return view.second == c.range; });
  return status;
}

hip::Status MappedMemory::create(const CreatePhysical& c) {
  Memory memory{c.pages * kPageBytes, {nullptr}};
  const hipMemAllocationProp properties = hip::memory_of_device(static_cast<int>(c.device));
  hip::Status status =
      hip::call<&hip::Api::hipMemCreate>(context_.api, &memory.handles.back(), memory.bytes, &properties, 0ULL);
  if (!status) return status;
  status = fill(c, memory);
  if (status) {
    memories_[c.memory] = memory;
  } else {  // the command may be run again
    static_cast<void>(hip::call<&hip::Api::hipMemRelease>(context_.interposer.inner(), memory.handles.back()));
  }
  return status;
}

hip::Status MappedMemory::fill(const CreatePhysical& c, const Memory& memory) {
  const hip::Api& api = context_.interposer.inner();
  if (hip::Status status = synchronize_devices(api, context_.devices); !status) return status;
  const hip::Result<void*> at = own_ranges_.reserve(api, memory.bytes);
  if (!at) return at.error();
  hip::Status unmapped, status = hip::call<&hip::Api::hipMemMap>(api, at.value(), memory.bytes, std::size_t{0},
                                                                 memory.handles.back(), 0ULL);
  if (status) {
    status = fill_at(c, at.value());
    unmapped = hip::call<&hip::Api::hipMemUnmap>(api, at.value(), memory.bytes);
    if (status) status = unmapped;
  }
  hip::Status freed = own_ranges_.free(api, at.value(), memory.bytes, unmapped.ok());
  return status ? freed : status;
}

hip::Status MappedMemory::fill_at(const CreatePhysical& c, void* at) {
  std::vector<std::byte> bytes(c.pages * kPageBytes);
  fill_pattern(c.memory, kSeedOfPhysical, bytes);
  const hipMemAccessDesc access = access_of(c.device, AccessRight::kReadWrite);
  hip::Status status =
      hip::call<&hip::Api::hipMemSetAccess>(context_.interposer.inner(), at, bytes.size(), &access, 1U);
  if (!status) return status;
  return on_device(context_.interposer.inner(), c.device, [&] {
    return platform_.store(reinterpret_cast<hip::DeviceAddress>(at), bytes.data(), bytes.size());
  });
}

hip::Status MappedMemory::release(const ReleasePhysical& c) {
  const auto found = memories_.find(c.memory);
  if (found == memories_.end() || found->second.handles.empty()) return missing_object();
  hip::Status status = hip::call<&hip::Api::hipMemRelease>(context_.api, found->second.handles.back());
  if (status) found->second.handles.pop_back();
  return status;
}

hip::Status MappedMemory::retain(const RetainMemory& c) {
  Range* const found = range(c.range);
  if (found == nullptr || !found->mappings.contains(c.page)) return missing_object();
  hipMemGenericAllocationHandle_t handle = nullptr;
  hip::Status status =
      hip::call<&hip::Api::hipMemRetainAllocationHandle>(context_.api, &handle, pointer_to(found->base, c.page));
  if (status) memories_.at(found->mappings.at(c.page).memory).handles.push_back(handle);
  return status;
}

hip::Status MappedMemory::map(const MapMemory& c) {
  Range* const found = range(c.range);
  const auto memory = memories_.find(c.memory);
  if (found == nullptr || memory == memories_.end() || memory->second.handles.empty()) return missing_object();
  const std::size_t bytes = memory->second.bytes;
  hip::Status status = hip::call<&hip::Api::hipMemMap>(context_.api, pointer_to(found->base, c.page), bytes,
                                                       std::size_t{0}, memory->second.handles.back(), 0ULL);
  if (status) found->mappings[c.page] = {bytes, c.memory};
  return status;
}

hip::Status MappedMemory::unmap(const UnmapMemory& c) {
  Range* const found = range(c.range);
  if (found == nullptr || !found->mappings.contains(c.page)) return missing_object();
  hip::Status status = hip::call<&hip::Api::hipMemUnmap>(context_.api, pointer_to(found->base, c.page),
                                                         found->mappings.at(c.page).bytes);
  if (status) found->mappings.erase(c.page);
  return status;
}

hip::Result<hipMemAccessFlags> MappedMemory::set_access(const SetAccess& c) {
  Range* const found = range(c.range);
  if (found == nullptr || !found->mappings.contains(c.page)) return missing_object().error();
  void* const at = pointer_to(found->base, c.page);
  const hipMemAccessDesc access = access_of(c.device, c.right);
  hip::Status status = hip::call<&hip::Api::hipMemSetAccess>(context_.api, at, found->mappings.at(c.page).bytes,
                                                             &access, std::size_t{1});
  if (!status) return status.error();
  unsigned long long flags = 0;
  status = hip::call<&hip::Api::hipMemGetAccess>(context_.api, &flags, &access.location, at);
  if (!status) return status.error();
  return static_cast<hipMemAccessFlags>(flags);
}

hip::Status MappedMemory::view(const DeclareView& c) {
  const Range* const found = range(c.range);
  if (found == nullptr) return missing_object();
  views_[c.buffer] = c.range;
  context_.buffer_bytes[c.buffer] = c.bytes;
  context_.buffer_devices[c.buffer] = found->device;
  memory_.show_elsewhere(c.buffer, c.bytes, found->base + c.page * kPageBytes, found->device);
  return {};
}

hip::Status MappedMemory::give_back() {
  const hip::Api& api = context_.interposer.inner();
  hip::Status first;
  const auto keep = [&first](hip::Status status) {
    if (first) first = std::move(status);
  };
  std::set<Id> mapped;  // the ranges where memory may still be
  for (const auto& [id, range] : ranges_) {
    for (const auto& [page, mapping] : range.mappings) {
      hip::Status unmapped = hip::call<&hip::Api::hipMemUnmap>(api, pointer_to(range.base, page), mapping.bytes);
      if (!unmapped) mapped.insert(id);
      keep(std::move(unmapped));
    }
  }
  for (const auto& [id, memory] : memories_) {
    for (const auto handle : memory.handles) keep(hip::call<&hip::Api::hipMemRelease>(api, handle));
  }
  for (const auto& [id, range] : ranges_)
    keep(own_ranges_.free(api, pointer_to(range.base, 0), range.bytes, !mapped.contains(id)));
  ranges_.clear();
  memories_.clear();
  return first;
}

}  // namespace verify
