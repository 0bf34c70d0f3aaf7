// Buffers at addresses that stay, by index: threads look them up, make them and free them.
//
// The real implementation is hip::CachedAllocator; the faults are faults of address stabilisers in their first form.
#include <array>
#include <map>
#include <set>

#include "hip/cached_allocator.h"
#include "hip/sync/sync.h"
#include "verify/race/scenarios/scenarios.h"

namespace verify::race {
namespace {

using hip::sync::Cell;
using hip::sync::ExclusiveLock;
using hip::sync::SharedLock;
using hip::sync::SharedMutex;

enum BufferVerb : std::uint8_t { kGet, kIsCached, kClear };

constexpr std::size_t kBytes = 256;

class Buffers {
 public:
  virtual ~Buffers() = default;
  virtual void* get(std::int32_t index) = 0;  // null: there is no buffer
  virtual bool is_cached(void* memory) = 0;
  virtual void clear() = 0;
};

class RealBuffers final : public Buffers {
 public:
  RealBuffers() : allocator_(FakeHip::api(), {.errors = no_sink()}) {}
  void* get(std::int32_t index) override {
    const hip::Result<hip::CachedAllocator::Buffer> buffer =
        allocator_.get(static_cast<hip::CachedAllocator::Name>(index), kBytes);
    return buffer ? buffer.value().address : nullptr;
  }
  bool is_cached(void* memory) override { return allocator_.holds(memory); }
  void clear() override { (void)allocator_.clear(); }

 private:
  hip::CachedAllocator allocator_;
};

// The common base of the two faults: correct except for the functions that they override.
class OwnBuffers : public Buffers {
 public:
  ~OwnBuffers() override { clear(); }
  void* get(std::int32_t index) override {
    const ExclusiveLock lock(mutex_);
    void*& memory = by_index_.write()[index];
    if (memory == nullptr) memory = allocate();
    addresses_.write().insert(memory);
    return memory;
  }
  bool is_cached(void* memory) override {
    const SharedLock lock(mutex_);
    return addresses_.read().contains(memory);
  }
  void clear() override {
    const ExclusiveLock lock(mutex_);
    for (const auto& [index, memory] : by_index_.read()) (void)FakeHip::api().hipFree(memory);
    by_index_.write().clear();
    addresses_.write().clear();
  }

 protected:
  static void* allocate() {
    void* memory = nullptr;
    return FakeHip::api().hipMalloc(&memory, kBytes) == hipSuccess ? memory : nullptr;
  }
  SharedMutex mutex_;
  Cell<std::map<std::int32_t, void*>> by_index_;  // guarded by mutex_
  Cell<std::set<void*>> addresses_;               // guarded by mutex_
};

// F25: is_cached() reads the set without the lock that guards it.
class ReadsOutsideLock final : public OwnBuffers {
 public:
  bool is_cached(void* memory) override { return addresses_.read().contains(memory); }
};

// F26: looks up under one lock and inserts under another: both threads find nothing, and the later one replaces the
// buffer of the earlier one.
class TwoLocks final : public OwnBuffers {
 public:
  void* get(std::int32_t index) override {
    {
      const SharedLock lock(mutex_);
      const auto at = by_index_.read().find(index);
      if (at != by_index_.read().end()) return at->second;
    }
    void* const fresh = allocate();
    const ExclusiveLock lock(mutex_);
    by_index_.write()[index] = fresh;
    addresses_.write().insert(fresh);
    return fresh;
  }
};

class BuffersWorld final : public World {
 public:
  BuffersWorld(Referee& referee, std::unique_ptr<Buffers> buffers)
      : referee_(referee), hip_(referee), buffers_(std::move(buffers)) {}

  std::int64_t call(unsigned thread, const Call& call) override {
    if (call.verb == kClear) {
      buffers_->clear();
      return 0;
    }
    if (call.verb == kIsCached) {
      void* const last = last_.at(thread);
      return last != nullptr && buffers_->is_cached(last) ? 1 : 0;
    }
    last_.at(thread) = buffers_->get(call.argument);
    if (last_.at(thread) == nullptr) referee_.broken(FailureKind::kInvariant, "C2", "there is no buffer");
    return 0;
  }

  void finish() override {
    buffers_.reset();
    hip_.expect_nothing_left();
  }

 private:
  Referee& referee_;
  FakeHip hip_;
  std::unique_ptr<Buffers> buffers_;
  std::array<void*, kMaxClientThreads> last_{};  // each used by its thread only
};

}  // namespace

Scenario stable_buffers_scenario() {
  const Call get{kGet, 0}, other{kGet, 1}, is_cached{kIsCached}, clear{kClear};
  return {
      .name = "stable-buffers",
      .system = "stabiliser",
      .summary = "buffers by index: the same index from several threads, freed while inserted, teardown",
      .verbs = {{"get", true}, {"is-cached"}, {"clear"}},
      .plans = {{"two threads", {{}, {{get, is_cached, other}, {get, is_cached, clear}}, {get}}},
                {"three threads", {{}, {{get, is_cached}, {get, clear}, {other, clear}}, {}}}},
      .make = [](Referee& referee, std::string_view fault) -> std::unique_ptr<World> {
        std::unique_ptr<Buffers> buffers;
        if (fault == "F25")
          buffers = std::make_unique<ReadsOutsideLock>();
        else if (fault == "F26")
          buffers = std::make_unique<TwoLocks>();
        else
          buffers = std::make_unique<RealBuffers>();
        return std::make_unique<BuffersWorld>(referee, std::move(buffers));
      },
      .property = "C5",
      .faults = {"F25", "F26"},
  };
}

}  // namespace verify::race
