// The rules of a command: whether it may stand in a program, and its effect on verify::State.
//
// verify::State asks Rules<C> about a command of type C. The family of the command answers in
// verify/commands/<family>/rules.cpp; verify/commands/define_rules.h describes that file. A command without rules
// does not build.
//
// Every question is total and free of side effects; only apply() changes the state.
#pragma once

#include <cstdint>
#include <string>

#include "verify/program/state.h"

namespace verify {

template <class C>
struct Rules {
  // Why the command may not stand here, or nothing.
  [[nodiscard]] static Reason check(const State& state, const C& c);
  // HIP's answer by the rules of stream capture (verify/program/capture_state.h).
  [[nodiscard]] static CaptureAnswer answer(const State& state, const C& c);
  // Applies a command that check() allows, with its effect on captures.
  static void apply(State& state, const C& c);
  // The runtime may refuse the command here, and whether it does is an observation.
  [[nodiscard]] static bool may_be_refused(const State& state, const C& c);
  // The command's answer besides its status, where that is determined.
  [[nodiscard]] static std::string seen(const State& state, const C& c);
  // The highest device that the command names; 0 when it names none.
  [[nodiscard]] static Id highest_device(const C& c);
  // Whether the command, applied once, may follow itself any number of times with no new effect (P8).
  [[nodiscard]] static bool may_stand_again(const State& state, const C& c);
  // How many of `repeats` repetitions have to be applied one by one: the later ones have the same effect.
  [[nodiscard]] static std::uint32_t repeats_that_matter(std::uint32_t repeats);
};

}  // namespace verify
