// Runtime faults: layers around any table of HIP functions, each with one defect that was reported of a HIP runtime or
// of a program on top of one. What is wrong with each, and where it was reported, is said where it is defined.
//
// They use HIP's functions alone, so that they fit around every runtime: the model, a library, AMD's.
#pragma once

#include <span>
#include <string_view>

#include "hip/api/layer.h"

namespace fuzz {

struct RuntimeFault {
  std::string_view id;  // "U01", as the catalogue has it
  hip::ApiLayerFactory make;
};

// In the order of ids.
[[nodiscard]] std::span<const RuntimeFault> runtime_faults();
// Null when there is none.
[[nodiscard]] const RuntimeFault* find_runtime_fault(std::string_view id);

// ownership.cpp
[[nodiscard]] hip::ApiLayerFactory keeps_the_callers_arguments();   // U01
[[nodiscard]] hip::ApiLayerFactory edits_what_a_getter_returned();  // U02
// isolation.cpp
[[nodiscard]] hip::ApiLayerFactory sets_the_original_node();         // U03
[[nodiscard]] hip::ApiLayerFactory binds_arguments_to_the_kernel();  // U04
// updates.cpp
[[nodiscard]] hip::ApiLayerFactory refreshes_all_after_each_node();  // U05
[[nodiscard]] hip::ApiLayerFactory drops_the_error_of_an_update();   // U06
[[nodiscard]] hip::ApiLayerFactory assigns_the_kind_backwards();     // U12
// edges.cpp
[[nodiscard]] hip::ApiLayerFactory skips_waits_past_the_last_stream();  // U08
[[nodiscard]] hip::ApiLayerFactory refuses_redundant_edges();           // U11
// disabled.cpp
[[nodiscard]] hip::ApiLayerFactory drops_the_edges_of_disabled_nodes();  // U07
// captures.cpp
[[nodiscard]] hip::ApiLayerFactory joins_itself_for_ever();            // U09
[[nodiscard]] hip::ApiLayerFactory runs_what_it_captures();            // U10
[[nodiscard]] hip::ApiLayerFactory rejects_queries_elsewhere();        // U13
[[nodiscard]] hip::ApiLayerFactory loses_the_graph_of_a_failed_end();  // U14
// lives.cpp
[[nodiscard]] hip::ApiLayerFactory takes_the_first_of_no_nodes();     // U15
[[nodiscard]] hip::ApiLayerFactory forgets_the_childs_last_launch();  // U16
// stream_memory.cpp
[[nodiscard]] hip::ApiLayerFactory reuses_what_is_being_freed();  // U17

template <class Layer>
[[nodiscard]] hip::ApiLayerFactory layer_factory() {
  return [] { return std::make_unique<Layer>(); };
}

}  // namespace fuzz
