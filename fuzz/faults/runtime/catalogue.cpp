#include <algorithm>

#include "fuzz/faults/runtime/faults.h"

namespace fuzz {

std::span<const RuntimeFault> runtime_faults() {
  static const std::vector<RuntimeFault> kFaults = {
      {"U01", keeps_the_callers_arguments()},
      {"U02", edits_what_a_getter_returned()},
      {"U03", sets_the_original_node()},
      {"U04", binds_arguments_to_the_kernel()},
      {"U05", refreshes_all_after_each_node()},
      {"U06", drops_the_error_of_an_update()},
      {"U07", drops_the_edges_of_disabled_nodes()},
      {"U08", skips_waits_past_the_last_stream()},
      {"U09", joins_itself_for_ever()},
      {"U10", runs_what_it_captures()},
      {"U11", refuses_redundant_edges()},
      {"U12", assigns_the_kind_backwards()},
      {"U13", rejects_queries_elsewhere()},
      {"U14", loses_the_graph_of_a_failed_end()},
      {"U15", takes_the_first_of_no_nodes()},
      {"U16", forgets_the_childs_last_launch()},
      {"U17", reuses_what_is_being_freed()},
  };
  return kFaults;
}

const RuntimeFault* find_runtime_fault(std::string_view id) {
  const std::span<const RuntimeFault> all = runtime_faults();
  const auto found = std::find_if(all.begin(), all.end(), [id](const RuntimeFault& fault) { return fault.id == id; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace fuzz
