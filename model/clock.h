// model::Clock: for every stream, the number of its operations that must have happened before an operation.
//
// The same clock says when an operation may run and which operations are ordered for the race detector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace model {

using StreamSlot = std::uint32_t;

// How many operations of each stream happened before. Missing entries are 0.
class Clock {
 public:
  [[nodiscard]] std::uint64_t at(StreamSlot stream) const { return stream < counts_.size() ? counts_[stream] : 0; }
  void raise(StreamSlot stream, std::uint64_t count) {
    if (counts_.size() <= stream) counts_.resize(stream + 1, 0);
    if (counts_[stream] < count) counts_[stream] = count;
  }
  void merge(const Clock& other) {
    if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size(), 0);
    for (std::size_t i = 0; i < other.counts_.size(); ++i) {
      if (counts_[i] < other.counts_[i]) counts_[i] = other.counts_[i];
    }
  }
  [[nodiscard]] std::size_t size() const { return counts_.size(); }
  void clear() { counts_.clear(); }

 private:
  std::vector<std::uint64_t> counts_;
};

}  // namespace model
