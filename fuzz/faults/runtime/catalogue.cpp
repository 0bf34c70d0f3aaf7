#include <algorithm>

#include "fuzz/faults/runtime/faults.h"

namespace fuzz {

std::span<const RuntimeFault> runtime_faults() {
  static const std::vector<RuntimeFault> kFaults = [] {
    std::vector<RuntimeFault> all;
    for (const auto list :
         {ownership_faults, isolation_faults, updates_faults, edges_faults, waits_faults, captures_faults, lives_faults,
          stream_memory_faults, setters_faults, captured_nodes_faults, refusals_faults}) {
      const std::vector<RuntimeFault> some = list();
      all.insert(all.end(), some.begin(), some.end());
    }
    std::ranges::sort(all, {}, &RuntimeFault::id);
    return all;
  }();
  return kFaults;
}

const RuntimeFault* find_runtime_fault(std::string_view id) {
  const std::span<const RuntimeFault> all = runtime_faults();
  const auto found = std::ranges::find(all, id, &RuntimeFault::id);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace fuzz
