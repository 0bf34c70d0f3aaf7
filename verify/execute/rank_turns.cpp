#include "verify/execute/rank_turns.h"

#include <algorithm>
#include <utility>

namespace verify {

RankTurns::RankTurns(std::size_t ranks, std::vector<std::uint64_t> preempted)
    : preempted_(std::move(preempted)), states_(ranks, State::kReady) {}

void RankTurns::begin(std::size_t rank) {
  hip::sync::UniqueLock lock(mutex_);
  wait_for_turn(lock, rank);
}

void RankTurns::point(std::size_t rank, const char* call) {
  hip::sync::UniqueLock lock(mutex_);
  wait_for_turn(lock, rank);
  ++progress_;
  const bool preempts = std::ranges::binary_search(preempted_, passed_.size());
  passed_.push_back({rank, call, false});
  const std::size_t at = passed_.size() - 1;
  if (!preempts || !hand_over(rank)) return;
  passed_[at].preempted = true;
  wait_for_turn(lock, rank);
}

void RankTurns::meet(std::size_t rank) {
  hip::sync::UniqueLock lock(mutex_);
  wait_for_turn(lock, rank);
  ++progress_;
  states_[rank] = State::kMeets;
  meet_if_all_are_there();
  if (states_[rank] == State::kReady) return;
  hand_over(rank);
  wait_for_turn(lock, rank);
}

void RankTurns::end(std::size_t rank) {
  hip::sync::UniqueLock lock(mutex_);
  wait_for_turn(lock, rank);
  ++progress_;
  states_[rank] = State::kEnded;
  meet_if_all_are_there();
  hand_over(rank);
  changed_.notify_all();
}

bool RankTurns::wait_for_all() {
  hip::sync::UniqueLock lock(mutex_);
  std::uint64_t seen = progress_;
  auto since = std::chrono::steady_clock::now();
  while (!all_ended()) {
    changed_.wait_for(lock, kLockPatience);
    const auto now = std::chrono::steady_clock::now();
    if (progress_ != seen) {
      seen = progress_;
      since = now;
    }
    if (now - since >= kHangPatience) return false;
  }
  return true;
}

std::uint64_t RankTurns::points() const {
  const hip::sync::LockGuard lock(mutex_);
  return passed_.size();
}

std::uint64_t RankTurns::taken() const {
  const hip::sync::LockGuard lock(mutex_);
  return taken_;
}

std::string RankTurns::picture() const {
  const hip::sync::LockGuard lock(mutex_);
  std::string text;
  for (std::size_t i = 0; i < passed_.size(); ++i) {
    const Passed& one = passed_[i];
    const bool goes_on = i != 0 && passed_[i - 1].rank == one.rank && !passed_[i - 1].preempted;
    if (!goes_on) text += (i == 0 ? "rank " : "\nrank ") + std::to_string(one.rank) + ":";
    text += std::string(" ") + one.call + (one.preempted ? " (preempted)" : "");
  }
  return text;
}

void RankTurns::wait_for_turn(hip::sync::UniqueLock& lock, std::size_t rank) {
  std::uint64_t seen = progress_;
  while (running_ != rank || states_[rank] == State::kMeets) {
    const bool told = changed_.wait_for(lock, kLockPatience) == std::cv_status::no_timeout;
    if (!told && progress_ == seen && states_[rank] == State::kReady && running_ != rank) {
      running_ = rank;
      ++taken_;
      ++progress_;
    }
    seen = progress_;
  }
}

// False: no other rank can run.
bool RankTurns::hand_over(std::size_t from) {
  for (std::size_t step = 1; step < states_.size(); ++step) {
    const std::size_t next = (from + step) % states_.size();
    if (states_[next] != State::kReady) continue;
    running_ = next;
    changed_.notify_all();
    return true;
  }
  return false;
}

void RankTurns::meet_if_all_are_there() {
  if (std::ranges::any_of(states_, [](State state) { return state == State::kReady; })) return;
  for (State& state : states_) {
    if (state == State::kMeets) state = State::kReady;
  }
  changed_.notify_all();
}

bool RankTurns::all_ended() const {
  return std::ranges::all_of(states_, [](State state) { return state == State::kEnded; });
}

}  // namespace verify
