// Quirks that tests make up, and how they explain programs.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "releases.h"

namespace verify {

// A quirk of 7.2.
constexpr Quirk made_up(std::string_view triggers, std::string_view effects) {
  return {"made-up",
          "title",
          {hip::Release::k7_2},
          StrategyKind::kPatch,
          triggers,
          effects,
          "",
          GoneAround::kNever,
          "d",
          "h",
          "e",
          "a"};
}

// Whether the quirk by itself explains the divergence.
inline bool explains(const Quirk& quirk, const Program& program, const Divergence& divergence,
                     StrategyKind strategy = StrategyKind::kPatch, std::string_view release = "7.2") {
  return QuirkSet(release, {&quirk, 1}).explain(program, strategy, divergence) != nullptr;
}

// The program ends with other bytes.
inline Divergence other_bytes(const Program& program) {
  return {program.steps.size(), Effect::kBytes, 0};
}

// The last command, an update, is refused.
inline Divergence refused_update(const Program& program) {
  return {program.steps.size() - 1, Effect::kStatus, hipErrorGraphExecUpdateFailure};
}

inline Program valid_program(const std::string& commands) {
  Program program = program_of(commands);
  EXPECT_EQ(flaw(program), "");
  return program;
}

// How many commands of the program may show a quirk.
inline std::uint64_t triggers_in(const Program& program, const QuirkSet& quirks, StrategyKind strategy) {
  State state;
  std::uint64_t found = 0;
  for (const Step& step : program.steps) {
    found += quirks.triggered(state, step.command, strategy, step.in.thread) != nullptr ? 1 : 0;
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state.apply(step.command);
  }
  return found;
}

}  // namespace verify
