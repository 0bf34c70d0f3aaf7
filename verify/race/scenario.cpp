#include "verify/race/scenario.h"

#include <fmt/format.h>

#include <algorithm>

#include "verify/race/scenarios/scenarios.h"

namespace verify::race {

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = {
      stream_cache_scenario(),   stable_buffers_scenario(), trace_cache_scenario(),    worker_thread_scenario(),
      current_stream_scenario(), launcher_scenario(),       rank_agreement_scenario(), remapped_ranks_scenario(),
      capture_modes_scenario(),  stabiliser_scenario(),     graph_nodes_scenario(),    graph_launches_scenario(),
  };
  return all;
}

const Scenario* find_scenario(std::string_view name) {
  const auto& all = scenarios();
  const auto found = std::ranges::find(all, name, &Scenario::name);
  return found == all.end() ? nullptr : &*found;
}

std::string print_call(const Scenario& scenario, const Call& call) {
  const Verb& verb = scenario.verbs.at(call.verb);
  return verb.argument ? fmt::format("{} {}", verb.name, call.argument) : std::string(verb.name);
}

// Returns the property that a failure names, or else the property for its kind in that system.
std::string_view property_of(const Scenario& scenario, const Failure& failure) {
  if (!failure.property.empty()) return failure.property;
  switch (failure.kind) {
    case FailureKind::kDataRace:
      return "C5";
    case FailureKind::kLeak:
      return "C2";
    case FailureKind::kDoubleFree:
    case FailureKind::kUseAfterFree:
      return scenario.property == "S1" ? "S1" : "C4";
    default:
      return scenario.property;
  }
}

}  // namespace verify::race
