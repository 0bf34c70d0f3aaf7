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
}

void Stepper::serve(std::shared_ptr<Handlers> handlers) {
  const hip::sync::LockGuard lock(mutex_);
  handlers_ = std::move(handlers);
}

void Stepper::add(Actor* actor) {
  const hip::sync::LockGuard lock(mutex_);
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

bool Stepper::step(bool handlers) {
  meet();
  std::shared_ptr<Handlers> calls;
  Actor::Stepped stepped;
  {
    const hip::sync::LockGuard lock(mutex_);
    ready_.clear();
    for (std::size_t i = 0; i < actors_.size(); ++i) {
      const std::size_t slot = (turn_ + i) % actors_.size();
      if (actors_[slot]->ready()) ready_.push_back(slot);
    }
    if (handlers && handlers_ != nullptr && handlers_->ready()) calls = handlers_;
    if (ready_.empty() && calls == nullptr) return false;
    const u32 choices = static_cast<u32>(ready_.size()) + (calls != nullptr ? 1 : 0);
    // Without a seed a handler comes first, as if its thread were never late.
    const u32 chosen = calls != nullptr && !choices_.on() ? choices - 1 : choose(choices);
    steps_.fetch_add(1, std::memory_order_relaxed);
    if (chosen < ready_.size()) {
      turn_ = ready_[chosen] + 1;
      stepped = actors_[ready_[chosen]]->step();
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
  if (on()) step(false);
}

void Stepper::host_rings() {
  if (!on()) return;
  signals_.drivers_door().knock();
  if (!choices_.on()) return meet();
  u32 count = 0;
  {
    const hip::sync::LockGuard lock(mutex_);
    const u32 drawn = choose(2 * kStepsAtRing);
    count = drawn < kStepsAtRing ? drawn : 0;
  }
  while (count-- > 0 && step(false)) {}
}

}  // namespace agent
