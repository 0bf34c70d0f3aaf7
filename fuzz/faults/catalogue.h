// fuzz::Fault: a deliberate defect with a name. A campaign must find it and must name the property that it breaks.
//
// Each is written as its author would have written it: a patcher (or another part) of its own that is right in all but
// one point, so that a campaign's finding shows this point. Such a part refuses the cases that it does not handle.
// The catalogue is data: neither the executor nor a detector knows that there are faults.
//
// Does not promise that a fault shows in every program; tests/fuzz/faults_test.cpp holds each to a number of programs.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hip/api/layer.h"
#include "verify/execute/observation.h"
#include "verify/execute/patcher.h"
#include "verify/systems/parts.h"

namespace fuzz {

struct Fault {
  std::string_view id;      // "F01"
  std::string_view system;  // the part with the defect: "patcher"
  std::string_view summary;
  std::vector<verify::PropertyId> properties;  // the finding is named after one of these
  verify::PatcherFactory patchers{};           // stands in for the real patcher; empty where `system` is another
  hip::ApiLayerFactory layer{};                // put around the runtime where `system` is "runtime"; empty elsewhere
  std::optional<verify::Parts> parts{};        // stands in for the real systems of hip/; empty elsewhere
  std::optional<verify::System> scenarios{};   // which of them shows it
  bool ends_the_process = false;               // it kills its process: for runs in a process of their own
};

// In the order of ids.
[[nodiscard]] std::span<const Fault> faults();

// A known defect that needs threads: the race explorer has it (verify/race/scenarios), no campaign.
struct RaceFault {
  std::string_view id, system, summary, property;
  std::string_view scenario;  // `hgcheck race --scenario SCENARIO --fault ID` finds it
};
// In the order of ids. tests/fuzz/race_command_test.py compares them with the findings of `hgcheck race`.
[[nodiscard]] std::span<const RaceFault> race_faults();
// Null when there is none.
[[nodiscard]] const Fault* find_fault(std::string_view id);

}  // namespace fuzz
