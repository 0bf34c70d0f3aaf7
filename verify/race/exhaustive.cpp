#include "verify/race/exhaustive.h"

#include <bit>

namespace verify::race {

bool Exhaustive::next() {
  if (!started_) {
    started_ = true;
    return true;
  }
  while (!path_.empty()) {
    Node& node = path_.back();
    for (ThreadNumber thread = 0; thread < kMaxThreads; ++thread) {
      if ((node.backtrack & ~node.tried & bit(thread)) == 0) continue;
      node.tried |= bit(thread);
      if (preempts(node, thread) && node.preemptions >= options_.bound) {
        bound_reached_ = true;
        continue;
      }
      node.chosen = thread;
      const std::size_t at = path_.size() - 1;
      node.run = at != 0 && path_[at - 1].chosen == thread ? path_[at - 1].run : static_cast<std::uint32_t>(at);
      fixed_ = static_cast<std::uint32_t>(path_.size());
      return true;
    }
    path_.pop_back();
  }
  return false;
}

double Exhaustive::share() const {
  double share = 0;
  double weight = 1;
  for (const Node& node : path_) {
    const int open = std::popcount(node.backtrack);
    const int done = std::popcount(static_cast<Mask>(node.tried & node.backtrack)) - 1;
    share += weight * done / open;
    weight /= open;
  }
  return share;
}

std::uint32_t Exhaustive::preemptions() const {
  if (path_.empty()) return 0;
  const Node& last = path_.back();
  return last.preemptions + (preempts(last, last.chosen) ? 1 : 0);
}

void Exhaustive::begin() {
  depth_ = 0;
  ++schedule_;
  clocks_.fill(Clock());
}

ThreadNumber Exhaustive::choose(const Choice& choice) {
  const std::uint32_t at = depth_++;
  if (at < fixed_) {
    const Node& node = path_[at];
    // The answer of a thread that is not enabled tells the runner that the same choices led somewhere else.
    if (node.enabled == choice.enabled && node.current == choice.current) return node.chosen;
    for (ThreadNumber thread = 0; thread < kMaxThreads; ++thread) {
      if ((choice.enabled & bit(thread)) == 0) return thread;
    }
    return node.chosen;
  }
  path_.resize(at);
  Node node;
  node.enabled = choice.enabled;
  node.current = choice.current;
  node.yields = choice.yields;
  node.preemptions = preemptions();
  node.chosen = choice.yields ? static_cast<ThreadNumber>(std::countr_zero(choice.enabled)) : choice.current;
  node.tried = bit(node.chosen);
  node.backtrack = options_.reduce ? node.tried : choice.enabled;
  node.run = at != 0 && path_[at - 1].chosen == node.chosen ? path_[at - 1].run : at;
  path_.push_back(node);
  return node.chosen;
}

void Exhaustive::backtrack(std::uint32_t at, ThreadNumber thread) {
  if (at == kNowhere) return;
  const auto add = [&](Node& node) {
    node.backtrack |= (node.enabled & bit(thread)) != 0 ? bit(thread) : node.enabled;
  };
  add(path_[at]);
  const std::uint32_t run = path_[at].run;
  if (run != at) add(path_[run]);
}

void Exhaustive::overtakes(ThreadNumber thread, const std::array<Last, kMaxThreads>& others) {
  for (ThreadNumber other = 0; other < kMaxThreads; ++other) {
    const Last& last = others.at(other);
    if (other == thread || last.node == kNowhere) continue;
    if (!clocks_.at(thread).knows(other, last.time)) backtrack(last.node, thread);
  }
}

void Exhaustive::overtakes(ThreadNumber thread, std::uint32_t object, StepEffect effect) {
  if (object == kNoObject || effect == StepEffect::kNone) return;
  const Touched& seen = touched(object);
  if (effect == StepEffect::kRelease || effect == StepEffect::kReleaseShared) {
    overtakes(thread, seen.attempt);
    return;
  }
  overtakes(thread, seen.write);
  if (effect == StepEffect::kRead) {
    overtakes(thread, seen.attempt);
    return;
  }
  overtakes(thread, seen.read);
  overtakes(thread, seen.attempt);
  if (effect == StepEffect::kTry) overtakes(thread, seen.release);
}

Exhaustive::Touched& Exhaustive::touched(std::uint32_t object) {
  if (object >= objects_.size()) objects_.resize(object + 64);
  Touched& state = objects_[object];
  if (state.schedule != schedule_) {
    state = Touched();
    state.schedule = schedule_;
  }
  return state;
}

void Exhaustive::remember(ThreadNumber thread, std::uint32_t object, StepEffect effect) {
  if (object == kNoObject || effect == StepEffect::kNone) return;
  Touched& seen = touched(object);
  Clock& mine = clocks_.at(thread);
  const Last last{depth_ - 1, mine.at.at(thread)};
  if (effect == StepEffect::kRead || effect == StepEffect::kReleaseShared) {
    mine.join(seen.writes);
    seen.reads.join(mine);
    (effect == StepEffect::kRead ? seen.read : seen.release).at(thread) = last;
    return;
  }
  mine.join(seen.writes);
  mine.join(seen.reads);
  seen.writes = mine;
  (effect == StepEffect::kWrite ? seen.write
   : effect == StepEffect::kTry ? seen.attempt
                                : seen.release)
      .at(thread) = last;
}

void Exhaustive::executes(ThreadNumber thread, const Footprint& footprint) {
  if (!options_.reduce || depth_ == 0) return;
  overtakes(thread, footprint.object, footprint.effect);
  overtakes(thread, footprint.mutex, footprint.mutex_effect);
  ++clocks_.at(thread).at.at(thread);
  remember(thread, footprint.object, footprint.effect);
  remember(thread, footprint.mutex, footprint.mutex_effect);
}

void Exhaustive::spawned(ThreadNumber parent, ThreadNumber child) {
  clocks_.at(child).join(clocks_.at(parent));
}

void Exhaustive::joined(ThreadNumber parent, ThreadNumber child) {
  clocks_.at(parent).join(clocks_.at(child));
}

void Exhaustive::left_waiting(ThreadNumber thread, const Footprint& footprint) {
  if (!options_.reduce || depth_ == 0) return;
  overtakes(thread, footprint.object, footprint.effect);
  overtakes(thread, footprint.mutex, footprint.mutex_effect);
}

}  // namespace verify::race
