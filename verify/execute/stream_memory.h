// Stream-ordered memory and memory pools, as the executor knows them.
//
// Where such memory is is the runtime's and no observation; it stays there until it is freed, under every strategy.
// Observed are statuses, what a pool's attributes are once they were set, which pool a device has, and that a pool
// tells of at least the memory that was taken from it and not freed: how much more is the runtime's business.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "verify/execute/objects.h"
#include "verify/execute/placement.h"

namespace verify {

class StreamMemory {
 public:
  StreamMemory(Machine& machine, BufferMemory& memory) : machine_(machine), memory_(memory) {}

  // The call alone: the caller says whose the memory is.
  hip::Result<hip::DeviceAddress> call(const MallocAsync& c, hipStream_t stream);
  hip::Status allocate(const MallocAsync& c, hipStream_t stream);
  [[nodiscard]] bool has(Id buffer) const { return live_.contains(buffer); }
  hip::Status free(Id buffer);
  hip::Status free_async(Id buffer, hipStream_t stream);

  hip::Status perform(const DeclarePool& c);
  hip::Status perform(const AskPool& c, std::string& seen);
  hip::Status perform(const TrimPool& c);
  hip::Status perform(const AccessPool& c, std::string& seen);
  hip::Status perform(const UsePool& c, std::string& seen);
  hip::Status perform(const DestroyPool& c);

  // What the program leaves: memory, pools, and a device that is set up otherwise than it was.
  hip::Status give_back();

 private:
  struct Live {
    std::uint64_t bytes = 0;
    std::optional<Id> pool;
  };
  [[nodiscard]] hipMemPool_t pool(Id id) const;
  hip::Result<hipMemPool_t> default_pool();
  hip::Status use(hipMemPool_t pool);
  hip::Status restore();
  [[nodiscard]] std::uint64_t bytes_of(Id pool) const;

  Machine& machine_;
  BufferMemory& memory_;
  std::map<Id, Live> live_;
  std::map<Id, hipMemPool_t> pools_;
  std::optional<Id> default_name_;  // p0, where the program named the device's default pool
  std::optional<Id> in_use_;        // of the device, where the program chose it
  bool chosen_ = false;
  std::set<PoolAttribute> changed_;  // of the default pool, which the next program has as well
};

}  // namespace verify
