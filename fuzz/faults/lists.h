// The faults that each file of this folder and of systems/ defines. That file describes the defect of each fault.
#pragma once

#include "fuzz/faults/catalogue.h"

namespace fuzz {

// Patchers.
[[nodiscard]] std::vector<Fault> value_scan_faults();
[[nodiscard]] std::vector<Fault> address_match_faults();
[[nodiscard]] std::vector<Fault> packing_faults();
[[nodiscard]] std::vector<Fault> copies_faults();
[[nodiscard]] std::vector<Fault> children_faults();
[[nodiscard]] std::vector<Fault> unbounded_recursion_faults();
[[nodiscard]] std::vector<Fault> unknown_nodes_faults();
[[nodiscard]] std::vector<Fault> wrong_target_faults();
[[nodiscard]] std::vector<Fault> borrowed_arguments_faults();
[[nodiscard]] std::vector<Fault> swallowed_errors_faults();
[[nodiscard]] std::vector<Fault> address_tables_faults();
// Systems of hip/: each fault replaces one of the real parts by its own.
[[nodiscard]] std::vector<Fault> launcher_faults();
[[nodiscard]] std::vector<Fault> remapper_faults();
[[nodiscard]] std::vector<Fault> scratch_buffer_faults();
[[nodiscard]] std::vector<Fault> stabilizer_faults();
[[nodiscard]] std::vector<Fault> stream_cache_faults();
[[nodiscard]] std::vector<Fault> stream_faults();
[[nodiscard]] std::vector<Fault> trace_faults();

[[nodiscard]] inline Fault system_fault(std::string_view id, std::string_view system, std::string_view summary,
                                        verify::PropertyId property, verify::System scenarios, verify::Parts parts) {
  return {.id = id,
          .system = system,
          .summary = summary,
          .properties = {property},
          .parts = std::move(parts),
          .scenarios = scenarios};
}

}  // namespace fuzz
