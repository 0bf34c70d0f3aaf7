// Choosing who makes the next step; the contract is in the header.
#include "hip/agent/stepper.h"

#include <algorithm>
#include <utility>

#include "hip/agent/handlers.h"

namespace agent {

void Stepper::turn(bool on) {
  on_.store(on, std::memory_order_relaxed);
  begin_schedule();
}

void Stepper::begin_schedule() {
  const hip::sync::LockGuard lock(mutex_);
  turn_ = 0;
  drawn_ = 0;
  stretch_ = 0;
  numbers_ = 0;
  for (Actor* actor : actors_) actor->number_ = numbers_++;
  begin_stretch();
  looks_.store(0, std::memory_order_relaxed);
  ranks_.begin(0);
  ranked_.store(ranks_.choose(2) != 0, std::memory_order_relaxed);
}

void Stepper::serve(std::shared_ptr<Handlers> handlers) {
  const hip::sync::LockGuard lock(mutex_);
  handlers_ = std::move(handlers);
}

void Stepper::add(Actor* actor) {
  const hip::sync::LockGuard lock(mutex_);
  actor->number_ = numbers_++;
  actors_.push_back(actor);
}

void Stepper::remove(Actor* actor) {
  const hip::sync::LockGuard lock(mutex_);
  std::erase(actors_, actor);
}

u32 Stepper::choose(u32 choices) {
  choices_.begin(drawn_++);
  return choices_.choose(choices);
}

u32 Stepper::rank(u64 number) {
  ranks_.begin(stretch_ * kRanked + number);
  return ranks_.choose(~u32{0});
}

u32 Stepper::rank(const Actor& actor) {
  return rank(kFirstActor + actor.number_ % (kRanked - kFirstActor));
}

u32 Stepper::chosen(bool calls) {
  const u32 choices = static_cast<u32>(ready_.size()) + (calls ? 1 : 0);
  // Without a seed a handler comes first, as if its thread were never late.
  if (calls && !choices_.on()) return choices - 1;
  if (!ranked_.load(std::memory_order_relaxed)) return choose(choices);
  u32 first = choices - 1;
  u32 highest = calls ? rank(kHandlers) : 0;
  for (u32 i = 0; i < ready_.size(); ++i) {
    const u32 each = rank(*actors_[ready_[i]]);
    if (each < highest) continue;
    first = i;
    highest = each;
  }
  if (--stretch_left_ == 0) begin_stretch();
  return first;
}

void Stepper::begin_stretch() {
  ++stretch_;
  stretch_left_ = 1U << choose(9);
}

bool Stepper::host_is_late() {
  const hip::sync::LockGuard lock(mutex_);
  const u32 host = rank(kHost);
  find_ready();
  return std::ranges::any_of(ready_, [&](std::size_t slot) { return rank(*actors_[slot]) > host; });
}

void Stepper::find_ready() {
  ready_.clear();
  for (std::size_t i = 0; i < actors_.size(); ++i) {
    const std::size_t slot = (turn_ + i) % actors_.size();
    if (actors_[slot]->ready()) ready_.push_back(slot);
  }
}

bool Stepper::has_work() {
  const hip::sync::LockGuard lock(mutex_);
  return (handlers_ != nullptr && handlers_->ready()) ||
         std::ranges::any_of(actors_, [](Actor* a) { return a->ready(); });
}

void Stepper::meet() {
  std::shared_ptr<Handlers> handlers;
  {
    const hip::sync::LockGuard lock(mutex_);
    handlers = handlers_;
  }
  if (handlers != nullptr) handlers->let_return();
}

static thread_local bool makes_a_step = false;

bool Stepper::host_yields() {
  return on() && !makes_a_step && step(true);
}

bool Stepper::step(bool handlers) {
  meet();
  std::shared_ptr<Handlers> calls;
  Actor::Stepped stepped;
  {
    const hip::sync::LockGuard lock(mutex_);
    find_ready();
    if (handlers && handlers_ != nullptr && handlers_->ready()) calls = handlers_;
    if (ready_.empty() && calls == nullptr) return false;
    const u32 one = chosen(calls != nullptr);
    looks_.store(0, std::memory_order_relaxed);
    steps_.fetch_add(1, std::memory_order_relaxed);
    if (one < ready_.size()) {
      turn_ = ready_[one] + 1;
      makes_a_step = true;
      stepped = actors_[ready_[one]]->step();
      makes_a_step = false;
      calls.reset();
    }
  }
  if (calls != nullptr) calls->call();
  if (stepped.tell) stepped.tell();
  if (stepped.ended || calls != nullptr) ends_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void Stepper::settle() {
  if (!on()) return;
  u64 ends = ends_.load(std::memory_order_relaxed);
  for (u32 left = kMostStepsWithoutAnEnd; left > 0 && step(true); --left) {
    if (const u64 now = ends_.load(std::memory_order_relaxed); now != ends) {
      ends = now;
      left = kMostStepsWithoutAnEnd;
    }
  }
}

void Stepper::host_looks() {
  if (!on()) return;
  meet();
  if (ranked_.load(std::memory_order_relaxed) && looks_.fetch_add(1, std::memory_order_relaxed) < kLooksWithoutAStep &&
      !host_is_late())
    return;
  step(false);
}

void Stepper::host_rings() {
  if (!on()) return;
  signals_.drivers_door().knock();
  meet();
  if (!choices_.on()) return;
  if (ranked_.load(std::memory_order_relaxed)) {
    for (u32 left = kMostStepsAtRing; left > 0 && host_is_late() && step(false); --left) {}
    return;
  }
  u32 count = 0;
  {
    const hip::sync::LockGuard lock(mutex_);
    const u32 drawn = choose(2 * kStepsAtRing);
    count = drawn < kStepsAtRing ? drawn : 0;
  }
  while (count-- > 0 && step(false)) {}
}

}  // namespace agent
