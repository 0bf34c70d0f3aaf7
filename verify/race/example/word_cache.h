// A cache that has nothing to do with HIP: lengths of words, computed once. It uses nothing of hgcheck but the
// locks of hip::sync, which are those of the standard library in a release build.
#pragma once

#include <map>
#include <string>

#include "hip/sync/sync.h"

namespace example {

class WordCache {
 public:
  // How often lengths were computed.
  [[nodiscard]] int computed() const {
    const hip::sync::LockGuard lock(mutex_);
    return computed_.read();
  }

  // Looks up and inserts under one lock.
  std::size_t length(const std::string& word) {
    const hip::sync::LockGuard lock(mutex_);
    const auto [at, is_new] = lengths_.write().try_emplace(word, word.size());
    if (is_new) ++computed_.write();
    return at->second;
  }

  // Wrong on purpose: looks up under one lock and inserts under another, so that two threads may both compute.
  std::size_t length_in_two_steps(const std::string& word) {
    {
      const hip::sync::LockGuard lock(mutex_);
      const auto at = lengths_.read().find(word);
      if (at != lengths_.read().end()) return at->second;
    }
    const hip::sync::LockGuard lock(mutex_);
    ++computed_.write();
    return lengths_.write()[word] = word.size();
  }

 private:
  mutable hip::sync::Mutex mutex_;
  hip::sync::Cell<std::map<std::string, std::size_t>> lengths_;  // guarded by mutex_
  hip::sync::Cell<int> computed_;                                // guarded by mutex_
};

}  // namespace example
