// A table around another one that counts calls, calls that set something in an executable graph, and heap allocations
// inside the inner functions, so that the rest of the allocations is the caller's own.
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

// `inner`, except that hipGraphLaunch and hipEventRecord (which follows a launch) answer at once. What remains of a
// step is the work of bringing the graph to the addresses of the buffers.
[[nodiscard]] hip::Api without_launches(const hip::Api& inner);

}  // namespace bench
