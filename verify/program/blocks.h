// Blocks of commands that repeat: in the text, the lines between `repeat N` and `end`.
//
// A program holds the steps of all rounds one after the other. So everything that runs, checks or counts programs sees
// plain steps, and every round has steps of its own in an observation. The text, the shrinker and the mutations work on
// the written form, which has the steps of each block once.
//
// A name that a block makes is new in each round: the first round keeps it, later rounds take the next free numbers.
// validate() checks that each round gives back what it makes. Blocks do not nest.
#pragma once

#include <optional>

#include "verify/program/program.h"

namespace verify {

inline constexpr std::uint32_t kMaxRounds = 10000;

[[nodiscard]] bool has_blocks(const Program& program);

// The step of the first round that `step` repeats; outside of blocks, `step`.
[[nodiscard]] std::size_t in_first_round(const Program& program, std::size_t step);

// The program of a written form. No value where it would have more than kMaxCommands steps or a name above kMaxId:
// `too_many` is then the step, or the first step of the block, from which on it has.
[[nodiscard]] std::optional<Program> all_rounds(const Program& written, std::size_t* too_many = nullptr);

// The written form, so that all_rounds() makes the program again. A program whose rounds were changed one by one has no
// blocks any more: it is written step by step.
[[nodiscard]] Program written_form(const Program& program);

// `program` without its marks of blocks: a written form then has one round of each block.
[[nodiscard]] Program without_blocks(Program program);

// A written form without its marks of blocks where a later round would not be valid.
[[nodiscard]] Program keep_valid_blocks(Program written);

}  // namespace verify
