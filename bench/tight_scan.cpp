#include "bench/tight_scan.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <variant>

namespace bench {

TightScan::TightScan(const verify::PatchTarget& target)
    : api_(target.api), exec_(target.exec), buffer_bytes_(target.buffer_bytes.begin(), target.buffer_bytes.end()) {
  assert(exec_ != nullptr);
  for (std::size_t i = 0; i < target.graph.nodes.size(); ++i) {
    const hip::NodeRecord record = hip::relocated(target.recording.nodes()[i], target.addresses);
    const auto& kernel = std::get<hip::KernelRecord>(record);
    const std::size_t words = kernel.arguments.size() / sizeof(std::uint64_t);
    assert(kernel.arguments.size() % sizeof(std::uint64_t) == 0 && (i == 0 || words == words_of_node_));
    words_of_node_ = words;
    Node& node = nodes_.emplace_back();
    node.handle = target.graph.nodes[i];
    node.params.func = kernel.function;
    node.params.gridDim = kernel.grid;
    node.params.blockDim = kernel.block;
    node.params.sharedMemBytes = kernel.shared_bytes;
    words_.resize(words_.size() + words);
    std::memcpy(words_.data() + words_.size() - words, kernel.arguments.data(), kernel.arguments.size());
  }
  ranges_.reserve(buffer_bytes_.size());
}

void TightScan::sort_ranges(std::span<const hip::Move> moves) {
  ranges_.clear();
  for (const hip::Move& move : moves) {
    if (move.from != move.to) ranges_.push_back({move.from, move.from + buffer_bytes_[move.buffer], move.to});
  }
  std::ranges::sort(ranges_, {}, &Range::from);
}

bool TightScan::carry(std::uint64_t& word) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), word,
                                      [](std::uint64_t address, const Range& range) { return address < range.from; });
  if (after == ranges_.begin()) return false;
  const Range& range = *(after - 1);
  if (word >= range.end) return false;
  word = word - range.from + range.to;
  return true;
}

hipError_t TightScan::patch(std::span<const hip::Move> moves) {
  sort_ranges(moves);
  std::size_t bytes = words_of_node_ * sizeof(std::uint64_t);
  std::uint64_t* word = words_.data();
  for (const Node& node : nodes_) {
    std::uint64_t* const block = word;
    bool changed = false;
    for (; word != block + words_of_node_; ++word) changed |= carry(*word);
    if (!changed) continue;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    hipKernelNodeParams params = node.params;
    params.extra = extra;
    if (const hipError_t status = api_.hipGraphExecKernelNodeSetParams(exec_, node.handle, &params);
        status != hipSuccess) {
      return status;
    }
  }
  return hipSuccess;
}

}  // namespace bench
