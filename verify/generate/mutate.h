// Mutants: programs made from other programs by a few changes, valid and as free of races as generated programs.
//
// The changes are usual for a fuzzer with a corpus: commands are dropped, doubled, swapped, taken from another program,
// generated anew in the middle, or get another argument. The result is repaired: invalid commands are dropped, racing
// commands are ordered. A mutant is a function of its parents and the choices alone.
//
// Not promised: that a mutant differs from its parent (a repair may undo a change).
#pragma once

#include "verify/generate/choices.h"
#include "verify/generate/generator.h"
#include "verify/program/program.h"

namespace verify {

inline constexpr std::uint64_t kMaxMutations = 4;      // changes of one mutant
inline constexpr std::size_t kMaxMutantSteps = 400;    // longer mutants are cut
inline constexpr std::uint32_t kMaxMutantRepeat = 4;   // of one command
inline constexpr std::uint32_t kMaxMutantRounds = 64;  // of one block
inline constexpr std::size_t kMaxMutantBlock = 400;    // steps of one block in all its rounds
inline constexpr std::uint32_t kMaxMutantFan = 64;     // nodes of one command

[[nodiscard]] Program mutate_program(const Program& base, const Program& other, Choices& choices,
                                     const GeneratorOptions& options);

// `program` without commands that are invalid or that options.avoid names, and with racing commands ordered.
[[nodiscard]] Program repair_program(const Program& program, const GeneratorOptions& options);

// The program of a written form. It has one round of each block where a repair would change a later round.
[[nodiscard]] Program with_fit_blocks(const Program& written, const GeneratorOptions& options);

}  // namespace verify
