// Coverage of pairs (operation, state): in which states of its objects each operation was tried.
//
// A state is something that is true or not of one object at the moment an operation meets it: a graph "with old
// addresses", an executable graph "that is running", a stream "with work". Several can be true at once; each pair is
// counted by itself. The list of pairs is fixed, so that a pair that was never tried shows as a hole. A pair that no
// valid program can show says why, and programs never show it (a test holds that).
//
// Triples (operation, state, state before it) add the order: the state in which the last command on the same
// object met it.
//
// Not covered: other combinations of states, and states of the runtime that HIP's documentation does not mention.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verify/program/program.h"

namespace verify {

struct CoveragePair {
  std::string operation;     // "launch", "set exec kernel"
  std::string state;         // "exec: running"
  std::string_view why_not;  // why no valid program can show it; empty when one can
};
[[nodiscard]] std::span<const CoveragePair> coverage_pairs();

struct CoverageTriple {
  const CoveragePair* pair;
  std::string_view before;  // "exec: idle"
  bool excluded;            // the pair cannot be, or its state cannot follow `before`: programs never show it
};
[[nodiscard]] std::span<const CoverageTriple> coverage_triples();

// "launch with exec: idle, after exec: running"
[[nodiscard]] std::string name_of(const CoverageTriple& triple);

// The states in which an operation can meet its object, by kind of object: "exec: running" and its meaning.
struct StateMeaning {
  std::string_view name;
  std::string_view meaning;
};
[[nodiscard]] std::span<const StateMeaning> object_states();

// Adds the pairs that the valid program `program` tries to `counts`, which is as long as coverage_pairs(). Appends to
// `triples` the places in coverage_triples() of each triple that it shows, as often as it shows it.
void count_pairs(const Program& program, std::span<std::uint64_t> counts,
                 std::vector<std::uint32_t>* triples = nullptr);

}  // namespace verify
