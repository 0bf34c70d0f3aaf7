// F30 to F33: stream caches as the reviewed patches had them. Each keeps idle handles with their keys, asks the runtime
// before it keeps a stream, drops the oldest one when it is full, and is right in all but one point.
//
//   F30  its author read hipStreamQuery as "ready or not": an error is not "not ready", so the stream is cached.
//   F31  its author's program had one device: nothing makes the stream's device current, neither where the stream is
//        made and queried nor where it is handed out.
//   F32  its author's streams were all alike: the key is only the device, not flags and priority.
//   F33  its author assumed that a client waits for a stream before it gives the stream back.
#include <algorithm>
#include <map>
#include <vector>

#include "fuzz/faults/lists.h"
#include "hip/device_scope.h"

namespace fuzz {
namespace {

struct Habits {
  bool errors_are_ready = false;    // F30
  bool ignores_devices = false;     // F31
  bool ignores_flags = false;       // F32
  bool trusts_its_clients = false;  // F33
};

class PatchedStreamCache final : public verify::StreamCachePart {
 public:
  PatchedStreamCache(const hip::Api& api, hip::ErrorSink errors, const Habits& habits)
      : api_(api), errors_(errors), habits_(habits) {}
  ~PatchedStreamCache() override {
    for (auto& [lease, held] : held_) errors_(destroy(held));
    errors_(clear());
  }

  hip::Result<hip::StreamRef> acquire(int lease, const hip::StreamKey& wanted) override {
    if (!habits_.ignores_devices) {
      if (const hip::Status status = hip::call<&hip::Api::hipSetDevice>(api_, wanted.device); !status) {
        return status.error();
      }
    }
    const hip::Result<int> priority = hip::clamp_priority(api_, wanted.priority);
    if (!priority) return priority.error();
    const hip::StreamKey key = key_of({wanted.device, wanted.flags, priority.value()});
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const Entry& entry) { return entry.key == key; });
    if (found != idle_.rend()) {
      held_[lease] = *found;
      idle_.erase(std::next(found).base());
    } else {
      hipStream_t handle = nullptr;
      const hip::Status made =
          hip::called(api_.hipStreamCreateWithPriority(&handle, wanted.flags, priority.value()), "creating a stream");
      if (!made) return made.error();
      held_[lease] = {key, wanted.device, handle};
    }
    return hip::StreamRef(api_, held_[lease].handle, wanted.device);
  }

  hip::Status release(int lease) override {
    const auto found = held_.find(lease);
    if (found == held_.end()) return {};
    const Entry entry = found->second;
    held_.erase(found);
    hipError_t answer = hipSuccess;
    if (!habits_.trusts_its_clients) {
      if (habits_.ignores_devices) {
        answer = api_.hipStreamQuery(entry.handle);
      } else {
        const hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(api_, entry.device, errors_);
        if (!scope) return hip::both(scope.error(), destroy(entry));
        answer = api_.hipStreamQuery(entry.handle);
      }
    }
    const bool keeps = answer == hipSuccess || (habits_.errors_are_ready && answer != hipErrorNotReady);
    if (!keeps || closed_) return destroy(entry);
    idle_.push_back(entry);
    if (idle_.size() <= verify::kScenarioMaxIdle) return {};
    const Entry oldest = idle_.front();
    idle_.erase(idle_.begin());
    return destroy(oldest);
  }

  hip::Status clear() override {
    hip::Status all;
    for (const Entry& entry : idle_) all = hip::both(std::move(all), destroy(entry));
    idle_.clear();
    return all;
  }
  void close() override {
    errors_(clear());
    closed_ = true;
  }

 private:
  struct Entry {
    hip::StreamKey key;
    int device = 0;
    hipStream_t handle = nullptr;
  };
  [[nodiscard]] hip::StreamKey key_of(const hip::StreamKey& full) const {
    return habits_.ignores_flags ? hip::StreamKey{full.device, 0, 0} : full;
  }
  hip::Status destroy(const Entry& entry) {
    hip::Status status = hip::call<&hip::Api::hipStreamDestroy>(api_, entry.handle);
    if (status) return status;
    // A failure may be transient: try once more.
    return hip::both(std::move(status), hip::call<&hip::Api::hipStreamDestroy>(api_, entry.handle));
  }

  const hip::Api& api_;
  hip::ErrorSink errors_;
  const Habits habits_;
  std::vector<Entry> idle_;  // in the order in which they were given back
  std::map<int, Entry> held_;
  bool closed_ = false;
};

verify::Parts with(const Habits& habits) {
  verify::Parts parts = verify::real_parts();
  parts.stream_cache = [habits](const hip::Api& api, hip::ErrorSink errors) {
    return std::make_unique<PatchedStreamCache>(api, errors, habits);
  };
  return parts;
}

}  // namespace

std::vector<Fault> stream_cache_faults() {
  using enum verify::PropertyId;
  using enum verify::System;
  return {
      system_fault("F30", "stream cache", "caches a stream whose query returned an error", kC1, kCache,
                   with({.errors_are_ready = true})),
      system_fault("F31", "stream cache", "queries and reuses a stream without making its device current", kC1, kCache,
                   with({.ignores_devices = true})),
      system_fault("F32", "stream cache", "key without flags or priority", kC1, kCache, with({.ignores_flags = true})),
      system_fault("F33", "stream cache", "returns a stream that still has work", kC1, kCache,
                   with({.trusts_its_clients = true}))};
}

}  // namespace fuzz
