// Programs that must observe the same as the program they are made from (P9), or as each other.
//
// Small changes are made here. A pair that needs more has a file of its own (verify/properties/variants.h).
#pragma once

#include <optional>
#include <vector>

#include "verify/program/program.h"
#include "verify/properties/variants.h"

namespace verify {

// Only variants that are valid and differ from `program`.
[[nodiscard]] std::vector<Variant> equal_variants(const Program& program, const Avoid& avoid = {});

// The same program without the edges that other edges imply; no value when there is no such edge.
[[nodiscard]] std::optional<Program> without_redundant_edges(const Program& program);
// The same program with each node behind the node that was added to its graph before it. No value when that changes
// nothing, when the program would be invalid (an edge that is added later closes a cycle or is there already), and for
// programs with updates.
[[nodiscard]] std::optional<Program> with_nodes_in_a_chain(const Program& program);
// The same program with setters of the single nodes in the place of every patch; no value when
// there is no such patch.
[[nodiscard]] std::optional<Program> with_setters_for_patches(const Program& program);

}  // namespace verify
