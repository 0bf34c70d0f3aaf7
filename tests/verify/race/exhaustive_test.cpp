// The reduction leaves out schedules and no outcome: held against unreduced exploration on random small programs.
#include <gtest/gtest.h>

#include <random>

#include "bodies.h"
#include "verify/race/sanitizers.h"

namespace race_test {
namespace {

struct Line {
  enum Verb : std::uint8_t { kLoad, kStore, kAdd, kLock, kUnlock, kTry, kWrite, kShared, kVerbs };
  Verb verb = kLoad;
  int object = 0;
};
using Code = std::vector<std::vector<Line>>;

struct Store {
  hip::sync::Atomic<int> atomic[2]{{0}, {0}};
  hip::sync::Mutex mutex[2];
  hip::sync::SharedMutex shared;
  hip::sync::Cell<int> cell[2];
  char seen[4][24]{};  // by thread: the observed values, one character an operation
};

void run_line(Store& store, const Line& line, int thread, std::size_t at, bool (&held)[2]) {
  char& seen = store.seen[thread][at];
  hip::sync::Atomic<int>& atomic = store.atomic[line.object];
  switch (line.verb) {
    case Line::kLoad:
      seen = static_cast<char>('a' + atomic.load());
      break;
    case Line::kStore:
      atomic.store(thread + 1);
      break;
    case Line::kAdd:
      seen = static_cast<char>('a' + atomic.fetch_add(1));
      break;
    case Line::kLock:
      store.mutex[line.object].lock();
      held[line.object] = true;
      break;
    case Line::kTry:
      held[line.object] = store.mutex[line.object].try_lock();
      seen = held[line.object] ? 'Y' : 'N';
      break;
    case Line::kUnlock:
      if (held[line.object]) store.mutex[line.object].unlock();
      held[line.object] = false;
      break;
    case Line::kShared: {  // a reader's scope, or a writer's
      if (line.object == 0) {
        const hip::sync::SharedLock lock(store.shared);
        seen = static_cast<char>('a' + store.cell[0].read() % 9);
      } else {
        const hip::sync::ExclusiveLock lock(store.shared);
        ++store.cell[0].write();
      }
      break;
    }
    default:
      store.cell[line.object].write() = seen = static_cast<char>('a' + store.cell[line.object].read() % 9);
      break;
  }
}

// Locks nest in any order, so that some programs deadlock; each thread unlocks its locks at its end.
Code draw(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  Code code(2 + random() % 2);
  for (auto& thread : code) {
    bool held[2] = {false, false};
    const int length = code.size() == 2 ? 2 + below(4) : 1 + below(3);
    for (int i = 0; i < length; ++i) {
      Line line{static_cast<Line::Verb>(below(Line::kVerbs)), below(2)};
      bool& lock = held[line.object];
      if ((line.verb == Line::kLock || line.verb == Line::kTry) && lock) line.verb = Line::kUnlock;
      if (line.verb == Line::kUnlock && !lock) line.verb = Line::kLock;
      if (line.verb == Line::kLock || line.verb == Line::kTry) lock = true;
      if (line.verb == Line::kUnlock) lock = false;
      thread.push_back(line);
    }
    for (int i = 0; i < 2; ++i) {
      if (held[i]) thread.push_back({Line::kUnlock, i});
    }
  }
  return code;
}

Threads<Store> body_of(const Code& code) {
  std::vector<Threads<Store>::Function> threads;
  for (std::size_t t = 0; t < code.size(); ++t) {
    threads.emplace_back([&lines = code[t], t](Store& store) {
      bool held[2] = {false, false};
      for (std::size_t i = 0; i < lines.size(); ++i) run_line(store, lines[i], static_cast<int>(t), i, held);
    });
  }
  return {threads, [n = code.size()](Store& store, std::string& text) {
            for (std::size_t t = 0; t < n; ++t) text.append(store.seen[t]).append("|");
            for (auto& atomic : store.atomic) text += static_cast<char>('0' + atomic.load());
          }};
}

std::string text_of(const Code& code) {
  static constexpr const char* kNames[] = {"load", "store", "add", "lock", "unlock", "try", "write", "shared"};
  std::string text;
  for (const auto& thread : code) {
    for (const Line& line : thread) text += std::string(kNames[line.verb]) + std::to_string(line.object) + " ";
    text += "\n";
  }
  return text;
}

TEST(Exhaustive, TheReductionLosesNoOutcomeOfRandomPrograms) {
  std::mt19937 random(20261120);
  std::uint64_t full_schedules = 0, reduced_schedules = 0;
  ScheduleRunner runner(ScheduleOptions{.races_end = false});
  constexpr int kRounds = verify::race::sanitizers::kThread ? 60 : 400;  // a fiber costs ThreadSanitizer a thread
  for (int round = 0; round < kRounds; ++round) {
    const Code code = draw(random);
    Threads<Store> body = body_of(code);
    for (const std::uint32_t bound : {0U, 1U, 2U, 1000U}) {
      ExploreOptions options = everything(bound, false);
      options.schedules = 6000;
      const Exploration full = explore(runner, body, options);
      if (full.schedules >= options.schedules) continue;  // too large to know
      const Exploration reduced = explore(runner, body, everything(bound, true));
      ASSERT_EQ(names(full), names(reduced)) << "bound " << bound << "\n" << text_of(code);
      ASSERT_EQ(full.races != 0, reduced.races != 0) << "bound " << bound << "\n" << text_of(code);
      full_schedules += full.schedules;
      reduced_schedules += reduced.schedules;
    }
  }
  RecordProperty("unreduced", std::to_string(full_schedules));
  RecordProperty("reduced", std::to_string(reduced_schedules));
  EXPECT_LT(reduced_schedules * 3, full_schedules * 2);
}

TEST(Exhaustive, ALargerBoundShowsNoLess) {
  std::mt19937 random(7);
  ScheduleRunner runner(ScheduleOptions{.races_end = false});
  for (int round = 0; round < 100; ++round) {
    const Code code = draw(random);
    Threads<Store> body = body_of(code);
    std::size_t before = 0;
    for (const std::uint32_t bound : {0U, 1U, 2U, 3U}) {
      const Exploration now = explore(runner, body, everything(bound, true));
      EXPECT_GE(now.outcomes.size(), before);
      before = now.outcomes.size();
    }
  }
}

TEST(Exhaustive, TheShareThatIsExploredGrowsToOne) {
  std::mt19937 random(11);
  ScheduleRunner runner(ScheduleOptions{.races_end = false});
  const Code code = draw(random);
  Threads<Store> body = body_of(code);
  ExploreOptions options = everything(1000, false);
  const Exploration all = explore(runner, body, options);
  EXPECT_DOUBLE_EQ(all.share, 1);
  double before = 0;
  for (std::uint64_t schedules = 1; schedules < all.schedules; schedules *= 2) {
    options.schedules = schedules;
    const double share = explore(runner, body, options).share;
    EXPECT_GE(share, before);
    EXPECT_LT(share, 1);
    before = share;
  }
}

}  // namespace
}  // namespace race_test
