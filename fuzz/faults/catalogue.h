// fuzz::Fault: a deliberate defect with a name. A campaign must find it and must name the property that it breaks.
//
// Each is written as its author would have written it: a patcher (or another part) of its own that is right in all but
// one point, so that a campaign's finding shows this point. Such a part refuses cases that it does not handle.
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
  std::vector<verify::PropertyId> properties;  // a finding of the fault is named after one of these
  verify::PatcherFactory patchers{};           // replaces the real patcher; empty if `system` is not "patcher"
  hip::ApiLayerFactory layer{};                // wraps the runtime if `system` is "runtime"; else empty
  std::optional<verify::Parts> parts{};        // replaces the real systems of hip/; else empty
  std::optional<verify::System> scenarios{};   // the system whose scenarios show it
  bool ends_the_process = false;               // it kills its process, so it runs in a process of its own
};

// In the order of ids.
[[nodiscard]] std::span<const Fault> faults();

// A known defect that needs threads: the race explorer finds it (verify/race/scenarios), campaigns do not.
struct RaceFault {
  std::string_view id, system, summary, property;
  std::string_view scenario;  // `hgcheck race --scenario SCENARIO --fault ID` finds it
};
// In the order of ids. tests/fuzz/race_command_test.py compares them with the findings of `hgcheck race`.
[[nodiscard]] std::span<const RaceFault> race_faults();
// Null when there is no such fault.
[[nodiscard]] const Fault* find_fault(std::string_view id);

}  // namespace fuzz
