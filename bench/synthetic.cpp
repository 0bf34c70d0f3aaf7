#include "bench/synthetic.h"

#include <chrono>

namespace bench {

namespace {

struct SlowStreams {
  hip::Api inner;
  std::uint32_t microseconds = 0;
};
SlowStreams slow;  // HIP's functions take no context

}  // namespace

void spend(std::uint32_t microseconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::microseconds(microseconds);
  while (Clock::now() < end) {}
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
