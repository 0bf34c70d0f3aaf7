// P9, equal however built: captured or hand-built; cloned or not; child graph or flattened; kernelParams or extra; with
// or without redundant edges; nodes added in any order; a disabled node or an empty one; the function of a type or the
// generic function: same observations.
//
// The detector runs a program and a variant that is built differently, and compares the statuses, bytes and host
// functions that a client sees. The pairs are in variants.h and in verify/oracle/metamorphic.cpp. The answers to
// queries of the graphs are not compared: the graphs differ on purpose.
#include "verify/properties/variants.h"

namespace verify {

void Derived::keep(const Step& step, std::size_t at) {
  program.steps.push_back(step);
  origin.push_back(at);
}

void Derived::add(Command command) {
  program.steps.push_back({std::move(command), 1, 0});
  origin.push_back(kNoStep);
}

Observation as_original(const Observation& observation, const Derived& derived, std::size_t steps) {
  Observation seen = observation;
  seen.topology.clear();
  if (!derived.origin.empty()) {
    seen.statuses.assign(steps, {});
    int failed = 0;  // the failure of an added step shows at the next original step
    for (std::size_t i = 0; i < observation.statuses.size(); ++i) {
      const std::size_t at = derived.origin[i];
      if (at == kNoStep) {
        failed = observation.statuses[i].code != 0 ? observation.statuses[i].code : failed;
        continue;
      }
      seen.statuses[at] = observation.statuses[i];
      if (failed != 0) seen.statuses[at].code = failed;
      failed = 0;
    }
    const auto step_of = [&](std::size_t step) {
      while (step < derived.origin.size() && derived.origin[step] == kNoStep) ++step;
      return step < derived.origin.size() ? derived.origin[step] : steps;
    };
    for (BytesSeen& read : seen.reads) read.step = step_of(read.step);
    seen.death_step = step_of(observation.death_step);
  }
  for (StepStatus& status : seen.statuses) status.seen.clear();
  return seen;
}

}  // namespace verify
