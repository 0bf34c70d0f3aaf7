// verify::StreamMemory: the stream-ordered memory, the memory of `malloc` and the memory pools of a run.
//
// The runtime chooses the addresses: no observation. Memory keeps its address until it is freed, under every strategy.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "hip/result/result.h"
#include "verify/execute/objects.h"
#include "verify/execute/placement.h"

namespace verify {

class StreamMemory {
 public:
  StreamMemory(StrategyContext& context, BufferMemory& memory) : context_(context), memory_(memory) {}
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  // ---- memory
  // Notes that a stream, or hipMalloc, allocated the command's buffer at `address`.
  void allocated(const MallocAsync& c, hip::DeviceAddress address);
  void allocated(const Malloc& c, hip::DeviceAddress address);
  [[nodiscard]] bool has(Id buffer) const { return live_.contains(buffer); }
  hip::Status free(Id buffer);
  hip::Status free_async(Id buffer, hipStream_t stream);
  // The number of bytes of a pool's memory that the program holds.
  [[nodiscard]] std::uint64_t bytes_of(Id pool) const;

  // ---- pools
  // Null: there is no such pool.
  [[nodiscard]] hipMemPool_t pool(Id id) const;
  // The program's name of a pool, if it has one.
  [[nodiscard]] std::optional<Id> name_of(hipMemPool_t pool) const;
  [[nodiscard]] hip::Result<hipMemPool_t> default_pool() const;
  void declared(Id id, hipMemPool_t pool) { pools_[id] = pool; }
  void declared_default(Id id, hipMemPool_t pool);
  void destroyed(Id id);
  hip::Status set(Id id, PoolAttribute attribute, std::uint64_t value);
  // Makes a pool the device's current pool; without `id`: the default pool.
  hip::Status use(std::optional<Id> id, hipMemPool_t pool);

  // At the program's end: frees its memory and pools, and gives the device its former pool and attributes.
  hip::Status give_back();

 private:
  struct Live {
    std::uint64_t bytes = 0;
    std::optional<Id> pool;
    bool plain = false;  // of no pool
  };
  void note(Id buffer, const Live& live, hip::DeviceAddress address);
  hip::Status restore();

  StrategyContext& context_;
  BufferMemory& memory_;
  std::map<Id, Live> live_;
  std::map<Id, hipMemPool_t> pools_;
  std::optional<Id> default_name_;  // p0, where the program named the device's default pool
  std::optional<Id> in_use_;        // the device's current pool, where the program chose it
  bool chosen_ = false;
  std::set<PoolAttribute> changed_;  // of the default pool, which the next program gets as well
};

inline constexpr int kPoolDevice = 0;  // the device of all pools

[[nodiscard]] inline hipMemPoolAttr hip_attribute(PoolAttribute attribute) {
  return static_cast<hipMemPoolAttr>(static_cast<int>(attribute) + 1);
}

}  // namespace verify
