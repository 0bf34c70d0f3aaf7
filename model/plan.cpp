// Orders of execution, and reachability between steps; the contract is in the header.
#include "model/plan.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <queue>

namespace model {
namespace {

std::vector<std::size_t> indegrees(std::span<const std::vector<StepIndex>> dependencies) {
  std::vector<std::size_t> waiting(dependencies.size());
  for (std::size_t step = 0; step < dependencies.size(); ++step) waiting[step] = dependencies[step].size();
  return waiting;
}

std::vector<StepIndex> lowest_first(std::span<const std::vector<StepIndex>> dependencies,
                                    std::span<const std::vector<StepIndex>> dependents) {
  std::vector<std::size_t> waiting = indegrees(dependencies);
  std::priority_queue<StepIndex, std::vector<StepIndex>, std::greater<>> ready;
  for (StepIndex step = 0; step < waiting.size(); ++step) {
    if (waiting[step] == 0) ready.push(step);
  }
  std::vector<StepIndex> order;
  order.reserve(waiting.size());
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const StepIndex next : dependents[order.back()]) {
      if (--waiting[next] == 0) ready.push(next);
    }
  }
  return order;
}

std::vector<StepIndex> any_first(std::span<const std::vector<StepIndex>> dependencies,
                                 std::span<const std::vector<StepIndex>> dependents, Random& random) {
  std::vector<std::size_t> waiting = indegrees(dependencies);
  std::vector<StepIndex> ready;
  for (StepIndex step = 0; step < waiting.size(); ++step) {
    if (waiting[step] == 0) ready.push_back(step);
  }
  std::vector<StepIndex> order;
  order.reserve(waiting.size());
  while (!ready.empty()) {
    std::swap(ready[random.below(ready.size())], ready.back());
    order.push_back(ready.back());
    ready.pop_back();
    for (const StepIndex next : dependents[order.back()]) {
      if (--waiting[next] == 0) ready.push_back(next);
    }
  }
  return order;
}

}  // namespace

bool has_unloaded_kernel(const Plan& plan) {
  return std::ranges::any_of(plan.steps, [](const Step& step) {
    const auto* kernel = std::get_if<KernelParams>(&step.params);
    return kernel != nullptr && kernel->function->unloaded;
  });
}

std::vector<StepIndex> topological_order(std::span<const std::vector<StepIndex>> dependencies,
                                         std::span<const std::vector<StepIndex>> dependents, Random* random) {
  std::vector<StepIndex> order =
      random == nullptr ? lowest_first(dependencies, dependents) : any_first(dependencies, dependents, *random);
  if (order.size() != dependencies.size()) order.clear();
  return order;
}

Reachability::Reachability(std::span<const std::vector<StepIndex>> dependencies, std::span<const StepIndex> order)
    : steps_(dependencies.size()), row_((dependencies.size() + 63) / 64) {
  assert(order.size() == steps_);
  if (steps_ > kMaxReachabilitySteps) return;
  words_.assign(steps_ * row_, 0);
  for (const StepIndex step : order) {
    std::uint64_t* before = &words_[step * row_];
    for (const StepIndex dependency : dependencies[step]) {
      const std::uint64_t* further = &words_[dependency * row_];
      for (std::size_t word = 0; word < row_; ++word) before[word] |= further[word];
      before[dependency / 64] |= std::uint64_t{1} << (dependency % 64);
    }
  }
}

bool Reachability::reaches(StepIndex a, StepIndex b) const {
  assert(known() && a < steps_ && b < steps_);
  return (words_[b * row_ + a / 64] >> (a % 64) & 1) != 0;
}

}  // namespace model
