// Ranges, memory and mappings; the contract is in the header.
//
// A range is backed by pages of the process that nobody may touch. A mapping replaces a part of them by the pages of
// the physical memory, so that neighbouring mappings are contiguous for the model's copies, too.
#include "model/virtual_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace model {
namespace {

constexpr int kReservedPages = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

bool whole_pages(std::size_t size) {
  return size % kGranularity == 0;
}

// `flags` besides MAP_SHARED or MAP_PRIVATE. Null when the process has no addresses or memory left.
std::byte* map_pages(std::byte* at, std::size_t size, int protection, int flags) {
  void* const pages = mmap(at, size, protection, flags, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<std::byte*>(pages);
}

// A second view of the pages at `to` (mremap's manual page: an old size of 0 makes another mapping of the same pages).
// mremap may unmap the pages at `to` before it fails, so a failure puts reserved pages there again: no other mapping of
// the process may take these addresses.
bool share_pages(std::byte* from, std::byte* to, std::size_t size) {
  if (mremap(from, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED) return true;
  (void)map_pages(to, size, PROT_NONE, kReservedPages | MAP_FIXED);
  return false;
}

void unmap_pages(std::byte* pages, std::size_t size) {
  if (size != 0) munmap(pages, size);
}

AccessRight right_in(const std::map<int, AccessRight>& rights, int device) {
  const auto found = rights.find(device);
  return found == rights.end() ? AccessRight::kNone : found->second;
}

}  // namespace

VirtualMemory::VirtualMemory(ObjectTable& objects, AddressSpace& space) : objects_(objects), space_(space) {
  space_.virtual_ = this;
}

VirtualMemory::~VirtualMemory() {
  clear();
  space_.virtual_ = nullptr;
}

void VirtualMemory::clear() {
  mappings_.clear();
  for (const auto& [id, memory] : memories_) {
    objects_.remove(id);
    unmap_pages(memory.pages, memory.size);
    space_.live_bytes_ -= memory.size;
  }
  memories_.clear();
  for (const AddressRange& range : ranges_) unmap_pages(range.pages, range.size);
  ranges_.clear();
  next_name_ = kFirstMemoryName;
}

// With identity the pages are the addresses, so the wish and the alignment are theirs.
std::byte* VirtualMemory::reserve_pages(std::size_t size, std::size_t alignment, Address wish) const {
  if (!space_.options_.identity) return map_pages(nullptr, size, PROT_NONE, kReservedPages);
  if (wish % alignment == 0) {
    std::byte* const wished = map_pages(reinterpret_cast<std::byte*>(wish), size, PROT_NONE, kReservedPages);
    if (wished == nullptr || reinterpret_cast<Address>(wished) % alignment == 0) return wished;
    unmap_pages(wished, size);
  }
  if (size + alignment < size) return nullptr;
  std::byte* const pages = map_pages(nullptr, size + alignment, PROT_NONE, kReservedPages);
  if (pages == nullptr) return nullptr;
  const std::size_t before = (alignment - reinterpret_cast<Address>(pages) % alignment) % alignment;
  unmap_pages(pages, before);
  unmap_pages(pages + before + size, alignment - before);
  return pages + before;
}

Status VirtualMemory::reserve(std::size_t size, std::size_t alignment, Address wish, Address* out) {
  if (size == 0 || !whole_pages(size) || (alignment & (alignment - 1)) != 0) return Status::kInvalidValue;
  alignment = std::max(alignment, kGranularity);
  AddressRange range{.base = 0, .size = size, .pages = nullptr};
  if (!space_.options_.identity) {
    const std::optional<Address> base = space_.choose_for_range(size, alignment, wish);
    if (!base) return Status::kOutOfMemory;
    range.base = *base;
  }
  range.pages = reserve_pages(size, alignment, wish);
  if (range.pages == nullptr) return Status::kOutOfMemory;
  if (space_.options_.identity) range.base = reinterpret_cast<Address>(range.pages);
  ranges_.insert(std::ranges::upper_bound(ranges_, range.base, {}, &AddressRange::base), range);
  *out = range.base;
  return Status::kSuccess;
}

Status VirtualMemory::unreserve(Address base, std::size_t size) {
  const auto found = std::ranges::find(ranges_, base, &AddressRange::base);
  if (found == ranges_.end() || found->size != size) return Status::kInvalidValue;
  const auto first = mappings_.lower_bound(base);
  if (first != mappings_.end() && found->contains(first->first)) return Status::kInvalidValue;
  unmap_pages(found->pages, size);
  ranges_.erase(found);
  return Status::kSuccess;
}

Status VirtualMemory::create(std::size_t size, const PhysicalProperties& properties, ObjectId* out) {
  if (size == 0 || !whole_pages(size)) return Status::kInvalidValue;
  const std::size_t capacity = space_.options_.capacity;
  if (space_.live_bytes_ > capacity || size > capacity - space_.live_bytes_) return Status::kOutOfMemory;
  std::byte* const pages = map_pages(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE);
  if (pages == nullptr) return Status::kOutOfMemory;
  const std::byte fresh = space_.options_.fresh;
  if (fresh != std::byte{0}) std::memset(pages, static_cast<int>(fresh), size);
  PhysicalMemory memory{.id = 0, .size = size, .properties = properties, .pages = pages, .name = next_name_};
  memory.id = objects_.add(ObjectKind::kPhysicalMemory, pages);
  next_name_ += size + kGranularity;
  space_.live_bytes_ += size;
  memories_.emplace(memory.id, memory);
  *out = memory.id;
  return Status::kSuccess;
}

const PhysicalMemory* VirtualMemory::find_memory(std::uint64_t id) const {
  if (objects_.find(ObjectKind::kPhysicalMemory, id) == nullptr) return nullptr;
  const PhysicalMemory& memory = memories_.at(static_cast<ObjectId>(id));
  return memory.handles == 0 ? nullptr : &memory;
}

void VirtualMemory::drop_if_unused(PhysicalMemory& memory) {
  if (memory.handles != 0 || memory.mappings != 0) return;
  objects_.remove(memory.id);
  unmap_pages(memory.pages, memory.size);
  space_.live_bytes_ -= memory.size;
  memories_.erase(memory.id);
}

Status VirtualMemory::release(std::uint64_t id) {
  if (find_memory(id) == nullptr) return Status::kInvalidValue;
  PhysicalMemory& memory = memories_.at(static_cast<ObjectId>(id));
  --memory.handles;
  drop_if_unused(memory);
  return Status::kSuccess;
}

Status VirtualMemory::retain(Address address, ObjectId* out) {
  const Mapping* mapping = mapping_at(address);
  if (mapping == nullptr) return Status::kInvalidValue;
  ++mapping->memory->handles;
  *out = mapping->memory->id;
  return Status::kSuccess;
}

Status VirtualMemory::map(Address base, std::size_t size, std::uint64_t id) {
  const AddressRange* range = range_at(base);
  if (find_memory(id) == nullptr || range == nullptr || size == 0 || !whole_pages(size)) return Status::kInvalidValue;
  PhysicalMemory& memory = memories_.at(static_cast<ObjectId>(id));
  const std::size_t offset = base - range->base;
  if (!whole_pages(offset) || size > range->size - offset || size > memory.size) return Status::kInvalidValue;
  const auto next = mappings_.lower_bound(base);
  if (mapping_at(base) != nullptr || (next != mappings_.end() && next->first - base < size)) {
    return Status::kInvalidValue;
  }
  if (!share_pages(memory.pages, range->pages + offset, size)) return Status::kOutOfMemory;
  ++memory.mappings;
  Mapping& mapping = mappings_[base];
  mapping.memory = &memory;
  mapping.allocation.id = ++space_.last_id_;
  mapping.allocation.base = base;
  mapping.allocation.size = size;
  mapping.allocation.device = memory.properties.device;
  mapping.allocation.bytes = range->pages + offset;
  mapping.allocation.physical = memory.id;
  return Status::kSuccess;
}

std::vector<VirtualMemory::Mapping*> VirtualMemory::whole_mappings(Address base, std::size_t size) {
  std::vector<Mapping*> found;
  const AddressRange* range = range_at(base);
  if (range == nullptr || size == 0 || size > range->base + range->size - base) return {};
  for (Address at = base; at < base + size;) {
    const auto mapping = mappings_.find(at);
    if (mapping == mappings_.end()) return {};
    found.push_back(&mapping->second);
    at += mapping->second.allocation.size;
    if (at > base + size) return {};
  }
  return found;
}

Status VirtualMemory::unmap(Address base, std::size_t size) {
  const std::vector<Mapping*> mappings = whole_mappings(base, size);
  if (mappings.empty()) return Status::kInvalidValue;
  std::byte* const pages = mappings.front()->allocation.bytes;
  if (map_pages(pages, size, PROT_NONE, kReservedPages | MAP_FIXED) == nullptr) return Status::kOutOfMemory;
  for (Mapping* mapping : mappings) {
    --mapping->memory->mappings;
    drop_if_unused(*mapping->memory);
    mappings_.erase(mapping->allocation.base);
  }
  return Status::kSuccess;
}

Status VirtualMemory::set_access(Address base, std::size_t size, std::span<const DeviceRight> rights,
                                 std::vector<MappingPart>* changed) {
  const std::vector<Mapping*> mappings = whole_mappings(base, size);
  if (mappings.empty()) return Status::kInvalidValue;
  for (Mapping* mapping : mappings) {
    const auto before = mapping->rights;
    for (const DeviceRight& one : rights) {
      if (one.right == AccessRight::kNone) mapping->rights.erase(one.device);
      if (one.right != AccessRight::kNone) mapping->rights[one.device] = one.right;
    }
    const Allocation& of = mapping->allocation;
    MappingPart part{{of.base, of.base + of.size}, {}, of.device};
    for (const DeviceRight& one : rights) {
      if (right_in(before, one.device) != right_in(mapping->rights, one.device)) part.devices.insert(one.device);
    }
    if (!part.devices.empty()) changed->push_back(std::move(part));
  }
  return Status::kSuccess;
}

Status VirtualMemory::get_access(Address address, int device, AccessRight* out) const {
  const Mapping* mapping = mapping_at(address);
  if (mapping == nullptr) return Status::kInvalidValue;
  *out = right_in(mapping->rights, device);
  return Status::kSuccess;
}

const VirtualMemory::Mapping* VirtualMemory::mapping_at(Address address) const {
  const auto next = mappings_.upper_bound(address);
  if (next == mappings_.begin()) return nullptr;
  const Mapping& mapping = std::prev(next)->second;
  return mapping.allocation.contains(address) ? &mapping : nullptr;
}

const Allocation* VirtualMemory::find(Address address) const {
  const Mapping* mapping = mapping_at(address);
  return mapping == nullptr ? nullptr : &mapping->allocation;
}

const AddressRange* VirtualMemory::range_at(Address address) const {
  const auto next = std::ranges::upper_bound(ranges_, address, {}, &AddressRange::base);
  if (next == ranges_.begin()) return nullptr;
  return std::prev(next)->contains(address) ? &*std::prev(next) : nullptr;
}

Denial VirtualMemory::denied(const Mapping* mapping, bool write, Accessor who, int device) {
  if (mapping == nullptr) return Denial::kUnmapped;
  if (who == Accessor::kHost) return Denial::kNoAccess;
  AccessRight right = right_in(mapping->rights, device);
  if (who == Accessor::kCopy) right = std::max(right, right_in(mapping->rights, mapping->allocation.device));
  if (right == AccessRight::kNone) return Denial::kNoAccess;
  return write && right == AccessRight::kRead ? Denial::kReadOnly : Denial::kNone;
}

// A copy or memset without access faults when it runs, as 7.2 does. (CUDA 13.0 on an H200 refuses copies and memsets of
// streams at once, hipErrorInvalidValue; so do the tests of hipMemSetGetAccess.cc that are NVIDIA's alone.)
std::byte* VirtualMemory::access(Address address, std::size_t size, bool write, Accessor who, int device,
                                 BadAccess* why) const {
  const AddressRange* range = range_at(address);
  assert(range != nullptr);
  Denial denial = Denial::kNone;
  bool overrun = size > range->base + range->size - address;
  for (Address at = address; !overrun && at - address < size;) {
    const Mapping* mapping = mapping_at(at);
    denial = denied(mapping, write, who, device);
    if (denial != Denial::kNone) {
      overrun = at != address;
      break;
    }
    at = mapping->allocation.base + mapping->allocation.size;
  }
  if (!overrun && denial == Denial::kNone) return range->pages + (address - range->base);
  if (why == nullptr) return nullptr;
  const Allocation* first = find(address);
  *why = {.address = address,
          .size = size,
          .write = write,
          .freed = false,
          .overrun = overrun,
          .denial = denial,
          .device = device,
          .allocation = Allocation{}};
  if (first != nullptr) why->allocation = *first;
  if (first == nullptr) why->allocation->base = range->base, why->allocation->size = range->size;
  why->allocation->bytes = nullptr;
  return nullptr;
}

std::byte* VirtualMemory::peek(Address address, std::size_t size) const {
  const AddressRange* range = range_at(address);
  if (range == nullptr || size > range->base + range->size - address) return nullptr;
  for (Address at = address; at - address < size;) {
    const Mapping* mapping = mapping_at(at);
    if (mapping == nullptr) return nullptr;
    at = mapping->allocation.base + mapping->allocation.size;
  }
  return range->pages + (address - range->base);
}

IntervalSet VirtualMemory::named(const IntervalSet& set, IntervalSet* mapped) const {
  IntervalSet out;
  for (const Interval& interval : set.intervals()) {
    for (Address at = interval.begin; at < interval.end;) {
      const Mapping* mapping = mapping_at(at);
      const auto next = mappings_.upper_bound(at);
      Address end = next == mappings_.end() ? interval.end : std::min(interval.end, next->first);
      if (mapping == nullptr) {
        out.add(at, end - at);
      } else {
        const Allocation& of = mapping->allocation;
        end = std::min(end, of.base + of.size);
        out.add(mapping->memory->name + (at - of.base), end - at);
        mapped->add(at, end - at);
      }
      at = end;
    }
  }
  return out;
}

void VirtualMemory::name_by_memory(AccessLog* log) const {
  if (mappings_.empty()) return;
  log->reads = named(log->reads, &log->mapped_reads);
  log->writes = named(log->writes, &log->mapped_writes);
}

Interval VirtualMemory::address_of(const Interval& bytes) const {
  for (const auto& [base, mapping] : mappings_) {
    const Address offset = bytes.begin - mapping.memory->name;
    if (bytes.begin < mapping.memory->name || offset >= mapping.allocation.size) continue;
    return {base + offset, base + std::min(mapping.allocation.size, offset + (bytes.end - bytes.begin))};
  }
  return bytes;
}

}  // namespace model
