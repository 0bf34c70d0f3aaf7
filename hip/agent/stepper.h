// The machine as a simulation that is stepped: queues, copy engines and the calls of handlers advance one step at a
// time, on the back of the host's thread that waits.
//
// A step is: a queue takes a packet and executes it (of a kernel, some instructions), or signals its completion; an
// engine copies, or signals the completion; one handler is called. Of all actors that can make a step one is chosen:
// without a seed they take turns, with a seed each choice is a function of the seed and of the number of choices
// before. A host's thread steps the machine while it waits for a signal, and makes some steps when it rings a doorbell
// or looks at a signal, so that a loop that polls ends. Steps of queues and engines never
// overlap.
//
// Half of the seeds choose each step evenly. The others rank the actors, the calls of handlers and the host: the first
// that can makes all steps, for a stretch of 1 to 256 of them, then all get other ranks (after Burckhardt, Kothari,
// Musuvathi and Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding bugs", 2010). So one of
// them can be late by far more than a few steps.
//
// Handlers are functions of the runtime above and take its locks, so a thread of their own calls them: the thread that
// steps waits until the call has returned, or sleeps, because the handler may wait for a lock that this thread holds;
// every later meeting of a host's thread with the machine waits for it again. The handlers' thread also steps, when for
// kStalled nobody has and every other thread of the process sleeps, or the process has used kStalled of processor time
// meanwhile: a host's thread may wait in a way that is not seen here, asleep or in a loop.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hip/agent/schedule.h"
#include "hip/agent/signals.h"

namespace agent {

class Handlers;
class Stepper;

// Something that makes steps: a queue or an engine.
class Actor {
 public:
  Actor() = default;
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;
  virtual ~Actor() = default;

  // Whether step() would do something now.
  [[nodiscard]] virtual bool ready() = 0;
  struct Stepped {
    bool ended = false;          // a packet or a copy came to its end
    std::function<void()> tell;  // of a fault; calls functions of the runtime above, so never during a step
  };
  virtual Stepped step() = 0;

 private:
  friend class Stepper;
  u64 number_ = 0;  // of the stepper's ranks, since the schedule began
};

class Stepper {
 public:
  static constexpr std::chrono::milliseconds kStalled{1};

  Stepper(Signals& signals, const Schedule& schedule)
      : signals_(signals), choices_(schedule, kWho), ranks_(schedule, kWho + 1) {}

  // Before the first actor is added.
  void turn(bool on);
  // The choices of a seed begin anew.
  void begin_schedule();
  [[nodiscard]] bool on() const { return on_.load(std::memory_order_relaxed); }
  // nullptr: no call of a handler begins from here on.
  void serve(std::shared_ptr<Handlers> handlers);
  // Not owned.
  void add(Actor* actor);
  // Returns when no step of it is under way.
  void remove(Actor* actor);

  // Whether a step could be made now.
  [[nodiscard]] bool has_work();
  // Makes one step; false if nobody can. `handlers`: whether a handler may be called.
  bool step(bool handlers);
  // Steps until `done()`, or until so many nanoseconds have passed.
  template <class Done>
  void run_until(const Done& done, u64 nanoseconds);
  // Steps until nobody can: what is asked next is to be told of a machine at rest. Gives up after
  // kMostStepsWithoutAnEnd steps that ended no packet, no copy and no call: a kernel waits for the host.
  void settle();
  // A host's thread looks at the machine, or hands it work: it may make some steps.
  void host_looks();
  void host_rings();
  // A host's thread yields in a loop: makes a step; false if nobody can, or if a step is what yields.
  bool host_yields();
  [[nodiscard]] u64 steps() const { return steps_.load(std::memory_order_relaxed); }

 private:
  static constexpr u64 kWho = u64{1} << 41;  // a number for the schedule
  static constexpr u32 kStepsAtRing = 4;
  static constexpr u32 kMostStepsWithoutAnEnd = 256;
  static constexpr u32 kMostStepsAtRing = 64;  // of actors that come before the host
  static constexpr u32 kLooksWithoutAStep = 16;
  // The host, the calls of handlers and the actors have ranks; actors beyond these numbers share some.
  static constexpr u64 kHost = 0, kHandlers = 1, kFirstActor = 2, kRanked = 64;
  [[nodiscard]] u32 choose(u32 choices);
  [[nodiscard]] u32 rank(u64 number);
  [[nodiscard]] u32 rank(const Actor& actor);
  void begin_stretch();
  // Which of ready_, or one behind the last for a call of a handler.
  [[nodiscard]] u32 chosen(bool calls);
  // Whether a queue or an engine that can make a step comes before the host.
  [[nodiscard]] bool host_is_late();
  void find_ready();
  // A host's thread is here: lets the handler that is being called return.
  void meet();

  Signals& signals_;
  hip::sync::Atomic<bool> on_{false};
  hip::sync::Mutex mutex_;  // held during a step
  Schedule::Stream choices_;
  Schedule::Stream ranks_;
  u64 stretch_ = 0;       // how many times ranks were given
  u32 stretch_left_ = 1;  // steps until there are others
  u64 numbers_ = 0;       // given to actors
  std::vector<Actor*> actors_;
  std::vector<std::size_t> ready_;  // indices in actors_
  std::shared_ptr<Handlers> handlers_;
  u64 drawn_ = 0;                          // choices so far
  std::size_t turn_ = 0;                   // the actor whose turn it is without a seed
  hip::sync::Atomic<bool> ranked_{false};  // this seed's way
  hip::sync::Atomic<u32> looks_{0};        // of the host since the last step
  hip::sync::Atomic<u64> steps_{0};
  hip::sync::Atomic<u64> ends_{0};
};

template <class Done>
void Stepper::run_until(const Done& done, u64 nanoseconds) {
  const auto deadline = deadline_after(nanoseconds);
  while (!done()) {
    u64 knocks = signals_.drivers_door().knocks();
    const bool stepped = step(true);
    if (stepped && nanoseconds == ~u64{0}) continue;
    const auto now = std::chrono::steady_clock::now();
    if (done() || now >= deadline) return;
    if (stepped) continue;
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - now).count();
    static_cast<void>(signals_.drivers_door().wait(knocks, std::min(static_cast<u64>(left), kLookAgain)));
  }
}

}  // namespace agent
