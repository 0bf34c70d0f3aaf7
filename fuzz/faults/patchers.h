// The faulty patchers, one factory each; what is wrong with each is said where it is defined.
#pragma once

#include "verify/execute/patcher.h"

namespace fuzz {

// value_scan.cpp
[[nodiscard]] verify::PatcherFactory scans_kernel_params();
[[nodiscard]] verify::PatcherFactory scans_packed_blocks();
// address_match.cpp
[[nodiscard]] verify::PatcherFactory matches_exact_bases();
[[nodiscard]] verify::PatcherFactory moves_one_after_another();
// packing.cpp
[[nodiscard]] verify::PatcherFactory packs_eight_bytes_each();
[[nodiscard]] verify::PatcherFactory holds_few_arguments();
// copies.cpp
[[nodiscard]] verify::PatcherFactory flattens_copies();
[[nodiscard]] verify::PatcherFactory sends_device_to_device();
// children.cpp
[[nodiscard]] verify::PatcherFactory skips_child_graphs();
// unbounded_recursion.cpp
[[nodiscard]] verify::PatcherFactory recurses_without_bound();
// unknown_nodes.cpp
[[nodiscard]] verify::PatcherFactory skips_unknown_nodes();
[[nodiscard]] verify::PatcherFactory flattens_by_position();
// address_tables.cpp
[[nodiscard]] verify::PatcherFactory leaves_its_table_behind();
[[nodiscard]] verify::PatcherFactory compares_with_the_last_call();
// wrong_target.cpp
[[nodiscard]] verify::PatcherFactory patches_the_definition();
[[nodiscard]] verify::PatcherFactory patches_the_executable_graph();
// borrowed_arguments.cpp
[[nodiscard]] verify::PatcherFactory borrows_arguments();
// swallowed_errors.cpp
[[nodiscard]] verify::PatcherFactory swallows_errors();

}  // namespace fuzz
