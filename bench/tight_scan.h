// bench::TightScan: as little as scanning by value can cost.
//
// Nobody shipped this; it is a bound. The scan that people shipped (F02, fuzz/faults/value_scan.cpp) copies records and
// weighs every buffer of the graph, and a ratio over it alone would also measure that. Here all packed blocks lie in
// one array, are changed in place, and are matched against the ranges that moved and nothing else: no allocation in the
// steady state, no putting back, no care about a word that two buffers could own.
//
// As wrong as F02: a scalar that equals an address is carried along. Kernel nodes only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "verify/execute/patcher.h"

namespace bench {

class TightScan {
 public:
  // Asserts that the target is an executable graph of kernel nodes with blocks of equal size.
  explicit TightScan(const verify::PatchTarget& target);

  // The first error of a setter, else hipSuccess.
  [[nodiscard]] hipError_t patch(std::span<const hip::Move> moves);

 private:
  struct Node {
    hipGraphNode_t handle = nullptr;
    hipKernelNodeParams params{};
  };
  struct Range {
    hip::DeviceAddress from = 0, end = 0, to = 0;
  };

  void sort_ranges(std::span<const hip::Move> moves);
  [[nodiscard]] bool carry(std::uint64_t& word) const;

  hip::Api api_;
  hipGraphExec_t exec_;
  std::vector<std::uint64_t> buffer_bytes_;
  std::vector<Node> nodes_;
  std::size_t words_of_node_ = 0;
  std::vector<std::uint64_t> words_;
  std::vector<Range> ranges_;
};

}  // namespace bench
