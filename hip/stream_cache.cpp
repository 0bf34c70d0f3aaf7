#include "hip/stream_cache.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "hip/beside_captures.h"
#include "hip/device_scope.h"
#include "hip/sync/sync.h"

namespace hip {

// Shared by the cache and its leases; the last of them to go destroys it.
struct StreamCache::Shared {
  struct Entry {
    StreamKey key;
    hipStream_t handle;
  };
  struct Pool {
    std::vector<Entry> idle;    // in the order in which they were given back
    std::vector<Entry> doomed;  // could not be destroyed yet
    StreamCacheCounts counts;
    bool closed = false;  // the cache is gone
  };

  Shared(const Api& table, const StreamCacheOptions& chosen) : api(table), options(chosen) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  // No lease exists any more: tries for the last time to destroy the streams whose destruction failed before.
  ~Shared() {
    for (int attempt = 0; !pool.read().doomed.empty() && attempt < 2; ++attempt) options.errors(destroy_doomed());
  }

  std::optional<Entry> take(const StreamKey& key);
  Result<Entry> create(const StreamKey& key);
  Status give_back(const Entry& entry);
  std::optional<Entry> keep(const Entry& entry);
  Status destroy(const Entry& entry);
  void doom(const Entry& entry);
  Status destroy_doomed();
  Status clear();
  template <class Change>
  void count(const Change& change) {
    const sync::LockGuard lock(mutex);
    change(pool.write().counts);
  }

  const Api& api;
  const StreamCacheOptions options;
  mutable sync::Mutex mutex;
  sync::Cell<Pool> pool;  // guarded by mutex
};

namespace {

using Entry = StreamCache::Shared::Entry;

// Makes the call with the device current, and restores the caller's device; a failure of either is returned.
template <class Call>
Status on_device(const Api& api, int device, ErrorSink errors, const Call& call) {
  Result<DeviceScope> scope = DeviceScope::enter(api, device, errors);
  if (!scope) return scope.error();
  Status status = call();
  return both(std::move(status), scope.value().leave());
}

}  // namespace

// The idle stream of this key that was given back last, if there is one.
std::optional<Entry> StreamCache::Shared::take(const StreamKey& key) {
  const sync::LockGuard lock(mutex);
  std::vector<Entry>& idle = pool.write().idle;
  const auto found = std::find_if(idle.rbegin(), idle.rend(), [&](const Entry& entry) { return entry.key == key; });
  if (found == idle.rend()) return std::nullopt;
  const Entry entry = *found;
  idle.erase(std::next(found).base());
  return entry;
}

// The caller has made the device of `key` current.
Result<Entry> StreamCache::Shared::create(const StreamKey& key) {
  Result<Stream> made = Stream::create(api, key, options.errors);
  if (!made) return made.error();
  Stream stream = std::move(made).value();
  const Result<StreamKey> read = stream.ref().read_key(key);
  if (!read) {
    // If the stream cannot be destroyed either, its handle goes to `doomed`.
    const Entry entry{key, stream.ref().handle()};
    Status failed = read.error();
    const Status destroyed = stream.destroy();
    if (!destroyed) {
      stream.disown();
      doom(entry);
    }
    return both(std::move(failed), destroyed).error();
  }
  const Entry entry{read.value(), stream.ref().handle()};
  stream.disown();
  return entry;
}

// Returns the stream that has to be destroyed: `entry` itself or the stream that was idle longest. Null: none.
std::optional<Entry> StreamCache::Shared::keep(const Entry& entry) {
  const sync::LockGuard lock(mutex);
  Pool& now = pool.write();
  if (now.closed || options.max_idle == 0) return entry;
  now.idle.push_back(entry);
  ++now.counts.kept;
  if (now.idle.size() <= options.max_idle) return std::nullopt;
  const Entry oldest = now.idle.front();
  now.idle.erase(now.idle.begin());
  ++now.counts.evicted;
  return oldest;
}

Status StreamCache::Shared::give_back(const Entry& entry) {
  const BesideCaptures beside(api, options.errors);
  Result<bool> idle = false;
  const Status asked = on_device(api, entry.key.device, options.errors, [&]() -> Status {
    idle = StreamRef(api, entry.handle, entry.key.device).idle();
    return idle.ok() ? Status() : idle.error();
  });
  options.errors(destroy_doomed());  // after the query above: may wait for work, also for the work of `entry`
  if (!asked) {
    count([](StreamCacheCounts& counts) { ++counts.faulty; });
    return both(asked, destroy(entry));
  }
  if (!idle.value()) {
    count([](StreamCacheCounts& counts) { ++counts.busy; });
    return destroy(entry);
  }
  const std::optional<Entry> surplus = keep(entry);
  return surplus ? destroy(*surplus) : Status();
}

// Works with any current device: a handle belongs to one device.
Status StreamCache::Shared::destroy(const Entry& entry) {
  Status status = call<&Api::hipStreamDestroy>(api, entry.handle);
  if (status) {
    count([](StreamCacheCounts& counts) { ++counts.destroyed; });
  } else {
    doom(entry);
  }
  return status;
}

// Keeps the stream to try again later to destroy it.
void StreamCache::Shared::doom(const Entry& entry) {
  {
    const sync::LockGuard lock(mutex);
    Pool& now = pool.write();
    now.doomed.push_back(entry);
    if (now.doomed.size() <= options.max_doomed) return;
    now.doomed.erase(now.doomed.begin());
    ++now.counts.lost;
  }
  options.errors(Error{hipErrorUnknown, "a stream that cannot be destroyed is given up: too many of them wait"});
}

Status StreamCache::Shared::destroy_doomed() {
  std::vector<Entry> doomed;
  {
    const sync::LockGuard lock(mutex);
    doomed.swap(pool.write().doomed);
  }
  Status all;
  for (const Entry& entry : doomed) all = both(std::move(all), destroy(entry));
  return all;
}

Status StreamCache::Shared::clear() {
  std::vector<Entry> idle;
  {
    const sync::LockGuard lock(mutex);
    idle.swap(pool.write().idle);
  }
  Status all = destroy_doomed();
  for (const Entry& entry : idle) all = both(std::move(all), destroy(entry));
  return all;
}

StreamCache::StreamCache(const Api& api, const StreamCacheOptions& options)
    : shared_(std::make_shared<Shared>(api, options)) {}

StreamCache::~StreamCache() {
  {
    const sync::LockGuard lock(shared_->mutex);
    shared_->pool.write().closed = true;
  }
  shared_->options.errors(shared_->clear());
}

Result<StreamLease> StreamCache::acquire(const StreamKey& wanted) {
  const BesideCaptures beside(shared_->api, shared_->options.errors);
  Result<DeviceScope> scope = DeviceScope::enter(shared_->api, wanted.device, shared_->options.errors);
  if (!scope) return scope.error();
  const Result<int> priority = clamp_priority(shared_->api, wanted.priority);
  if (!priority) return both(priority.error(), scope.value().leave()).error();
  const StreamKey key{wanted.device, wanted.flags, priority.value()};
  // A failure is reported, and the stream is tried again later; acquire() does not depend on it.
  shared_->options.errors(shared_->destroy_doomed());
  while (const std::optional<Entry> entry = shared_->take(key)) {
    const StreamRef stream(shared_->api, entry->handle, key.device);
    const Result<bool> idle = stream.idle();
    if (idle.ok() && idle.value()) {
      shared_->count([](StreamCacheCounts& counts) { ++counts.hits; });
      scope.value().keep();
      return StreamLease(shared_, stream, key);
    }
    // A client used the stream after giving it back, or its device has an error: tries the next stream, or a new one.
    if (!idle.ok()) shared_->options.errors(idle.error());
    const bool busy = idle.ok();
    shared_->count([busy](StreamCacheCounts& counts) { ++(busy ? counts.busy : counts.faulty); });
    shared_->options.errors(shared_->destroy(*entry));
  }
  const Result<Entry> made = shared_->create(key);
  if (!made) return both(made.error(), scope.value().leave()).error();
  shared_->count([](StreamCacheCounts& counts) { ++counts.misses; });
  scope.value().keep();
  return StreamLease(shared_, StreamRef(shared_->api, made.value().handle, key.device), made.value().key);
}

Status StreamCache::clear() {
  return shared_->clear();
}

std::size_t StreamCache::idle() const {
  const sync::LockGuard lock(shared_->mutex);
  return shared_->pool.read().idle.size();
}

StreamCacheCounts StreamCache::counts() const {
  const sync::LockGuard lock(shared_->mutex);
  return shared_->pool.read().counts;
}

StreamCache& StreamCache::of_process(const LoadedApi& runtime) {
  struct OfRuntime {
    explicit OfRuntime(const LoadedApi& loaded) : runtime(loaded) {}
    const LoadedApi runtime;  // keeps the library loaded and its table valid
    StreamCache cache{runtime.api};
  };
  struct Caches {
    sync::Mutex mutex;
    sync::Cell<std::map<void*, OfRuntime*>> by_library;  // guarded by mutex
  };
  static Caches* const caches = new Caches;
  const sync::LockGuard lock(caches->mutex);
  // Loading a library again gives the same handle.
  OfRuntime*& one = caches->by_library.write()[runtime.library.get()];
  if (one == nullptr) one = new OfRuntime(runtime);
  return one->cache;
}

StreamLease::StreamLease(StreamLease&& other) noexcept
    : shared_(std::exchange(other.shared_, nullptr)), ref_(other.ref_), key_(other.key_) {}

StreamLease& StreamLease::operator=(StreamLease&& other) noexcept {
  if (this == &other) return *this;
  if (holds()) {
    const ErrorSink errors = shared_->options.errors;
    errors(release());
  }
  shared_ = std::exchange(other.shared_, nullptr);
  ref_ = other.ref_;
  key_ = other.key_;
  return *this;
}

StreamLease::~StreamLease() {
  if (!holds()) return;
  const ErrorSink errors = shared_->options.errors;
  errors(release());
}

Status StreamLease::release() {
  if (!holds()) return {};
  const std::shared_ptr<StreamCache::Shared> shared = std::exchange(shared_, nullptr);
  return shared->give_back({key_, ref_.handle()});
}

}  // namespace hip
