#include "verify/race/scheduling_strategies.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace verify::race {

// SplitMix64: the same numbers on every machine.
std::uint64_t Pct::random(std::uint64_t below) {
  std::uint64_t z = (random_ += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return (z ^ (z >> 31U)) % below;
}

// Initial priorities are at least depth_; the change points use the lower priorities.
void Pct::begin() {
  steps_ = std::max(steps_, step_);
  step_ = 0;
  for (std::uint32_t i = 0; i < kMaxThreads; ++i) priority_.at(i) = depth_ + i;
  for (std::uint32_t i = kMaxThreads - 1; i > 0; --i) std::swap(priority_.at(i), priority_.at(random(i + 1)));
  changes_.clear();
  for (std::uint32_t i = 1; i < depth_; ++i) changes_.push_back(static_cast<std::uint32_t>(random(steps_)));
}

ThreadNumber Pct::choose(const Choice& choice) {
  threads_ = std::max(threads_, static_cast<std::uint32_t>(std::bit_width(choice.enabled)));
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    if (changes_[i] == step_) priority_.at(choice.current) = static_cast<std::uint32_t>(i);
  }
  ++step_;
  ThreadNumber best = 0;
  bool any = false;
  for (ThreadNumber thread = 0; thread < kMaxThreads; ++thread) {
    if ((choice.enabled & bit(thread)) == 0) continue;
    if (!any || priority_.at(thread) > priority_.at(best)) best = thread;
    any = true;
  }
  return best;
}

double Pct::probability() const {
  return 1.0 / (threads_ * std::pow(static_cast<double>(std::max(steps_, step_)), depth_ - 1));
}

ThreadNumber Replay::choose(const Choice& choice) {
  const std::size_t at = next_++;
  if (at < choices_.size() && (choice.enabled & bit(choices_[at])) != 0) return choices_[at];
  if (at < choices_.size()) deviated_ = true;
  return choice.yields ? static_cast<ThreadNumber>(std::countr_zero(choice.enabled)) : choice.current;
}

}  // namespace verify::race
