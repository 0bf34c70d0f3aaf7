#include "verify/execute/rank_turns.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace verify {
namespace {

// Whether a thread of this process sleeps, as it does when it waits for a lock.
bool thread_sleeps(int thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");  // "NUMBER (NAME) STATE ..."
  std::string text;
  std::getline(file, text);
  const std::size_t name_ends = text.rfind(") ");
  return name_ends != std::string::npos && text.substr(name_ends + 2, 1) == "S";
}

}  // namespace

bool PreemptionSchedules::next(std::uint64_t calls) {
  for (std::size_t i = now_.size(); i-- > 0;) {
    if (now_[i] + (now_.size() - i) >= calls) continue;
    ++now_[i];
    for (std::size_t k = i + 1; k < now_.size(); ++k) now_[k] = now_[k - 1] + 1;
    return true;
  }
  if (now_.size() == bound_ || now_.size() >= calls) return false;
  now_.resize(now_.size() + 1);
  for (std::size_t i = 0; i < now_.size(); ++i) now_[i] = i;
  return true;
}

RankTurns::RankTurns(std::size_t ranks, Preemptions preempted, std::chrono::milliseconds hang_patience)
    : preempted_(std::move(preempted)), hang_patience_(hang_patience), states_(ranks, State::kReady), threads_(ranks) {}

void RankTurns::begin(std::size_t rank) {
  hip::sync::UniqueLock lock(mutex_);
  threads_[rank] = gettid();
  ++progress_;
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
    if (now - since >= hang_patience_) return false;
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
  auto since = std::chrono::steady_clock::now();
  unsigned slept = 0;  // how often the thread that has the turn was seen asleep, since something happened
  while (running_ != rank || states_[rank] == State::kMeets) {
    if (changed_.wait_for(lock, kLockPatience) == std::cv_status::no_timeout) continue;
    const bool sleeps = running_rank_sleeps(lock);
    const auto now = std::chrono::steady_clock::now();
    if (std::exchange(seen, progress_) != progress_) {
      since = now;
      slept = 0;
    }
    if (running_ == rank || states_[rank] == State::kMeets) continue;
    slept = sleeps ? slept + 1 : 0;
    if (slept < kSeenAsleep && now - since < kSpinPatience) continue;
    running_ = rank;
    ++taken_;
    ++progress_;
  }
}

// Looks without the lock, which the thread itself may wait for.
bool RankTurns::running_rank_sleeps(hip::sync::UniqueLock& lock) const {
  const int thread = threads_[running_];
  lock.unlock();
  const bool sleeps = thread != 0 && thread_sleeps(thread);
  lock.lock();
  return sleeps;
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
