// Runtime faults: layers around any table of HIP functions, each with one defect that was reported of a HIP runtime or
// of a program on top of one. The file that defines a fault describes its defect and names the report.
//
// They use only functions of HIP, so they fit around every runtime: the model, a library, AMD's.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hip/api/layer.h"

namespace fuzz {

struct RuntimeFault {
  std::string_view id;  // "U01", as in the catalogue
  hip::ApiLayerFactory make;
};

// In the order of ids.
[[nodiscard]] std::span<const RuntimeFault> runtime_faults();
// Null when there is no such fault.
[[nodiscard]] const RuntimeFault* find_runtime_fault(std::string_view id);

// The faults that each file of this folder defines.
[[nodiscard]] std::vector<RuntimeFault> ownership_faults();       // U01, U02
[[nodiscard]] std::vector<RuntimeFault> isolation_faults();       // U03, U04
[[nodiscard]] std::vector<RuntimeFault> updates_faults();         // U05, U06, U12
[[nodiscard]] std::vector<RuntimeFault> edges_faults();           // U11, U24
[[nodiscard]] std::vector<RuntimeFault> waits_faults();           // U07, U08
[[nodiscard]] std::vector<RuntimeFault> captures_faults();        // U09, U10, U13, U14, U26
[[nodiscard]] std::vector<RuntimeFault> lives_faults();           // U15, U16, U28
[[nodiscard]] std::vector<RuntimeFault> stream_memory_faults();   // U30
[[nodiscard]] std::vector<RuntimeFault> setters_faults();         // U17, U18, U19, U22, U23
[[nodiscard]] std::vector<RuntimeFault> captured_nodes_faults();  // U21, U25, U27
[[nodiscard]] std::vector<RuntimeFault> refusals_faults();        // U31, U32, U33, U34, U35

template <class Layer>
[[nodiscard]] hip::ApiLayerFactory layer_factory() {
  return [] { return std::make_unique<Layer>(); };
}

}  // namespace fuzz
