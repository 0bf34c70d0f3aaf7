// memfd and mmap; the contract is in the header.
#include "hip/agent/virtual_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace agent {
namespace {

constexpr int kNothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

bool bad_size(u64 size) {
  return size == 0 || size % kPage != 0 || size > (u64{1} << 46);
}

}  // namespace

PhysicalMemory::~PhysicalMemory() {
  if (file >= 0) close(file);
  if (key != 0) munmap(pointer_to(key), size);
  if (counted != nullptr) counted->fetch_sub(size, std::memory_order_relaxed);
}

bool PhysicalMemory::take_key() {
  void* addresses = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (addresses != MAP_FAILED) key = address_of(addresses);
  return key != 0;
}

VirtualMemory::~VirtualMemory() {
  for (const auto& [base, mapping] : mappings_) munmap(pointer_to(base), mapping.size);
  for (const auto& [base, size] : reserved_) munmap(pointer_to(base), size);
}

hsa_status_t VirtualMemory::reserve(u64 size, u64 hint, u64 alignment, u64* base) {
  if (base == nullptr || bad_size(size)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (alignment == 0) alignment = kPage;
  if ((alignment & (alignment - 1)) != 0 || alignment < kPage) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const u64 whole = size + (alignment > kPage ? alignment : 0);
  void* p = mmap(pointer_to(hint), whole, PROT_NONE, kNothing, -1, 0);
  if (p == MAP_FAILED) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const u64 start = address_of(p);
  const u64 aligned = round_up(start, alignment);
  if (aligned != start) munmap(p, aligned - start);
  const u64 tail = start + whole - (aligned + size);
  if (tail != 0) munmap(pointer_to(aligned + size), tail);
  const hip::sync::LockGuard lock(mutex_);
  reserved_[aligned] = size;
  *base = aligned;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::free(u64 base, u64 size) {
  const hip::sync::LockGuard lock(mutex_);
  const auto it = reserved_.find(base);
  if (it == reserved_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (it->second != size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto mapped = mappings_.lower_bound(base);
  if (mapped != mappings_.end() && mapped->first < base + size) return HSA_STATUS_ERROR_RESOURCE_FREE;
  munmap(pointer_to(base), size);
  reserved_.erase(it);
  return HSA_STATUS_SUCCESS;
}

u64 VirtualMemory::add_handle(std::shared_ptr<PhysicalMemory> memory) {
  const u64 key = memory->key;
  Handle& handle = handles_[key];
  handle.references = handle.memory == nullptr ? 1 : handle.references + 1;
  handle.memory = std::move(memory);
  return key;
}

hsa_status_t VirtualMemory::create(u64 size, u32 owner, u32 pool, u64* handle) {
  if (handle == nullptr || bad_size(size)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto memory = std::make_shared<PhysicalMemory>();
  memory->file = memfd_create("hgagent", MFD_CLOEXEC);
  memory->size = size;
  memory->owner = owner;
  memory->pool = pool;
  if (memory->file < 0 || ftruncate(memory->file, static_cast<off_t>(size)) != 0 || !memory->take_key()) {
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  memory->counted = &bytes_[owner];
  memory->counted->fetch_add(size, std::memory_order_relaxed);
  const hip::sync::LockGuard lock(mutex_);
  *handle = add_handle(std::move(memory));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::release(u64 handle) {
  const hip::sync::LockGuard lock(mutex_);
  const auto it = handles_.find(handle);
  if (it == handles_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (--it->second.references == 0) handles_.erase(it);
  return HSA_STATUS_SUCCESS;
}

std::optional<u64> VirtualMemory::reservation_of(u64 base, u64 size) const {
  auto it = reserved_.upper_bound(base);
  if (it == reserved_.begin()) return std::nullopt;
  --it;
  const bool inside = base - it->first <= it->second && size <= it->second - (base - it->first);
  return inside ? std::optional(it->first) : std::nullopt;
}

hsa_status_t VirtualMemory::map(u64 base, u64 size, u64 offset, u64 handle) {
  if (bad_size(size) || base % kPage != 0 || offset != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const hip::sync::LockGuard lock(mutex_);
  const auto it = handles_.find(handle);
  if (it == handles_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (it->second.memory->size != size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const std::optional<u64> reservation = reservation_of(base, size);
  if (!reservation) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto next = mappings_.lower_bound(base);
  const bool over_next = next != mappings_.end() && next->first < base + size;
  const bool over_last = next != mappings_.begin() && std::prev(next)->first + std::prev(next)->second.size > base;
  if (over_next || over_last) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  void* p = mmap(pointer_to(base), size, PROT_NONE, MAP_SHARED | MAP_FIXED, it->second.memory->file, 0);
  if (p == MAP_FAILED) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  mappings_[base] = {size, 0, 0, it->second.memory};
  Range range;
  range.base = base;
  range.size = size;
  range.kind = Kind::kMapped;
  range.owner = it->second.memory->owner;
  range.pool = it->second.memory->pool;
  range.reservation = *reservation;
  map_.insert(range);
  return HSA_STATUS_SUCCESS;
}

void VirtualMemory::unmap_one(u64 base, const Mapping& mapping) {
  map_.erase(base, Kind::kMapped);
  // If a kernel still uses the mapping, its pages stay until the addresses are used again; the map refuses accesses.
  if (map_.quiesce()) mmap(pointer_to(base), mapping.size, PROT_NONE, kNothing | MAP_FIXED, -1, 0);
}

VirtualMemory::Mappings VirtualMemory::mappings_of(u64 base, u64 size) {
  u64 end = base;
  auto last = mappings_.find(base);
  const auto first = last;
  while (last != mappings_.end() && last->first == end && end < base + size) {
    end += last->second.size;
    ++last;
  }
  return end == base + size ? Mappings(first, last) : Mappings(last, last);
}

hsa_status_t VirtualMemory::unmap(u64 base, u64 size) {
  const hip::sync::LockGuard lock(mutex_);
  const auto [first, last] = mappings_of(base, size);
  if (first == last) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  for (auto it = first; it != last; ++it) unmap_one(it->first, it->second);
  mappings_.erase(first, last);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::set_access(u64 base, u64 size, AgentSet agents, AgentSet readers, AgentSet writers) {
  const hip::sync::LockGuard lock(mutex_);
  const auto [first, last] = mappings_of(base, size);
  if (first == last) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  for (auto it = first; it != last; ++it) {
    Mapping& m = it->second;
    m.readers = (m.readers & ~agents) | readers;
    m.writers = (m.writers & ~agents) | writers;
    // The pages never lose access here, because a kernel may be using them. The map refuses forbidden accesses.
    if ((m.readers | m.writers) != 0) mprotect(pointer_to(it->first), m.size, PROT_READ | PROT_WRITE);
    map_.set_access(it->first, m.readers, m.writers);
  }
  return HSA_STATUS_SUCCESS;
}

std::map<u64, VirtualMemory::Mapping>::iterator VirtualMemory::mapping_at(u64 address) {
  auto it = mappings_.upper_bound(address);
  if (it == mappings_.begin()) return mappings_.end();
  --it;
  return address - it->first < it->second.size ? it : mappings_.end();
}

hsa_status_t VirtualMemory::get_access(u64 address, u32 agent, hsa_access_permission_t* permission) {
  const hip::sync::LockGuard lock(mutex_);
  const auto it = mapping_at(address);
  if (it == mappings_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const bool reads = (it->second.readers & agent_bit(agent)) != 0;
  const bool writes = (it->second.writers & agent_bit(agent)) != 0;
  *permission = HSA_ACCESS_PERMISSION_NONE;
  if (reads) *permission = writes ? HSA_ACCESS_PERMISSION_RW : HSA_ACCESS_PERMISSION_RO;
  if (!reads && writes) *permission = HSA_ACCESS_PERMISSION_WO;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::retain(u64 address, u64* handle) {
  const hip::sync::LockGuard lock(mutex_);
  const auto it = mapping_at(address);
  if (it == mappings_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  *handle = add_handle(it->second.memory);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::export_handle(u64 handle, int* file) {
  const hip::sync::LockGuard lock(mutex_);
  const auto it = handles_.find(handle);
  if (it == handles_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  *file = dup(it->second.memory->file);
  return *file < 0 ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::import_handle(int file, u64* handle) {
  struct stat about{};
  if (fstat(file, &about) != 0 || bad_size(static_cast<u64>(about.st_size))) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto memory = std::make_shared<PhysicalMemory>();
  memory->file = dup(file);
  memory->size = static_cast<u64>(about.st_size);
  memory->owner = 1;
  if (memory->file < 0 || !memory->take_key()) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const hip::sync::LockGuard lock(mutex_);
  *handle = add_handle(std::move(memory));
  return HSA_STATUS_SUCCESS;
}

bool VirtualMemory::find_reservation(u64 address, u64* base, u64* size) const {
  const hip::sync::LockGuard lock(mutex_);
  auto it = reserved_.upper_bound(address);
  if (it == reserved_.begin()) return false;
  --it;
  if (address - it->first >= it->second) return false;
  *base = it->first;
  *size = it->second;
  return true;
}

u64 VirtualMemory::reservations() const {
  const hip::sync::LockGuard lock(mutex_);
  return reserved_.size();
}

u64 VirtualMemory::handles() const {
  const hip::sync::LockGuard lock(mutex_);
  return handles_.size();
}

}  // namespace agent
