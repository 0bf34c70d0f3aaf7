// The defects that a runner detects by itself, each beside a body that differs in one thing and is clean.
#include <gtest/gtest.h>

#include "bodies.h"
#include "verify/race/operators.h"
#include "verify/race/sanitizers.h"

namespace race_test {
namespace {

struct Nothing {
  hip::sync::Mutex mutex;
  hip::sync::Atomic<int> atomic{0};
  int* memory = nullptr;
};

FailureKind failure_of(const std::vector<Threads<Nothing>::Function>& threads) {
  verify::race::count_memory();
  Threads<Nothing> body(threads, [](Nothing&, std::string&) {});
  ScheduleRunner runner(ScheduleOptions{.max_steps = 3000});
  return explore(runner, body, {}).failure.kind;
}

#if !defined(HGCHECK_RACE_TSAN) && !defined(HGCHECK_RACE_ASAN)
TEST(Detectors, MemoryDeletedTwiceIsReportedAndOnceIsNot) {
  EXPECT_EQ(failure_of({[](Nothing&) { delete new int(1); }}), FailureKind::kNone);
  EXPECT_EQ(failure_of({[](Nothing&) {
              int* volatile memory = new int(1);
              delete memory;
              delete memory;
            }}),
            FailureKind::kDoubleFree);
}

TEST(Detectors, MemoryThatIsNeverDeletedIsReported) {
  EXPECT_EQ(failure_of({[](Nothing& n) { n.memory = new int(1); }}), FailureKind::kLeak);
  EXPECT_EQ(failure_of({[](Nothing& n) {
              n.memory = new int(1);
              delete n.memory;
            }}),
            FailureKind::kNone);
}
#endif

TEST(Detectors, ACellInMemoryThatIsGoneIsReported) {
  using Cell = hip::sync::Cell<int>;
  EXPECT_EQ(failure_of({[](Nothing&) {
              Cell* volatile cell = new Cell(1);
              Cell* const late = cell;
              delete cell;
              (void)late->read();
            }}),
            FailureKind::kUseAfterFree);
}

TEST(Detectors, UnlockingWhatIsNotLockedIsReported) {
  EXPECT_EQ(failure_of({[](Nothing& n) { n.mutex.unlock(); }}), FailureKind::kMisuse);
  EXPECT_EQ(failure_of({[](Nothing& n) { n.mutex.lock(), n.mutex.unlock(); }}), FailureKind::kNone);
}

TEST(Detectors, LockingTwiceIsADeadlock) {
  EXPECT_EQ(failure_of({[](Nothing& n) { n.mutex.lock(), n.mutex.lock(); }}), FailureKind::kDeadlock);
}

TEST(Detectors, AJoinableThreadThatIsDestroyedIsReported) {
  EXPECT_EQ(failure_of({[](Nothing&) { const hip::sync::Thread thread([] {}); }}), FailureKind::kMisuse);
  EXPECT_EQ(failure_of({[](Nothing&) {
              hip::sync::Thread thread([] {});
              thread.join();
            }}),
            FailureKind::kNone);
}

TEST(Detectors, AScheduleThatDoesNotEndIsReportedAndAWaitThatGivesWayIsNot) {
  const Threads<Nothing>::Function sets = [](Nothing& n) { n.atomic.store(1); };
  EXPECT_EQ(failure_of({[](Nothing& n) {
              while (n.atomic.load() != 2) hip::sync::yield();
            }}),
            FailureKind::kEndless);
  EXPECT_EQ(failure_of({[](Nothing& n) {
                          while (n.atomic.load() != 1) hip::sync::yield();
                        },
                        sets}),
            FailureKind::kNone);
}

TEST(Detectors, AnExceptionThatLeavesAThreadIsReported) {
  EXPECT_EQ(failure_of({[](Nothing&) { throw 1; }}), FailureKind::kCrash);
}

}  // namespace
}  // namespace race_test
