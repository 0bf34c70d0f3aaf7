// How commands about stream-ordered and plain memory, memory pools and the memory of graphs run.
//
// Statuses, the attributes of a pool after they are set, and the pool of a device are observed. A pool has to report at
// least the memory that is taken from it and not freed. The runtime decides how much more a pool reports.
#include <fmt/format.h>

#include "hip/errors.h"
#include "verify/execute/records.h"
#include "verify/run/run_command.h"

namespace verify {

namespace {

// The function that the allocation needs and the runtime lacks, or null.
const char* lacking_for(const hip::Api& api, const MallocAsync& c) {
  if (c.pool && api.hipMallocFromPoolAsync == nullptr) return "hipMallocFromPoolAsync";
  if (!c.pool && api.hipMallocAsync == nullptr) return "hipMallocAsync";
  return api.hipFreeAsync == nullptr ? "hipFreeAsync" : nullptr;
}

hip::Result<hip::DeviceAddress> allocate(Run& run, const MallocAsync& c) {
  const hip::Api& api = run.context.api;
  if (const char* function = lacking_for(api, c)) return lacking(run.context, function);
  void* memory = nullptr;
  hip::Status status = c.pool ? hip::call<&hip::Api::hipMallocFromPoolAsync>(
                                    api, &memory, c.bytes, run.stream_memory.pool(*c.pool), run.stream(c.stream))
                              : hip::call<&hip::Api::hipMallocAsync>(api, &memory, c.bytes, run.stream(c.stream));
  if (!status) return status.error();
  return reinterpret_cast<hip::DeviceAddress>(memory);
}

// Returns the address of memory that a node allocates.
hip::Result<hip::DeviceAddress> allocate_by_hand(Run& run, const MallocAsync& c, const hip::RecordedNode& node) {
  hip::NodeExtras extras;
  if (const char* function = missing_function(run.context.api, MemoryAllocParams{}))
    return lacking(run.context, function);
  hip::Status status = run.captures.add_by_hand(c.stream, node, extras);
  if (!status) return status.error();
  return extras.allocated;
}

hip::Status free_by_hand(Run& run, const FreeAsync& c, const hip::RecordedNode& node) {
  hip::NodeExtras extras;
  if (const char* function = missing_function(run.context.api, MemoryFreeParams{})) return run.unsupported(function);
  run.graph_memory.show_live();
  return run.captures.add_by_hand(c.stream, node, extras);
}

hip::Status declare_default_pool(Run& run, const DeclarePool& c) {
  if (run.context.api.hipDeviceGetDefaultMemPool == nullptr) return lacking(run.context, "hipDeviceGetDefaultMemPool");
  const hip::Result<hipMemPool_t> pool = run.stream_memory.default_pool();
  if (!pool) return pool.error();
  run.stream_memory.declared_default(c.pool, pool.value());
  return {};
}

}  // namespace

template <>
hip::Status run_command(Run& run, const MallocAsync& c) {
  if (!run.has_stream(c.stream)) return missing_object();
  hip::RecordedNode node{hip::MemoryAllocRecord{c.buffer, c.bytes, 0}, {}, {}};
  const hip::Result<hip::DeviceAddress> address = c.by_hand ? allocate_by_hand(run, c, node) : allocate(run, c);
  if (!address) return address.error();
  if (run.captures.of(c.stream) == nullptr) {
    run.stream_memory.allocated(c, address.value());
    return {};
  }
  run.graph_memory.captured(c.buffer, c.bytes, address.value());
  run.captures.add(c.stream, std::move(node));
  return {};
}

template <>
hip::Status run_command(Run& run, const Malloc& c) {
  void* memory = nullptr;
  hip::Status status = hip::call<&hip::Api::hipMalloc>(run.context.api, &memory, c.bytes);
  if (status) run.stream_memory.allocated(c, reinterpret_cast<hip::DeviceAddress>(memory));
  return status;
}

template <>
hip::Status run_command(Run& run, const FreeAsync& c) {
  if (!run.has_stream(c.stream)) return missing_object();
  const hipStream_t stream = run.stream(c.stream);
  if (run.stream_memory.has(c.buffer)) {
    if (run.context.api.hipFreeAsync == nullptr) return lacking(run.context, "hipFreeAsync");
    run.detectors.count(PropertyId::kS1);
    return run.stream_memory.free_async(c.buffer, stream);
  }
  if (!run.graph_memory.has(c.buffer)) return missing_object();
  if (run.captures.of(c.stream) == nullptr) return run.graph_memory.free_async(c.buffer, stream);
  hip::RecordedNode node{hip::MemoryFreeRecord{c.buffer}, {}, {}};
  hip::Status status = c.by_hand ? free_by_hand(run, c, node) : run.graph_memory.free_captured(c.buffer, stream);
  if (status) run.captures.add(c.stream, std::move(node));
  return status;
}

template <>
hip::Status run_command(Run& run, const DeclarePool& c) {
  if (c.of_device) return declare_default_pool(run, c);
  const hip::Api& api = run.context.api;
  if (api.hipMemPoolCreate == nullptr || api.hipMemPoolDestroy == nullptr)
    return lacking(run.context, "hipMemPoolCreate");
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, kPoolDevice};
  hipMemPool_t pool = nullptr;
  hip::Status status = hip::call<&hip::Api::hipMemPoolCreate>(api, &pool, &properties);
  if (status) run.stream_memory.declared(c.pool, pool);
  return status;
}

template <>
hip::Status run_command(Run& run, const AskPool& c) {
  const hip::Api& api = run.context.api;
  if (api.hipMemPoolGetAttribute == nullptr || api.hipMemPoolSetAttribute == nullptr)
    return lacking(run.context, "hipMemPoolSetAttribute");
  StreamMemory& pools = run.stream_memory;
  if (c.value) {
    if (hip::Status status = pools.set(c.pool, c.attribute, *c.value); !status) return status;
  }
  std::uint64_t value = 0;  // an attribute that is an int fills the first four bytes
  hip::Status status =
      hip::call<&hip::Api::hipMemPoolGetAttribute>(api, pools.pool(c.pool), hip_attribute(c.attribute), &value);
  if (!status) return status;
  if (is_kept(c.attribute)) run.attempt.seen = std::to_string(value);
  if (c.attribute == PoolAttribute::kUsed)
    run.attempt.seen = value >= pools.bytes_of(c.pool) ? "all of its memory" : "less than that";
  return {};
}

template <>
hip::Status run_command(Run& run, const TrimPool& c) {
  const hip::Api& api = run.context.api;
  if (api.hipMemPoolTrimTo == nullptr) return lacking(run.context, "hipMemPoolTrimTo");
  return hip::call<&hip::Api::hipMemPoolTrimTo>(api, run.stream_memory.pool(c.pool), c.bytes);
}

template <>
hip::Status run_command(Run& run, const AccessPool& c) {
  const hip::Api& api = run.context.api;
  if (api.hipMemPoolSetAccess == nullptr || api.hipMemPoolGetAccess == nullptr)
    return lacking(run.context, "hipMemPoolSetAccess");
  const hipMemPool_t pool = run.stream_memory.pool(c.pool);
  hipMemAccessDesc access{};
  access.location = {hipMemLocationTypeDevice, kPoolDevice};
  access.flags = hipMemAccessFlagsProtReadWrite;
  if (hip::Status s = hip::call<&hip::Api::hipMemPoolSetAccess>(api, pool, &access, 1); !s) return s;
  hipMemAccessFlags rights = hipMemAccessFlagsProtNone;
  hip::Status status = hip::call<&hip::Api::hipMemPoolGetAccess>(api, &rights, pool, &access.location);
  if (status)
    run.attempt.seen = rights == hipMemAccessFlagsProtReadWrite ? "read and write" : "less than read and write";
  return status;
}

template <>
hip::Status run_command(Run& run, const UsePool& c) {
  const hip::Api& api = run.context.api;
  if (api.hipDeviceSetMemPool == nullptr || api.hipDeviceGetMemPool == nullptr ||
      api.hipDeviceGetDefaultMemPool == nullptr)
    return lacking(run.context, "hipDeviceSetMemPool");
  StreamMemory& pools = run.stream_memory;
  const hip::Result<hipMemPool_t> standard = pools.default_pool();
  if (!standard) return standard.error();
  hip::Status status = pools.use(c.pool, c.pool ? pools.pool(*c.pool) : standard.value());
  if (!status) return status;
  hipMemPool_t now = nullptr;
  status = hip::call<&hip::Api::hipDeviceGetMemPool>(api, &now, kPoolDevice);
  if (!status) return status;
  const std::optional<Id> name = pools.name_of(now);
  run.attempt.seen = now == standard.value() ? "default" : name ? fmt::format("p{}", *name) : "another";
  return status;
}

template <>
hip::Status run_command(Run& run, const DestroyPool& c) {
  hip::Status status = hip::call<&hip::Api::hipMemPoolDestroy>(run.context.api, run.stream_memory.pool(c.pool));
  if (status) run.stream_memory.destroyed(c.pool);
  return status;
}

namespace {

constexpr int kGraphMemoryDevice = 0;

hip::Result<std::uint64_t> graph_memory(const hip::Api& api, GraphMemoryCall attribute) {
  std::uint64_t value = 0;
  hip::Status status = hip::call<&hip::Api::hipDeviceGetGraphMemAttribute>(
      api, kGraphMemoryDevice, static_cast<hipGraphMemAttributeType>(attribute), &value);
  if (!status) return status.error();
  return value;
}

hip::Status reset_mark(const hip::Api& api, GraphMemoryCall attribute) {
  std::uint64_t zero = 0;
  return hip::call<&hip::Api::hipDeviceSetGraphMemAttribute>(api, kGraphMemoryDevice,
                                                             static_cast<hipGraphMemAttributeType>(attribute), &zero);
}

}  // namespace

template <>
hip::Status run_command(Run& run, const ManageGraphMemory& c) {
  const hip::Api& api = run.context.api;
  if (api.hipDeviceGetGraphMemAttribute == nullptr || api.hipDeviceSetGraphMemAttribute == nullptr ||
      api.hipDeviceGraphMemTrim == nullptr)
    return lacking(run.context, "hipDeviceGetGraphMemAttribute");
  if (hip::Status waited = synchronize_devices(api, run.context.devices); !waited) return waited;
  const bool trims = c.call == GraphMemoryCall::kTrim;
  hip::Status status;
  if (trims) status = hip::call<&hip::Api::hipDeviceGraphMemTrim>(api, kGraphMemoryDevice);
  if (c.reset) status = reset_mark(api, c.call);
  if (!status) return status;
  const hip::Result<std::uint64_t> value = graph_memory(api, trims ? GraphMemoryCall::kReserved : c.call);
  if (!value) return value.error();
  const std::uint64_t live = run.graph_memory.live_bytes();
  if (c.call == GraphMemoryCall::kUsedHigh || c.call == GraphMemoryCall::kReservedHigh) return status;
  const bool settled = live == 0 && (trims || c.call == GraphMemoryCall::kUsed);
  run.attempt.seen = value.value() < live               ? "less than its memory"
                     : settled && value.value() != live ? "more than its memory"
                                                        : "its memory";
  return status;
}

template struct FamilyRun<StreamMemoryCommands>;

}  // namespace verify
