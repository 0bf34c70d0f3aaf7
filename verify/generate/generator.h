// Generators of whole programs, valid by construction: verify::State checks every command before it is taken.
//
// Biased towards cases that break patchers: scalars that equal addresses, swaps and cycles, addresses that are freed
// and reused, slices, ranges that end one past a buffer, empty, deep and wide graphs, copies of every direction and
// shape. Each program switches features on and off first (swarm testing), so that no feature drowns another.
//
// Not generated: data races (State's conservative checks exclude them) and anything that HIP leaves undefined.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "verify/generate/choices.h"
#include "verify/generate/environments.h"
#include "verify/program/program.h"
#include "verify/program/state.h"

namespace verify {

struct GeneratorOptions {
  std::uint32_t size = 30;  // commands, about
  std::uint64_t max_buffer_bytes = 4096;
  bool failures = true;  // `fail` and `fail_below`
  // One in that many of a campaign's programs is a scenario of one of the systems (verify/generate/scenario.h), in
  // turn; 0: none.
  std::uint32_t systems_every = 16;
  int system_devices = 1;                // that scenarios may name
  bool several_devices = true;           // other programs may name a second device
  Environments environments{};           // of a campaign's programs
  std::optional<System> system{};        // scenarios of that one alone
  std::optional<Placement> placement{};  // of every program; none: drawn
  // Whether to avoid a command of a thread (0: in no block of threads) in a state; empty: avoid none. Asked only about
  // commands that are valid there.
  std::function<bool(const State&, const Command&, Id)> avoid{};
};

// The most commands of a generated program: its last action may be long, and a block stands behind it.
[[nodiscard]] constexpr std::uint32_t most_commands(const GeneratorOptions& options) {
  constexpr std::uint32_t kLongestEnd = 60;
  return options.size + options.size / 5 + kLongestEnd;
}

[[nodiscard]] Program generate_program(Choices& choices, const GeneratorOptions& options);

// A program of the actions of one system.
[[nodiscard]] Program scenario_program(Choices& choices, System system, const GeneratorOptions& options);

// The random choices for a campaign's `index`-th program.
[[nodiscard]] RandomChoices campaign_choices(std::uint64_t seed, std::uint64_t index);

// The program that a campaign runs as its `index`-th: a function of seed, index and options alone.
[[nodiscard]] Program campaign_program(std::uint64_t seed, std::uint64_t index, const GeneratorOptions& options);

// `program` with a few commands generated between its first `at` steps and the rest, which may become invalid. Nothing
// is generated where the first `at` steps are not valid.
[[nodiscard]] Program insert_generated(const Program& program, std::size_t at, Choices& choices,
                                       const GeneratorOptions& options);

// generate_program() as a RapidCheck generator. It shrinks with verify::Shrinker.
[[nodiscard]] rc::Gen<Program> arbitrary_program(const GeneratorOptions& options);

}  // namespace verify
