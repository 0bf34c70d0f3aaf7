// Scenarios of the stream cache, against stream_cache_model.h.
#include "verify/systems/bench.h"
#include "verify/systems/stream_cache_model.h"

namespace verify {
namespace {

constexpr std::size_t kWorkBytes = 256;
constexpr int kOperationsAWork = 3;  // more than one, so that a query does not finish them

std::string text_of(const StreamCacheModel::Key& key) {
  return "device " + std::to_string(key.device) + " flags " + std::to_string(key.flags) + " priority " +
         std::to_string(key.priority);
}

class CacheBench final : public SystemBench {
 public:
  CacheBench(BenchContext& context, const Parts& parts)
      : context_(context), cache_(parts.stream_cache(context.api(), context.sink())), model_(kScenarioMaxIdle) {}

  int run(const SystemAction& action) override {
    const int lease = action.fields[0];
    const std::uint64_t fired = context_.interposer.fired();
    int code = hipSuccess;
    switch (action.verb) {
      case SystemVerb::kCacheAcquire:
        code = acquire(action);
        break;
      case SystemVerb::kCacheRelease:
        code = release(lease);
        break;
      case SystemVerb::kCacheWork:
        code = work(lease);
        break;
      case SystemVerb::kCacheSync:
        code = synchronize(lease);
        break;
      case SystemVerb::kCacheClear:
        code = cache_->clear().ok() ? hipSuccess : hipErrorUnknown;
        model_.cleared(code != hipSuccess);
        break;
      case SystemVerb::kCacheClose:
        cache_->close();
        model_.closed();
        break;
      default:
        not_of_this_bench(action);
    }
    if (context_.interposer.fired() != fired) model_.lose_certainty();
    return code;
  }

  void finish() override {
    for (int lease = 0; lease < kLeases; ++lease) {
      if (leases_[static_cast<std::size_t>(lease)].stream) context_.sink()(release_lease(lease));
    }
    cache_.reset();
    for (void* memory : memory_) static_cast<void>(context_.inner().hipFree(memory));
  }

 private:
  struct Lease {
    std::optional<hip::StreamRef> stream;
  };

  [[nodiscard]] std::uint64_t streams_made() const {
    return context_.interposer.calls_of(Function::k_hipStreamCreateWithPriority) +
           context_.interposer.calls_of(Function::k_hipStreamCreateWithFlags);
  }
  [[nodiscard]] int current_device() const {
    int device = -1;
    static_cast<void>(context_.inner().hipGetDevice(&device));
    return device;
  }
  [[nodiscard]] StreamCacheModel::Key read(const hip::StreamRef& stream) const {
    StreamCacheModel::Key key;
    const hip::Api& api = context_.inner();
    static_cast<void>(api.hipStreamGetFlags(stream.handle(), &key.flags));
    static_cast<void>(api.hipStreamGetPriority(stream.handle(), &key.priority));
    key.device = current_device();
    if (api.hipStreamGetDevice != nullptr) static_cast<void>(api.hipStreamGetDevice(stream.handle(), &key.device));
    return key;
  }
  [[nodiscard]] int clamped(int priority) const {
    const hip::Result<int> in_range = hip::clamp_priority(context_.inner(), priority);
    return in_range.ok() ? in_range.value() : priority;
  }

  int acquire(const SystemAction& action) {
    const StreamCacheModel::Key key{action.fields[1], static_cast<unsigned>(action.fields[2]),
                                    clamped(action.fields[3])};
    const std::uint64_t made = streams_made();
    fired_before_ = context_.interposer.fired();
    const hip::Result<hip::StreamRef> stream =
        cache_->acquire(action.fields[0], {key.device, key.flags, action.fields[3]});
    if (!stream) {
      context_.expect(context_.interposer.fired() != fired_before_, PropertyId::kC5, print_action(action), "a stream",
                      stream.error().message);
      return stream.error().code;
    }
    const auto name = reinterpret_cast<StreamCacheModel::Stream>(stream.value().handle());
    check(action, key, stream.value(), streams_made() != made);
    model_.acquired(action.fields[0], name, key, streams_made() != made);
    leases_[static_cast<std::size_t>(action.fields[0])].stream = stream.value();
    return hipSuccess;
  }

  void check(const SystemAction& action, const StreamCacheModel::Key& key, const hip::StreamRef& stream, bool made) {
    const std::string where = print_action(action);
    const auto name = reinterpret_cast<StreamCacheModel::Stream>(stream.handle());
    context_.expect(!model_.held(name), PropertyId::kC2, where, "a stream that nobody holds", "one that is lent");
    const StreamCacheModel::Key is = read(stream);
    context_.expect(is == key, PropertyId::kC1, where, text_of(key), text_of(is));
    const int device = current_device();
    context_.expect(device == key.device, PropertyId::kC1, where, "device " + std::to_string(key.device) + " current",
                    "device " + std::to_string(device) + " current");
    if (made) {
      working_.erase(name);  // a new stream with the same handle
    } else {
      // Where the runtime works on threads of its own, work may have been done just before the cache asked.
      const bool sure = context_.platform.white_box() || model_.certain();
      context_.expect(!sure || !model_.refused(name), PropertyId::kC1, where,
                      "a stream that was idle and healthy when it was given back", "one that was not");
      const auto busy = working_.find(name);
      context_.expect(busy == working_.end() || *busy->second, PropertyId::kC1, where, "an idle stream",
                      "one with work");
    }
    if (!model_.certain() || context_.interposer.fired() != fired_before_) return;
    const StreamCacheModel::Stream expected = model_.expected(key);
    context_.expect(expected == 0 ? made : expected == name, PropertyId::kC5, where,
                    expected == 0 ? "a new stream" : "the one given back last", made ? "a new stream" : "another one");
  }

  // A mark behind the work tells whether the work is done; a query to the runtime would let the work run.
  int work(int number) {
    Lease& lease = leases_[static_cast<std::size_t>(number)];
    if (!lease.stream) return hipSuccess;
    const hip::Api& api = context_.inner();
    void* memory = nullptr;
    if (const hipError_t status = api.hipMalloc(&memory, kWorkBytes); status != hipSuccess) return status;
    memory_.push_back(memory);
    for (int i = 0; i < kOperationsAWork; ++i) {
      const hipError_t status = api.hipMemsetAsync(memory, i, kWorkBytes, lease.stream->handle());
      if (status != hipSuccess) return status;
    }
    std::shared_ptr<bool>& done = working_[reinterpret_cast<StreamCacheModel::Stream>(lease.stream->handle())];
    done = std::make_shared<bool>(false);
    marks_.push_back(done);
    return api.hipLaunchHostFunc(
        lease.stream->handle(), [](void* mark) { *static_cast<bool*>(mark) = true; }, done.get());
  }

  int synchronize(int number) {
    const Lease& lease = leases_[static_cast<std::size_t>(number)];
    return lease.stream ? context_.inner().hipStreamSynchronize(lease.stream->handle()) : hipSuccess;
  }

  int release(int number) {
    if (!leases_[static_cast<std::size_t>(number)].stream) return hipSuccess;
    const hip::Status status = release_lease(number);
    return status.ok() ? hipSuccess : status.error().code;
  }
  hip::Status release_lease(int number) {
    Lease& lease = leases_[static_cast<std::size_t>(number)];
    const auto name = reinterpret_cast<StreamCacheModel::Stream>(lease.stream->handle());
    const auto busy = working_.find(name);
    const bool idle = busy == working_.end() || *busy->second;
    const std::uint64_t fired = context_.interposer.fired();
    const int device = current_device();
    const hip::Status status = cache_->release(number);
    const bool failed = context_.interposer.fired() != fired;
    const int after = current_device();
    if (!failed) {
      context_.expect(after == device, PropertyId::kC1, "cache release", "device " + std::to_string(device),
                      "device " + std::to_string(after));
    }
    const bool query_failed = failed && context_.interposer.last_fired() == Function::k_hipStreamQuery;
    model_.released(number, idle, query_failed);
    // The cache may keep a stream that is not idle or drop it, and its other streams depend on that. C1 checks the
    // stream when it comes back.
    if (!idle) model_.lose_certainty();
    lease.stream.reset();
    return status;
  }

  BenchContext& context_;
  std::unique_ptr<StreamCachePart> cache_;
  StreamCacheModel model_;
  std::array<Lease, kLeases> leases_;
  std::map<StreamCacheModel::Stream, std::shared_ptr<bool>> working_;
  std::vector<std::shared_ptr<bool>> marks_;  // kept as long as the runtime may set them
  std::vector<void*> memory_;
  std::uint64_t fired_before_ = 0;
};

}  // namespace

std::unique_ptr<SystemBench> make_cache_bench(BenchContext& context, const Parts& parts) {
  return std::make_unique<CacheBench>(context, parts);
}

}  // namespace verify
