// Programs with work that grows with one number, drawn to measure the cost of each operation (P10).
//
// A few layers of up to kWideFan unordered nodes each, of every type that has a fan, and operations that look at all of
// them: instantiations, launches, patches, updates, clones and destructions in a random order. Valid at every width
// (narrowed()), and without races.
#pragma once

#include <cstdint>

#include "verify/generate/choices.h"
#include "verify/program/program.h"

namespace verify {

inline constexpr std::uint32_t kWideFan = 1024;

[[nodiscard]] Program wide_program(Choices& choices);

}  // namespace verify
