// The sequential model of hip::WorkerThread: the promises of a worker.
//
// Callbacks run one at a time, each once: behind the callbacks that were ready when it was posted, and behind the work
// that its stream was given before, other callbacks of that stream included. A callback of a stream is ready once the
// stream has reached it, which is certain when somebody has waited for the stream. Draining waits for all callbacks. A
// refused callback never runs. A callback that was given up never runs either; draining tells how many were given up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace verify {

class WorkerModel {
 public:
  using Callback = std::size_t;
  static constexpr std::size_t kNoStream = ~std::size_t{0};

  void posted(Callback callback, std::size_t stream = kNoStream) {
    std::set<Callback>& before = before_[callback];
    before = ready_;
    if (stream == kNoStream) {
      ready_.insert(callback);
    } else {
      before.insert(behind_[stream].begin(), behind_[stream].end());
      behind_[stream].insert(callback);
    }
  }
  // The callback was posted by `parent` while `parent` ran.
  void posted_by(Callback callback, Callback parent) { before_[callback] = {parent}; }
  // Somebody has waited for the stream.
  void settled(std::size_t stream) { ready_.insert(behind_[stream].begin(), behind_[stream].end()); }
  void drained() {
    for (const auto& [stream, callbacks] : behind_) ready_.insert(callbacks.begin(), callbacks.end());
  }
  // The callback never runs.
  void given_up(Callback callback) { before_.erase(callback); }

  [[nodiscard]] bool expects(Callback callback) const { return before_.contains(callback); }
  [[nodiscard]] std::size_t expected() const { return before_.size(); }
  // Whether the callbacks ran in an order that was promised, each once.
  [[nodiscard]] bool allows(const std::vector<Callback>& order) const {
    std::set<Callback> ran;
    for (const Callback callback : order) {
      const auto found = before_.find(callback);
      if (found == before_.end() || !ran.insert(callback).second) return false;
      const bool behind = std::ranges::all_of(
          found->second, [&](Callback each) { return ran.contains(each) || !before_.contains(each); });
      if (!behind) return false;
    }
    return true;
  }

 private:
  std::map<Callback, std::set<Callback>> before_;  // for each callback that runs: the callbacks that run before it
  std::map<std::size_t, std::set<Callback>> behind_;
  std::set<Callback> ready_;
};

}  // namespace verify
