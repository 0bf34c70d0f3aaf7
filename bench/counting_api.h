// A table around another one that counts: calls, those that set something in an executable graph, and what the inner
// functions ask of the heap, so that the rest is the caller's own.
//
// HIP's functions take no context, so there is one at a time (asserted), for one thread.
#pragma once

#include <cstdint>

#include "hip/api/api.h"

namespace bench {

struct ApiCounts {
  std::uint64_t calls = 0;
  std::uint64_t setters = 0;      // hipGraphExec...SetParams
  std::uint64_t launches = 0;     // hipGraphLaunch
  std::uint64_t allocations = 0;  // of operator new, by this thread, inside of the calls
};

class CountingApi {
 public:
  explicit CountingApi(const hip::Api& inner);
  CountingApi(const CountingApi&) = delete;
  CountingApi& operator=(const CountingApi&) = delete;
  ~CountingApi();

  [[nodiscard]] const hip::Api& table() const { return table_; }
  [[nodiscard]] const ApiCounts& counts() const { return counts_; }

  // For the table's functions.
  [[nodiscard]] static CountingApi& current();
  [[nodiscard]] const hip::Api& inner() const { return inner_; }
  [[nodiscard]] ApiCounts& counting() { return counts_; }

 private:
  hip::Api inner_, table_;
  ApiCounts counts_;
};

// `inner`, except that a launch of a graph, and the event that is recorded behind it, answer at once: what is left of a
// step is what brings the graph to where the buffers are.
[[nodiscard]] hip::Api without_launches(const hip::Api& inner);

}  // namespace bench
