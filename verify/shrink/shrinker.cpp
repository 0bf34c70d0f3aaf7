#include "verify/shrink/shrinker.h"

#include <algorithm>
#include <cassert>

#include "verify/generate/generator.h"
#include "verify/program/state.h"

namespace verify {

Program drop_invalid(const Program& program) {
  Program valid;
  valid.placement = program.placement;
  State state;
  for (const Step& step : program.steps) {
    const std::uint32_t times = repeats_that_matter(step);
    State before = times > 1 ? state : State{};  // what a repetition that comes to a stop is undone to
    bool stands = true;
    for (std::uint32_t k = 0; k < times && stands; ++k) {
      stands = !state.check(step.command);
      if (stands) state.apply(step.command);
    }
    if (stands) {
      valid.steps.push_back(step);
    } else if (times > 1) {
      state = std::move(before);
    }
  }
  return valid;
}

namespace {

// One shrink: holds the best program so far and the budget.
class Descent {
 public:
  Descent(const Program& program, const StillFails& still_fails, std::uint32_t max_runs)
      : best_(program), still_fails_(still_fails), max_runs_(max_runs) {}

  ShrinkResult run() {
    bool improved = true;
    while (improved && !spent()) {
      improved = drop_commands();
      improved = simplify_commands() || improved;
      improved = use_arena() || improved;
    }
    return {best_, runs_, spent()};
  }

 private:
  [[nodiscard]] bool spent() const { return runs_ >= max_runs_; }

  bool accept(const Program& candidate) {
    if (spent()) return false;
    Program valid = drop_invalid(candidate);
    // Dropping what became invalid may undo the change's purpose or drop everything; both are the predicate's to judge,
    // but a program that did not get smaller or plainer must not be taken, or the descent would not end.
    if (valid.steps.size() > best_.steps.size()) return false;
    ++runs_;
    if (!still_fails_(valid)) return false;
    best_ = std::move(valid);
    return true;
  }

  // Halves, quarters, ... and single commands, from the end (later commands depend on earlier ones).
  bool drop_commands() {
    bool any = false;
    for (std::size_t chunk = std::max<std::size_t>(best_.steps.size() / 2, 1); !spent(); chunk /= 2) {
      std::size_t end = best_.steps.size();
      while (end > 0 && !spent()) {
        const std::size_t begin = end > chunk ? end - chunk : 0;
        Program candidate = best_;
        candidate.steps.erase(candidate.steps.begin() + static_cast<std::ptrdiff_t>(begin),
                              candidate.steps.begin() + static_cast<std::ptrdiff_t>(end));
        any = accept(candidate) || any;
        end = std::min(begin, best_.steps.size());
      }
      if (chunk == 1) break;
    }
    return any;
  }

  bool simplify_commands() {
    bool any = false;
    for (std::size_t i = 0; i < best_.steps.size() && !spent(); ++i) {
      bool again = true;
      while (again && !spent() && i < best_.steps.size()) {
        again = false;
        for (Step& simpler : simpler_steps(best_.steps[i])) {
          Program candidate = best_;
          candidate.steps[i] = std::move(simpler);
          if (accept(candidate)) {
            any = again = true;
            break;
          }
          if (spent()) break;
        }
      }
    }
    return any;
  }

  bool use_arena() {
    if (best_.placement == Placement::kArena) return false;
    Program candidate = best_;
    candidate.placement = Placement::kArena;
    return accept(candidate);
  }

  Program best_;
  const StillFails& still_fails_;
  std::uint32_t max_runs_;
  std::uint32_t runs_ = 0;
};

}  // namespace

ShrinkResult Shrinker::shrink(const Program& program, const StillFails& still_fails) const {
  assert(!validate(program));
  return Descent(program, still_fails, max_runs_).run();
}

namespace {

// RapidCheck asks for all candidates of one step and takes the first that fails.
rc::Seq<Program> shrinks_of(const Program& program) {
  std::vector<Program> candidates;
  for (std::size_t i = program.steps.size(); i-- > 0;) {
    Program candidate = program;
    candidate.steps.erase(candidate.steps.begin() + static_cast<std::ptrdiff_t>(i));
    candidates.push_back(drop_invalid(candidate));
  }
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    for (Step& simpler : simpler_steps(program.steps[i])) {
      Program candidate = program;
      candidate.steps[i] = std::move(simpler);
      candidates.push_back(drop_invalid(candidate));
    }
  }
  return rc::seq::fromContainer(std::move(candidates));
}

}  // namespace

rc::Gen<Program> arbitrary_program(const GeneratorOptions& options) {
  return rc::Gen<Program>([options](const rc::Random& random, int size) {
    GeneratorOptions sized = options;
    sized.size = std::max<std::uint32_t>(6, options.size * static_cast<std::uint32_t>(std::max(size, 10)) / 100);
    RandomChoices choices(random);
    return rc::shrinkable::shrinkRecur(generate_program(choices, sized),
                                       [](const Program& program) { return shrinks_of(program); });
  });
}

}  // namespace verify
