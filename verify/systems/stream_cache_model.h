// The sequential model of hip::StreamCache: the promises of a stream cache.
//
// Idle streams are kept in the order in which they were given back. A request gets the last idle stream with its key,
// else a new stream. A returned stream is kept when it is idle and healthy and the cache is open; past the bound the
// stream that was idle for longest is dropped. No stream has two holders at once.
//
// A stream is named by its handle's bits. After a failure (an injected error, work that may or may not be done) it is
// not certain which stream is kept: the model then stops predicting and only says which answers must never occur.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace verify {

class StreamCacheModel {
 public:
  using Stream = std::uintptr_t;
  struct Key {
    int device = 0;
    unsigned flags = 0;
    int priority = 0;
    bool operator==(const Key&) const = default;
  };
  explicit StreamCacheModel(std::size_t max_idle) : max_idle_(max_idle) {}

  [[nodiscard]] bool certain() const { return certain_; }
  void lose_certainty() { certain_ = false; }

  // The stream that a request has to get; 0: a new stream. Only while certain().
  [[nodiscard]] Stream expected(const Key& key) const {
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const Idle& i) { return i.key == key; });
    return found == idle_.rend() ? 0 : found->stream;
  }
  [[nodiscard]] bool held(Stream stream) const {
    return std::ranges::any_of(held_, [&](const auto& each) { return each.second.stream == stream; });
  }
  // Whether that stream had work, or the runtime answered an error about it, when it was given back.
  [[nodiscard]] bool refused(Stream stream) const { return std::ranges::find(refused_, stream) != refused_.end(); }

  void acquired(int lease, Stream stream, const Key& key, bool made) {
    if (made) std::erase(refused_, stream);  // a new stream with the same handle
    std::erase_if(idle_, [&](const Idle& i) { return i.stream == stream; });
    held_[lease] = {stream, key};
  }
  void released(int lease, bool idle, bool failed) {
    const auto found = held_.find(lease);
    if (found == held_.end()) return;
    const Idle entry = found->second;
    held_.erase(found);
    if (!idle || failed) refused_.push_back(entry.stream);
    if (!idle || failed || closed_) return;
    idle_.push_back(entry);
    if (idle_.size() > max_idle_) idle_.erase(idle_.begin());
  }
  // Every idle stream is gone, so the model is certain again, unless the call failed.
  void cleared(bool failed) {
    idle_.clear();
    certain_ = !failed;
  }
  void closed() {
    idle_.clear();
    closed_ = true;
  }

 private:
  struct Idle {
    Stream stream = 0;
    Key key;
  };
  std::size_t max_idle_;
  std::vector<Idle> idle_;  // in the order in which they were given back
  std::map<int, Idle> held_;
  std::vector<Stream> refused_;
  bool certain_ = true, closed_ = false;
};

}  // namespace verify
