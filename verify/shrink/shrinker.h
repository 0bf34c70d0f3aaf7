// verify::Shrinker: makes a program as short and as plain as it can while something about it stays true.
//
// Works on any valid program from any source: it lets blocks repeat less often, drops commands and simplifies the rest;
// ids are never renumbered, but for those of later rounds of a block.
// After every change, commands that are no longer valid at their place are dropped as well, so that each candidate is a
// valid program. It ends within `max_runs` evaluations of the predicate. The result satisfies the predicate; it is a
// local minimum (no single step helps any more) unless the bound was reached first.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "verify/program/program.h"

namespace verify {

// Whether a program still shows the failure. Called with valid programs only.
using StillFails = std::function<bool(const Program&)>;

struct ShrinkResult {
  Program program;
  std::uint32_t runs = 0;  // evaluations of the predicate
  bool bound_reached = false;
};

class Shrinker {
 public:
  explicit Shrinker(std::uint32_t max_runs = kDefaultRuns) : max_runs_(max_runs) {}
  // `program` has to satisfy the predicate.
  [[nodiscard]] ShrinkResult shrink(const Program& program, const StillFails& still_fails) const;

  static constexpr std::uint32_t kDefaultRuns = 3000;

 private:
  std::uint32_t max_runs_;
};

// `program` without the commands that are not valid at their place, and without its marks of blocks.
[[nodiscard]] Program drop_invalid(const Program& program);

// Simpler variants of one command, plainest first; none for most commands.
[[nodiscard]] std::vector<Step> simpler_steps(const Step& step);

}  // namespace verify
