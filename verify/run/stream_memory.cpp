#include "verify/run/stream_memory.h"

#include <algorithm>
#include <utility>

#include "hip/errors.h"

namespace verify {

namespace {

constexpr const char* kFreed = "hipFree of memory that a stream or malloc allocated";

void* pointer(hip::DeviceAddress address) {
  return reinterpret_cast<void*>(address);
}

// HIP's header: the flags are enabled by default, and the release threshold is 0 bytes.
std::uint64_t value_at_first(PoolAttribute attribute) {
  return attribute == PoolAttribute::kThreshold ? 0 : 1;
}

hip::Status set_attribute(const hip::Api& api, hipMemPool_t pool, PoolAttribute attribute, std::uint64_t value) {
  return hip::call<&hip::Api::hipMemPoolSetAttribute>(api, pool, hip_attribute(attribute), &value);
}

hip::Status set_pool(const hip::Api& api, hipMemPool_t pool) {
  return hip::call<&hip::Api::hipDeviceSetMemPool>(api, kPoolDevice, pool);
}

}  // namespace

void StreamMemory::allocated(const MallocAsync& c, hip::DeviceAddress address) {
  note(c.buffer, {c.bytes, c.pool ? c.pool : in_use_}, address);
}

void StreamMemory::allocated(const Malloc& c, hip::DeviceAddress address) {
  note(c.buffer, {c.bytes, {}, true}, address);
}

void StreamMemory::note(Id buffer, const Live& live, hip::DeviceAddress address) {
  live_[buffer] = live;
  context_.buffer_bytes[buffer] = live.bytes;
  memory_.show_elsewhere(buffer, live.bytes, address);
}

hip::Status StreamMemory::free(Id buffer) {
  hip::Status status = hip::called(context_.api.hipFree(pointer(memory_.address(buffer))), kFreed);
  if (status) live_.erase(buffer);
  return status;
}

hip::Status StreamMemory::free_async(Id buffer, hipStream_t stream) {
  hip::Status status = hip::call<&hip::Api::hipFreeAsync>(context_.api, pointer(memory_.address(buffer)), stream);
  if (status) live_.erase(buffer);
  return status;
}

std::uint64_t StreamMemory::bytes_of(Id pool) const {
  std::uint64_t bytes = 0;
  for (const auto& [buffer, live] : live_) {
    if (!live.plain && (live.pool ? live.pool == pool : default_name_ == pool)) bytes += live.bytes;
  }
  return bytes;
}

// ---- pools

hipMemPool_t StreamMemory::pool(Id id) const {
  const auto found = pools_.find(id);
  return found == pools_.end() ? nullptr : found->second;
}

std::optional<Id> StreamMemory::name_of(hipMemPool_t pool) const {
  const auto named = std::ranges::find_if(pools_, [&](const auto& one) { return one.second == pool; });
  return named == pools_.end() ? std::nullopt : std::optional(named->first);
}

hip::Result<hipMemPool_t> StreamMemory::default_pool() const {
  hipMemPool_t pool = nullptr;
  hip::Status status = hip::call<&hip::Api::hipDeviceGetDefaultMemPool>(context_.api, &pool, kPoolDevice);
  if (!status) return status.error();
  return pool;
}

void StreamMemory::declared_default(Id id, hipMemPool_t pool) {
  pools_[id] = pool;
  default_name_ = id;
}

void StreamMemory::destroyed(Id id) {
  pools_.erase(id);
  if (in_use_ == id) in_use_.reset();
}

hip::Status StreamMemory::set(Id id, PoolAttribute attribute, std::uint64_t value) {
  hip::Status status = set_attribute(context_.api, pool(id), attribute, value);
  if (status && default_name_ == id) changed_.insert(attribute);
  return status;
}

hip::Status StreamMemory::use(std::optional<Id> id, hipMemPool_t pool) {
  hip::Status status = set_pool(context_.api, pool);
  if (!status) return status;
  in_use_ = id;
  chosen_ = true;
  return status;
}

// ---- the end

hip::Status StreamMemory::restore() {
  if (chosen_) {
    const hip::Result<hipMemPool_t> standard = default_pool();
    if (!standard) return standard.error();
    if (hip::Status status = set_pool(context_.api, standard.value()); !status) return status;
  }
  for (const PoolAttribute attribute : changed_) {
    if (!is_kept(attribute)) continue;
    hip::Status status = set_attribute(context_.api, pool(*default_name_), attribute, value_at_first(attribute));
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
    keep(hip::called(context_.interposer.inner().hipFree(pointer(memory_.address(buffer))), kFreed));
  }
  live_.clear();
  keep(restore());
  for (const auto& [id, pool] : pools_) {
    if (id != default_name_) keep(hip::call<&hip::Api::hipMemPoolDestroy>(context_.api, pool));
  }
  pools_.clear();
  return first;
}

}  // namespace verify
