// Under ThreadSanitizer an exploration also sees races on memory that nobody put into a Cell. Two threads add to a
// plain int, with a lock ("locked") or without ("bare"): the explorer itself finds nothing in either, and
// ThreadSanitizer reports the second in every schedule, because switches between fibers do not synchronise.
//
//   unannotated locked | bare
#include <cstdio>
#include <cstring>

#include "bodies.h"

namespace {

struct Counter {
  hip::sync::Mutex mutex;
  int value = 0;
};

void add_locked(Counter& counter) {
  const hip::sync::LockGuard lock(counter.mutex);
  ++counter.value;
}
void add_bare(Counter& counter) {
  ++counter.value;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace race_test;
  const auto add = argc == 2 && std::strcmp(argv[1], "bare") == 0 ? add_bare : add_locked;
  Threads<Counter> body({add, add}, [](Counter&, std::string&) {});
  ScheduleRunner runner;
  const Exploration result = explore(runner, body, everything(2, true));
  std::printf("%llu schedules, %llu failures\n", static_cast<unsigned long long>(result.schedules),
              static_cast<unsigned long long>(result.failures));
  return result.failures == 0 && result.complete ? 0 : 1;
}
