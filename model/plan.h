// model::Plan: an instantiated graph, flattened into steps that a launch runs.
//
// A child graph node becomes an entry and an exit that do nothing, with the child's nodes between them, so every edge
// into and out of it is kept however empty the child is (P5). The structure never changes after instantiation and is
// shared; the steps' parameters are copied before a launch that is still pending would see a change (P1, P2).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/graph.h"
#include "model/random.h"

namespace model {

using StepIndex = std::uint32_t;

// Larger executable graphs run, but data races inside of them are not looked for (Runtime::unchecked_launches counts).
// An executable graph of that size takes 8 MB.
inline constexpr std::size_t kMaxReachabilitySteps = 8192;

// Which steps are ordered by the edges.
class Reachability {
 public:
  Reachability() = default;
  // `order` is a topological order of the steps.
  Reachability(std::span<const std::vector<StepIndex>> dependencies, std::span<const StepIndex> order);
  [[nodiscard]] bool known() const { return !words_.empty() || steps_ == 0; }
  // There is a path from a to b.
  [[nodiscard]] bool reaches(StepIndex a, StepIndex b) const;
  [[nodiscard]] bool ordered(StepIndex a, StepIndex b) const { return a == b || reaches(a, b) || reaches(b, a); }

 private:
  std::size_t steps_ = 0, row_ = 0;
  std::vector<std::uint64_t> words_;  // row b: one bit for each step that reaches b
};

struct PlanStructure {
  std::vector<std::vector<StepIndex>> dependencies;
  std::vector<std::vector<StepIndex>> dependents;
  std::vector<StepIndex> stable_order;  // the legal order that takes the lowest ready index first
  Reachability reachability;
  std::vector<StepIndex> event_steps;   // event record and wait nodes, in stable order
  std::vector<StepIndex> memory_steps;  // memory allocation and free nodes, in stable order
};

struct Step {
  NodeParams params;
  ObjectId origin = 0;  // the node that it was instantiated from
  bool enabled = true;  // a disabled step does nothing and keeps its edges (hipGraphNodeSetEnabled)
  // The device of a memset: it is taken from the memory at the address when the parameters are set, and stays.
  std::optional<int> device{};
};

struct Plan {
  std::shared_ptr<const PlanStructure> structure;
  std::vector<Step> steps;
  // By owner: 0 is the graph itself, i + 1 the child graph of the top level's node i with all graphs in it.
  std::map<std::size_t, UserReferences> user_references;
};

// Whether a kernel's module is gone. CUDA's documentation of cuModuleUnload leaves the use of such a kernel undefined;
// the model refuses to instantiate and to launch it.
[[nodiscard]] bool has_unloaded_kernel(const Plan& plan);

// The lowest-index-first order (null `random`), or a legal order drawn from `random`. Empty when there is a cycle.
[[nodiscard]] std::vector<StepIndex> topological_order(std::span<const std::vector<StepIndex>> dependencies,
                                                       std::span<const std::vector<StepIndex>> dependents,
                                                       Random* random);

}  // namespace model
