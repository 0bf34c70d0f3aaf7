#include "verify/execute/stream_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hip/errors.h"
#include "verify/execute/strategy.h"

namespace verify {

namespace {

constexpr int kDevice = 0;  // that programs run on

void* pointer(hip::DeviceAddress address) {
  return reinterpret_cast<void*>(address);
}

hipMemPoolAttr hip_attribute(PoolAttribute attribute) {
  return static_cast<hipMemPoolAttr>(static_cast<int>(attribute) + 1);
}

// HIP's header: the flags are enabled by default, and nothing is held onto.
std::uint64_t value_at_first(PoolAttribute attribute) {
  return attribute == PoolAttribute::kThreshold ? 0 : 1;
}

}  // namespace

hipMemPool_t StreamMemory::pool(Id id) const {
  const auto found = pools_.find(id);
  return found == pools_.end() ? nullptr : found->second;
}

hip::Result<hip::DeviceAddress> StreamMemory::call(const MallocAsync& c, hipStream_t stream) {
  const hip::Api& api = machine_.api;
  const char* name = c.pool ? "hipMallocFromPoolAsync" : "hipMallocAsync";
  const bool there = c.pool ? api.hipMallocFromPoolAsync != nullptr : api.hipMallocAsync != nullptr;
  if (!there || api.hipFreeAsync == nullptr) return lacking(machine_, there ? "hipFreeAsync" : name);
  void* memory = nullptr;
  const hipError_t code = c.pool ? api.hipMallocFromPoolAsync(&memory, c.bytes, pool(*c.pool), stream)
                                 : api.hipMallocAsync(&memory, c.bytes, stream);
  if (hip::Status status = hip::called(code, name); !status) return status.error();
  return reinterpret_cast<hip::DeviceAddress>(memory);
}

hip::Status StreamMemory::allocate(const MallocAsync& c, hipStream_t stream) {
  const hip::Result<hip::DeviceAddress> address = call(c, stream);
  if (!address) return address.error();
  live_[c.buffer] = {c.bytes, c.pool ? c.pool : in_use_};
  machine_.buffer_bytes[c.buffer] = c.bytes;
  memory_.show_elsewhere(c.buffer, c.bytes, address.value());
  return {};
}

hip::Status StreamMemory::free(Id buffer) {
  hip::Status status =
      hip::called(machine_.api.hipFree(pointer(memory_.address(buffer))), "hipFree of a stream's memory");
  if (status) live_.erase(buffer);
  return status;
}

hip::Status StreamMemory::free_async(Id buffer, hipStream_t stream) {
  hip::Status status = hip::called(machine_.api.hipFreeAsync(pointer(memory_.address(buffer)), stream), "hipFreeAsync");
  if (status) live_.erase(buffer);
  return status;
}

// ---- pools

hip::Result<hipMemPool_t> StreamMemory::default_pool() {
  hipMemPool_t pool = nullptr;
  hip::Status status =
      hip::called(machine_.api.hipDeviceGetDefaultMemPool(&pool, kDevice), "hipDeviceGetDefaultMemPool");
  if (!status) return status.error();
  return pool;
}

hip::Status StreamMemory::perform(const DeclarePool& c) {
  const hip::Api& api = machine_.api;
  if (c.of_device) {
    if (api.hipDeviceGetDefaultMemPool == nullptr) return lacking(machine_, "hipDeviceGetDefaultMemPool");
    const hip::Result<hipMemPool_t> pool = default_pool();
    if (!pool) return pool.error();
    pools_[c.pool] = pool.value();
    default_name_ = c.pool;
    return {};
  }
  if (api.hipMemPoolCreate == nullptr || api.hipMemPoolDestroy == nullptr) return lacking(machine_, "hipMemPoolCreate");
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, kDevice};
  hipMemPool_t pool = nullptr;
  hip::Status status = hip::called(api.hipMemPoolCreate(&pool, &properties), "hipMemPoolCreate");
  if (status) pools_[c.pool] = pool;
  return status;
}

std::uint64_t StreamMemory::bytes_of(Id pool) const {
  std::uint64_t bytes = 0;
  for (const auto& [buffer, live] : live_) {
    if (live.pool ? live.pool == pool : default_name_ == pool) bytes += live.bytes;
  }
  return bytes;
}

hip::Status StreamMemory::perform(const AskPool& c, std::string& seen) {
  const hip::Api& api = machine_.api;
  if (api.hipMemPoolGetAttribute == nullptr || api.hipMemPoolSetAttribute == nullptr)
    return lacking(machine_, "hipMemPoolSetAttribute");
  std::uint64_t value = c.value.value_or(0);  // an int's bytes are its first four
  if (c.value) {
    hip::Status status = hip::called(api.hipMemPoolSetAttribute(pool(c.pool), hip_attribute(c.attribute), &value),
                                     "hipMemPoolSetAttribute");
    if (!status) return status;
    if (default_name_ == c.pool) changed_.insert(c.attribute);
  }
  value = 0;
  hip::Status status = hip::called(api.hipMemPoolGetAttribute(pool(c.pool), hip_attribute(c.attribute), &value),
                                   "hipMemPoolGetAttribute");
  if (!status) return status;
  if (is_kept(c.attribute)) seen = std::to_string(value);
  if (c.attribute == PoolAttribute::kUsed) seen = value >= bytes_of(c.pool) ? "all of its memory" : "less than that";
  return {};
}

hip::Status StreamMemory::perform(const TrimPool& c) {
  if (machine_.api.hipMemPoolTrimTo == nullptr) return lacking(machine_, "hipMemPoolTrimTo");
  return hip::called(machine_.api.hipMemPoolTrimTo(pool(c.pool), c.bytes), "hipMemPoolTrimTo");
}

hip::Status StreamMemory::perform(const AccessPool& c, std::string& seen) {
  const hip::Api& api = machine_.api;
  if (api.hipMemPoolSetAccess == nullptr || api.hipMemPoolGetAccess == nullptr)
    return lacking(machine_, "hipMemPoolSetAccess");
  hipMemAccessDesc access{};
  access.location = {hipMemLocationTypeDevice, kDevice};
  access.flags = hipMemAccessFlagsProtReadWrite;
  if (hip::Status s = hip::called(api.hipMemPoolSetAccess(pool(c.pool), &access, 1), "hipMemPoolSetAccess"); !s)
    return s;
  hipMemAccessFlags rights = hipMemAccessFlagsProtNone;
  hip::Status status =
      hip::called(api.hipMemPoolGetAccess(&rights, pool(c.pool), &access.location), "hipMemPoolGetAccess");
  if (status) seen = rights == hipMemAccessFlagsProtReadWrite ? "read and write" : "less than read and write";
  return status;
}

hip::Status StreamMemory::use(hipMemPool_t pool) {
  return hip::called(machine_.api.hipDeviceSetMemPool(kDevice, pool), "hipDeviceSetMemPool");
}

hip::Status StreamMemory::perform(const UsePool& c, std::string& seen) {
  const hip::Api& api = machine_.api;
  if (api.hipDeviceSetMemPool == nullptr || api.hipDeviceGetMemPool == nullptr ||
      api.hipDeviceGetDefaultMemPool == nullptr)
    return lacking(machine_, "hipDeviceSetMemPool");
  const hip::Result<hipMemPool_t> standard = default_pool();
  if (!standard) return standard.error();
  if (hip::Status status = use(c.pool ? pool(*c.pool) : standard.value()); !status) return status;
  in_use_ = c.pool;
  chosen_ = true;
  hipMemPool_t now = nullptr;
  if (hip::Status s = hip::called(api.hipDeviceGetMemPool(&now, kDevice), "hipDeviceGetMemPool"); !s) return s;
  const auto named = std::find_if(pools_.begin(), pools_.end(), [now](const auto& one) { return one.second == now; });
  seen = now == standard.value() ? "default" : named == pools_.end() ? "another" : fmt::format("p{}", named->first);
  return {};
}

hip::Status StreamMemory::perform(const DestroyPool& c) {
  hip::Status status = hip::called(machine_.api.hipMemPoolDestroy(pool(c.pool)), "hipMemPoolDestroy");
  if (!status) return status;
  pools_.erase(c.pool);
  if (in_use_ == c.pool) in_use_.reset();
  return status;
}

// ---- the end

hip::Status StreamMemory::restore() {
  if (chosen_) {
    const hip::Result<hipMemPool_t> standard = default_pool();
    if (!standard) return standard.error();
    if (hip::Status status = use(standard.value()); !status) return status;
  }
  for (const PoolAttribute attribute : changed_) {
    if (!is_kept(attribute)) continue;
    std::uint64_t value = value_at_first(attribute);
    hip::Status status =
        hip::called(machine_.api.hipMemPoolSetAttribute(pool(*default_name_), hip_attribute(attribute), &value),
                    "hipMemPoolSetAttribute");
    if (!status) return status;
  }
  return {};
}

hip::Status StreamMemory::give_back() {
  hip::Status first;
  const auto keep = [&first](hip::Status status) {
    if (first) first = std::move(status);
  };
  for (const auto& [buffer, live] : live_) {
    keep(hip::called(machine_.interposer.inner().hipFree(pointer(memory_.address(buffer))),
                     "hipFree of a stream's memory"));
  }
  live_.clear();
  keep(restore());
  for (const auto& [id, pool] : pools_) {
    if (id != default_name_) keep(hip::called(machine_.api.hipMemPoolDestroy(pool), "hipMemPoolDestroy"));
  }
  pools_.clear();
  return first;
}

}  // namespace verify
