// The cost of hip/sync's names in a release build: a small cache spelled with them beside the same with std's.
#include <benchmark/benchmark.h>

#include <map>
#include <mutex>
#include <type_traits>

#include "hip/sync/sync.h"

namespace {

static_assert(std::is_same_v<hip::sync::Mutex, std::mutex>);
static_assert(std::is_same_v<hip::sync::LockGuard, std::lock_guard<std::mutex>>);
static_assert(std::is_same_v<hip::sync::Atomic<int>, std::atomic<int>>);
static_assert(std::is_same_v<hip::sync::Thread, std::thread>);
static_assert(sizeof(hip::sync::Cell<std::map<int, int>>) == sizeof(std::map<int, int>));

constexpr int kKeys = 64;

struct WithNames {
  hip::sync::Mutex mutex;
  hip::sync::Cell<std::map<int, int>> values;
  int get(int key) {
    const hip::sync::LockGuard lock(mutex);
    return values.write()[key] += 1;
  }
};

struct WithStd {
  std::mutex mutex;
  std::map<int, int> values;
  int get(int key) {
    const std::lock_guard lock(mutex);
    return values[key] += 1;
  }
};

template <class Cache>
void look_up(benchmark::State& state) {
  Cache cache;
  int key = 0;
  for (auto _ : state) benchmark::DoNotOptimize(cache.get(key = (key + 1) % kKeys));
}
BENCHMARK(look_up<WithNames>)->Repetitions(5)->ReportAggregatesOnly();
BENCHMARK(look_up<WithStd>)->Repetitions(5)->ReportAggregatesOnly();

}  // namespace

BENCHMARK_MAIN();
