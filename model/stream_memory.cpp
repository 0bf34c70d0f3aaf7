// Stream-ordered allocation and its pools; the contract is in memory_pool.h.
#include <algorithm>
#include <cassert>

#include "model/runtime.h"

namespace model {

MemoryPool& Runtime::create_pool(int device) {
  assert(device >= 0 && device < options_.devices);
  pools_.push_back(std::make_shared<MemoryPool>());
  MemoryPool& pool = *pools_.back();
  pool.device = device;
  pool.id = objects_.add(ObjectKind::kMemoryPool, &pool);
  return pool;
}

MemoryPool& Runtime::default_pool(int device) {
  const auto found =
      std::ranges::find_if(pools_, [device](const auto& pool) { return pool->of_device && pool->device == device; });
  if (found != pools_.end()) return **found;
  MemoryPool& pool = create_pool(device);
  pool.of_device = true;
  return pool;
}

MemoryPool& Runtime::current_pool(int device) {
  const auto found = current_pools_.find(device);
  return found == current_pools_.end() ? default_pool(device) : *found->second;
}

void Runtime::set_current_pool(int device, MemoryPool& pool) {
  current_pools_[device] = &pool;
}

MemoryPool* Runtime::find_pool(std::uint64_t id) const {
  return static_cast<MemoryPool*>(objects_.find(ObjectKind::kMemoryPool, id));
}

Status Runtime::destroy_pool(MemoryPool& pool) {
  if (pool.of_device) return Status::kInvalidValue;
  std::erase_if(current_pools_, [&pool](const auto& current) { return current.second == &pool; });
  objects_.remove(pool.id);
  std::erase_if(pools_, [&pool](const auto& one) { return one.get() == &pool; });
  return Status::kSuccess;
}

// Memory of allocations that have not run yet counts as taken. Where memory is short, the call waits for all devices,
// because a stream may be about to free some.
Status Runtime::make_room(std::size_t bytes) {
  const auto fits = [&] {
    std::size_t taken = memory_.live_bytes();
    for (const auto& [base, memory] : stream_memory_) {
      if (memory_.find(base) == nullptr) taken += memory.range->bytes();
    }
    return taken <= options_.memory.capacity && bytes <= options_.memory.capacity - taken;
  };
  if (bytes > options_.memory.capacity) return Status::kOutOfMemory;
  if (fits()) return Status::kSuccess;
  if (const Status waited = synchronize_device(); waited != Status::kSuccess) return waited;
  return fits() ? Status::kSuccess : Status::kOutOfMemory;
}

Status Runtime::allocate_async(std::size_t bytes, MemoryPool& pool, Stream& stream, Address* out) {
  if (fault_) return sticky();
  Capture* capture = nullptr;
  if (const Status refused = route(stream, &capture); refused != Status::kSuccess) return refused;
  if (capture == nullptr) {
    if (const Status room = make_room(bytes); room != Status::kSuccess) return room;
  }
  std::shared_ptr<Reservation> range;
  if (const Status reserved = memory_.reserve(bytes, pool.device, &range); reserved != Status::kSuccess) {
    return reserved;
  }
  const Address base = range->base();
  if (capture != nullptr) {
    const Status added = add_captured(*capture, stream, AllocateParams{std::move(range), {}});
    if (added == Status::kSuccess) *out = base;
    return added;
  }
  range->of_stream = true;
  const Status pushed = push(stream, AllocateMemory{range}, nullptr);
  if (pushed != Status::kSuccess) return pushed;
  range->promised = true;
  pool.take(bytes);
  const auto of = std::ranges::find_if(pools_, [&pool](const auto& one) { return one.get() == &pool; });
  assert(of != pools_.end());
  stream_memory_[base] = {std::move(range), *of};
  *out = base;
  return Status::kSuccess;
}

// HIP's header, hipFreeAsync: in a capture the call makes a free node "and must therefore be passed the address of a
// graph allocation".
Status Runtime::free_captured(Capture& capture, const Stream& stream, Address base) {
  Reservation* range = memory_.find_reservation(base);
  if (capture.status() == CaptureStatus::kInvalidated) return Status::kStreamCaptureInvalidated;
  if (range == nullptr || range->base() != base || range->of_stream || !range->free_node.expired()) {
    return Status::kInvalidValue;
  }
  const auto only = std::make_shared<const char>();
  range->free_node = only;
  return add_captured(capture, stream, FreeParams{range->shared_from_this(), only});
}

void Runtime::run_allocation(const Operation& operation, const Reservation& range, Ran* ran) {
  if (options_.detect_races) {
    ran->nodes.assign(1, 0);
    ran->logs.resize(1);
    ran->logs[0].writes.add(range.base(), range.bytes());
  }
  const Status status = memory_.map(range);
  if (status != Status::kSuccess) {
    raise_fault(status, EmptyParams{}, 0, operation, {}, "there is no memory for what a stream allocates");
  }
}

// Removes freed memory from its pool and gives up its address range.
void Runtime::forget_stream_memory(Address base) {
  const auto found = stream_memory_.find(base);
  if (found == stream_memory_.end()) return;
  found->second.pool->used -= found->second.range->bytes();
  stream_memory_.erase(found);
}

}  // namespace model
