// The rules of stream-ordered memory and of memory pools: which commands may stand where. Internal to verify/program.
//
// Memory of hipMallocAsync is there for work that is ordered behind the allocation, until the free in stream order
// (HIP's header, hipMallocAsync and hipFreeAsync). What is not ordered is a race, which is not a matter of validity:
// the model finds it. New memory holds anything, so a memset of one row over all of it, given to a stream, or a write
// comes before everything else that names it. It never moves. In a capture it is the graph's (state_memory.h), from an
// allocation to a free in that very capture: HIP asks that a free there gets memory of a graph.
#pragma once

#include <optional>
#include <string>

#include "verify/program/state.h"

namespace verify {

[[nodiscard]] std::optional<std::string> check_pool_command(const State& state, const MallocAsync& c);
[[nodiscard]] std::optional<std::string> check_pool_command(const State& state, const DeclarePool& c);
[[nodiscard]] std::optional<std::string> check_pool_command(const State& state, const AskPool& c);
[[nodiscard]] std::optional<std::string> check_pool_command(const State& state, const TrimPool& c);
[[nodiscard]] std::optional<std::string> check_pool_command(const State& state, const AccessPool& c);
[[nodiscard]] std::optional<std::string> check_pool_command(const State& state, const UsePool& c);
[[nodiscard]] std::optional<std::string> check_pool_command(const State& state, const DestroyPool& c);

struct PoolApplier {
  State& state;

  void operator()(const MallocAsync& c) const;
  void operator()(const DeclarePool& c) const;
  void operator()(const UsePool& c) const;
  void operator()(const DestroyPool& c) const;
  // What AMD's pools make of it (docs/findings.md, early-event-hands-memory).
  void wait(const WaitEvent& c) const;
  // On a stream of a capture: it becomes a node.
  [[nodiscard]] bool capture(const MallocAsync& c) const;
  [[nodiscard]] bool capture(const FreeAsync& c) const;
};

}  // namespace verify
