// The memory of a program: its buffers, whoever allocates them, and its memory pools.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "verify/language/foreign_kernels.h"
#include "verify/language/node_params.h"
#include "verify/program/virtual_state.h"

namespace verify {

struct GraphState;
struct NodeState;

struct BufferState {
  std::uint64_t bytes = 0;
  std::uint64_t capacity = 0;  // of the place it occupies: a move onto a larger buffer's place keeps the place's size
  MemoryKind memory = MemoryKind::kDevice;
  std::uint32_t version = 0;  // version of its place; 0 before the first move
  bool alive = false;
  // The next members are about memory that a graph allocates.
  std::optional<Id> graph = {};
  bool unfreed = false;                      // a launch allocated it, and nothing has freed it since
  std::uint32_t access = 0;                  // of MemoryAllocParams
  bool freed_by_program = false;             // since its last launch, by a call or by a launch of another graph
  std::optional<std::uint32_t> symbol = {};  // a variable of the device code
  std::optional<Id> module = {};             // the module that has the variable; none: the code that is always there
  std::optional<ForeignVariable> variable = {};
  Id device = 0;  // the device that owns the memory, for device memory
  // The next members are about memory that streams or `malloc` allocate (verify/commands/stream_memory/rules.cpp).
  bool of_stream = false;
  bool plain = false;                         // hipMalloc allocated it: no stream did, and it is of no pool
  bool filled = false;                        // all of it was written since it was allocated; until then undefined
  std::optional<Id> pool = {};                // the pool of this memory; none: the device's default pool
  std::optional<std::uint64_t> capture = {};  // serial of the capture that allocated it, until that capture ends
  Id allocated_on = 0;
  std::optional<Id> freed_on = {};  // the stream that was told to free it
  // Streams that ROCm/clr treats as ordered behind the free on `freed_on` (MemoryTimestamp::AddSafeStream).
  std::set<Id> given_again_on = {};
  std::optional<ViewPlace> view = {};  // a part of a reserved range
  // A variable stays in its place until its module is unloaded.
  [[nodiscard]] bool is_variable() const { return symbol || variable; }
  // The runtime chooses its address.
  [[nodiscard]] bool runtime_places() const { return graph || of_stream || view; }
  // It comes from a pool of the runtime, as memory of graphs and of streams does.
  [[nodiscard]] bool of_pool() const { return (graph || of_stream) && !plain; }
  // A stream or `malloc` allocated it, and no graph.
  [[nodiscard]] bool of_stream_alone() const { return of_stream && !graph && !capture; }
  // Whether commands that need allocated memory may name this buffer.
  [[nodiscard]] bool usable() const { return alive && (graph ? unfreed : !of_stream || (filled && !capture)); }
};

// A memory pool as the program has set it up.
struct PoolState {
  bool alive = false;
  bool of_device = false;
};

// Whether a device has memory for a request; kOpen: that depends on what the runtime needs for itself.
enum class Room : std::uint8_t { kEnough, kNone, kOpen };

struct MemoryState {
  static constexpr std::uint64_t kRuntimeBytes = std::uint64_t{32} << 20;  // that a runtime needs at most for itself
  static constexpr std::uint64_t kMaxOtherBytes = std::uint64_t{64} << 10;
  // That a runtime has at most besides `left_free`: the program's other memory, once it is freed, and what the runtime
  // rounds.
  static constexpr std::uint64_t kMaxBesides = kMaxOtherBytes + (std::uint64_t{2} << 20);

  std::map<Id, BufferState> buffers;
  std::map<Id, PoolState> pools;
  VirtualState mapped;
  std::optional<Id> pool_in_use;   // the pool of hipMallocAsync; none: the device's default pool
  bool runtime_allocates = false;  // some graph has memory nodes, or some stream or `malloc` allocates
  // The bytes that `device_memory` left free; none: no request is too large.
  std::optional<std::uint64_t> left_free = {};

  [[nodiscard]] const BufferState* find(Id buffer) const;
  // Room for `bytes` more that a stream or `malloc` allocates. A runtime may keep what was freed.
  [[nodiscard]] Room room_for(std::uint64_t bytes) const;
  // Behind `device_memory`: the largest request that is certain to fit, and the largest one that may fit.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> surely_and_maybe() const;
  // The bytes of all memory but that of streams and `malloc`, freed memory too.
  [[nodiscard]] std::uint64_t other_bytes() const;
  // Notes that `graph` has the buffers that `node` names at their present addresses.
  void note_addresses(GraphState& graph, const NodeState& node) const;
  // After a setter: forgets buffers that no node names any more, and notes new buffers at their present addresses.
  void renew_addresses(GraphState& graph) const;
};

}  // namespace verify
