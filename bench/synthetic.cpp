#include "bench/synthetic.h"

#include <ctime>

namespace bench {

namespace {

struct SlowStreams {
  hip::Api inner;
  std::uint32_t microseconds = 0;
};
SlowStreams slow;  // HIP's functions take no context

std::int64_t nanoseconds_of_this_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);  // of this clock it cannot fail
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

void spend(std::uint32_t microseconds) {
  const std::int64_t end = nanoseconds_of_this_thread() + std::int64_t{microseconds} * 1'000;
  while (nanoseconds_of_this_thread() < end) {}
}

hip::Api with_slow_streams(const hip::Api& inner, std::uint32_t microseconds) {
  slow = {inner, microseconds};
  hip::Api table = inner;
  table.hipStreamCreateWithPriority = [](hipStream_t* stream, unsigned flags, int priority) {
    spend(slow.microseconds);
    return slow.inner.hipStreamCreateWithPriority(stream, flags, priority);
  };
  table.hipStreamCreateWithFlags = [](hipStream_t* stream, unsigned flags) {
    spend(slow.microseconds);
    return slow.inner.hipStreamCreateWithFlags(stream, flags);
  };
  return table;
}

}  // namespace bench
