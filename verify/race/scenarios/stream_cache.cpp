// Threads that lease streams from one hip::StreamCache, use them, break them, empty the cache and destroy it.
#include "hip/stream_cache.h"

#include <array>
#include <optional>
#include <vector>

#include "verify/race/scenarios/scenarios.h"

namespace verify::race {
namespace {

enum StreamVerb : std::uint8_t { kAcquire, kRelease, kWork, kBreak, kClear, kClose };

hip::StreamKey key_of(std::int32_t number) {
  return number == 0 ? hip::StreamKey{0, hipStreamDefault, 0} : hip::StreamKey{1, hipStreamNonBlocking, -1};
}

class StreamCacheWorld final : public World {
 public:
  explicit StreamCacheWorld(Referee& referee) : referee_(referee), hip_(referee) {
    cache_.emplace(FakeHip::api(), hip::StreamCacheOptions{.max_idle = 4, .errors = no_sink()});
    for (auto& leases : leases_) leases.reserve(4);
  }

  std::int64_t call(unsigned thread, const Call& call) override {
    std::vector<hip::StreamLease>& mine = leases_.at(thread);
    const hip::Api& api = FakeHip::api();
    switch (call.verb) {
      case kAcquire:
        return acquire(thread, key_of(call.argument));
      case kRelease:
        if (!mine.empty()) release(mine);
        return 0;
      case kWork:
        if (!mine.empty()) (void)api.hipMemsetAsync(nullptr, 0, 0, mine.back().ref().handle());
        return 0;
      case kBreak:
        if (!mine.empty()) hip_.break_stream(mine.back().ref().handle());
        return 0;
      case kClear:
        if (cache_) (void)cache_->clear();
        return 0;
      default:
        cache_.reset();
        return 0;
    }
  }

  void finish() override {
    for (auto& leases : leases_) {
      while (!leases.empty()) release(leases);
    }
    cache_.reset();
    hip_.expect_nothing_left();
  }

 private:
  std::int64_t acquire(unsigned thread, const hip::StreamKey& key) {
    if (!cache_) return 0;
    hip::Result<hip::StreamLease> lease = cache_->acquire(key);
    if (!lease) {
      referee_.broken(FailureKind::kInvariant, "C1", "acquiring a stream fails: " + lease.error().message);
      return -1;
    }
    const hipStream_t handle = lease.value().ref().handle();
    if (hip_.take(handle, static_cast<int>(thread)) >= 0) {
      referee_.broken(FailureKind::kInvariant, "C2", "a stream that one thread holds is handed to another");
    }
    if (lease.value().key() != key)
      referee_.broken(FailureKind::kInvariant, "C1", "a stream of another key is handed out");
    leases_.at(thread).push_back(std::move(lease).value());
    return hip_.number_of(handle);
  }

  void release(std::vector<hip::StreamLease>& leases) {
    hip::StreamLease last = std::move(leases.back());
    leases.pop_back();
    (void)hip_.take(last.ref().handle(), -1);
    (void)last.release();
  }

  Referee& referee_;
  FakeHip hip_;
  std::optional<hip::StreamCache> cache_;
  std::array<std::vector<hip::StreamLease>, kMaxClientThreads> leases_;  // each used by its thread only
};

// Idle streams in the order in which they were given back; the last one of the key goes out first.
class StreamCacheModel final : public SequentialModel {
 public:
  [[nodiscard]] std::unique_ptr<SequentialModel> clone() const override {
    return std::make_unique<StreamCacheModel>(*this);
  }
  bool accepts(unsigned thread, const Call& call, std::int64_t answer) override {
    Held& mine = held_.at(thread);
    switch (call.verb) {
      case kAcquire:
        return acquire(mine, call.argument == 0 ? 0 : 1, answer);  // as key_of()
      case kRelease:
        if (mine.count != 0) release(mine.streams.at(--mine.count));
        return true;
      case kWork:
      case kBreak:
        if (mine.count != 0) spoilt_.at(mine.streams.at(mine.count - 1)) = true;
        return true;
      default:
        idle_count_ = 0;
        closed_ = closed_ || call.verb == kClose;
        return true;
    }
  }

 private:
  static constexpr std::size_t kMany = 24;
  struct Held {
    std::array<std::size_t, kMany> streams{};
    std::size_t count = 0;
  };

  bool acquire(Held& mine, std::int32_t key, std::int64_t answer) {
    if (closed_) return answer == 0;
    if (answer <= 0 || answer >= static_cast<std::int64_t>(kMany)) return false;
    const std::size_t stream = static_cast<std::size_t>(answer);
    std::size_t at = idle_count_;
    while (at != 0 && key_.at(idle_.at(at - 1)) != key) --at;
    if (at == 0) {
      if (known_.at(stream)) return false;  // no idle stream has this key: it has to be a new one
      known_.at(stream) = true;
      key_.at(stream) = key;
    } else {
      if (idle_.at(at - 1) != stream) return false;
      for (std::size_t i = at; i < idle_count_; ++i) idle_.at(i - 1) = idle_.at(i);
      --idle_count_;
    }
    mine.streams.at(mine.count++) = stream;
    return true;
  }
  void release(std::size_t stream) {
    if (!closed_ && !spoilt_.at(stream)) idle_.at(idle_count_++) = stream;
  }

  std::array<Held, kMaxClientThreads> held_{};
  std::array<std::size_t, kMany> idle_{};
  std::size_t idle_count_ = 0;
  std::array<std::int32_t, kMany> key_{};
  std::array<bool, kMany> known_{}, spoilt_{};
  bool closed_ = false;
};

}  // namespace

Scenario stream_cache_scenario() {
  const Call acquire{kAcquire, 0}, other{kAcquire, 1}, release{kRelease}, work{kWork}, breaks{kBreak}, clear{kClear},
      close{kClose};
  return {
      .name = "stream-cache",
      .system = "stream cache",
      .summary = "acquire, use, break and release streams, clear the cache, take it down",
      .verbs = {{"acquire", true}, {"release"}, {"work"}, {"break"}, {"clear"}, {"close"}},
      .plans = {{"two threads", {{}, {{acquire, release, acquire}, {acquire, release, acquire}}, {}}},
                {"clear",
                 {{acquire, other, release, release}, {{acquire, release, acquire}, {clear, other, release}}, {}}},
                {"failing queries", {{}, {{acquire, breaks, release}, {acquire, work, release}}, {acquire}}},
                {"teardown", {{}, {{acquire, acquire, release}, {acquire, release}}, {close, release}}},
                {"three threads",
                 {{acquire, release}, {{acquire, release, acquire}, {acquire, release}, {other, clear}}, {}}}},
      .make = [](Referee& referee, std::string_view) { return std::make_unique<StreamCacheWorld>(referee); },
      .model = [] { return std::make_unique<StreamCacheModel>(); },
      .faults = {},
  };
}

}  // namespace verify::race
