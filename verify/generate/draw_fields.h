// Draws commands from the fields that they declare (verify/commands/fields.h). Internal to verify/generate.
//
// Draws names from the live objects of a letter, or the next number for an object that the command makes; numbers from
// those of the range that are likely to matter; words from the field's words. State::check decides which values fit
// together, and a refused draw is drawn anew. Commands with lists of nodes, parameters of nodes, moves or calls that
// fail are drawn by hand; declaring them as drawn by their fields does not compile.
#pragma once

#include <optional>

#include "verify/generate/choices.h"
#include "verify/program/names.h"
#include "verify/program/state.h"

namespace verify {

inline constexpr std::size_t kMostDrawnObjects = 4;  // of one letter, made by commands that are drawn here
inline constexpr int kFieldsAttempts = 8;            // draws before a topic is given up

// A valid command of the topic, by weight; no value where no draw fitted. `devices`: the number that may be named.
[[nodiscard]] std::optional<Command> draw_by_fields(Choices& choices, const State& state, NextNames names, Topic topic,
                                                    Id devices = 1);

// The live objects of a letter that commands may name, in the order of their numbers.
[[nodiscard]] std::vector<Id> live_objects(const State& state, char letter);

}  // namespace verify
