#include "hip/cached_allocator.h"

#include <cassert>
#include <iterator>
#include <utility>

#include "hip/beside_captures.h"
#include "hip/device_scope.h"

namespace hip {
static std::uintptr_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

CachedAllocator::CachedAllocator(const Api& api, const CachedAllocatorOptions& options)
    : api_(api), options_(options) {}

CachedAllocator::~CachedAllocator() {
  const auto empty = [this] {
    const sync::LockGuard lock(mutex_);
    return cache_.read().entries.empty() && cache_.read().stuck.empty();
  };
  for (int attempt = 0; !empty() && attempt < 2; ++attempt) options_.errors(clear());
}

Result<void*> CachedAllocator::allocate(std::size_t bytes) const {
  const BesideCaptures beside(api_, options_.errors);
  const Result<DeviceScope> scope = DeviceScope::enter(api_, options_.device, options_.errors);
  if (!scope) return scope.error();
  void* memory = nullptr;
  const Status status = call<&Api::hipMalloc>(api_, &memory, bytes);
  if (!status) return status.error();
  return memory;
}

Status CachedAllocator::free(void* memory) const {
  const BesideCaptures beside(api_, options_.errors);
  return call<&Api::hipFree>(api_, memory);
}

// Puts `entry` into the place `in`, instead of the allocation that was kept there.
void CachedAllocator::keep(Cache& cache, Entry& in, const Entry& entry) {
  if (in.address != nullptr) cache.extents.erase(number(in.address));
  cache.extents.emplace(number(entry.address), number(entry.address) + entry.bytes);
  in = entry;
}

Result<CachedAllocator::Buffer> CachedAllocator::get(Name name, std::size_t bytes) {
  assert(bytes != 0);
  const sync::LockGuard lock(mutex_);
  Cache& cache = cache_.write();
  const auto found = cache.entries.find(name);
  if (found != cache.entries.end() && found->second.bytes >= bytes) {
    return Buffer{found->second.address, found->second.bytes, false};
  }
  const Result<void*> memory = allocate(bytes);
  if (!memory) return memory.error();
  Entry& entry = found == cache.entries.end() ? cache.entries[name] : found->second;
  void* const smaller = entry.address;
  keep(cache, entry, {memory.value(), bytes});
  if (smaller != nullptr) {
    // The smaller buffer has no name any more: a failure to free it is reported, not returned, and clear() tries again.
    if (const Status status = free(smaller); !status) {
      cache.stuck.push_back(smaller);
      options_.errors(status);
    }
  }
  return Buffer{memory.value(), bytes, true};
}

bool CachedAllocator::replaces(Name name, std::size_t bytes) const {
  const sync::LockGuard lock(mutex_);
  const std::map<Name, Entry>& entries = cache_.read().entries;
  const auto found = entries.find(name);
  return found != entries.end() && found->second.bytes < bytes;
}

// Looks only at the last allocation that begins before the end of the bytes: allocations do not overlap, so no earlier
// one reaches the bytes.
bool CachedAllocator::holds(const void* address, std::size_t bytes) const {
  const sync::LockGuard lock(mutex_);
  const std::map<std::uintptr_t, std::uintptr_t>& extents = cache_.read().extents;
  const auto behind = extents.lower_bound(number(address) + bytes);
  return behind != extents.begin() && std::prev(behind)->second > number(address);
}

std::size_t CachedAllocator::size() const {
  const sync::LockGuard lock(mutex_);
  return cache_.read().entries.size();
}

Status CachedAllocator::release(Name name) {
  const sync::LockGuard lock(mutex_);
  Cache& cache = cache_.write();
  const auto found = cache.entries.find(name);
  if (found == cache.entries.end()) return {};
  Status status = free(found->second.address);
  if (!status) cache.stuck.push_back(found->second.address);
  cache.extents.erase(number(found->second.address));
  cache.entries.erase(found);
  return status;
}

Status CachedAllocator::clear() {
  const sync::LockGuard lock(mutex_);
  Cache& cache = cache_.write();
  for (const auto& [name, entry] : cache.entries) cache.stuck.push_back(entry.address);
  cache.entries.clear();
  cache.extents.clear();
  Status all;
  std::erase_if(cache.stuck, [&](void* memory) {
    const Status status = free(memory);
    all = both(std::move(all), status);
    return status.ok();
  });
  return all;
}

}  // namespace hip
