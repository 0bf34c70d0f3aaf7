// hip::StreamCache: stream handles, reused across the lives of their clients.
//
// Making a stream is slow on real hardware, and frameworks make and destroy hundreds of them with every client. A cache
// lends them out and takes them back.
//
//   key       device, creation flags and priority, read back from the handle once it is made. A requested priority is
//             clamped to the device's range first, so that it equals the priority that can be read back.
//   acquire   makes the stream's device current and leaves it current. The stream that it returns is idle and free of
//             error: the cache queries it before it lends it. It lends the stream that was given back last first.
//   release   queries the stream, with its device current. Only an idle stream is kept; a stream with work, with an
//             error or in a capture is destroyed. The caller's device is current again afterwards.
//   captures  of other clients are left alone, and do not make the cache destroy streams (hip/beside_captures.h).
//   bound     at most max_idle streams are kept; beyond that, the stream that was idle for longest is destroyed.
//   teardown  in any order: a lease that outlives its cache destroys its stream. A stream whose destruction failed is
//             kept aside and tried again with every later call, and reported if it still fails at the end. At most
//             max_doomed such streams are kept; beyond that, the oldest is given up as lost, which is reported.
//
// All functions may be called by any thread. No lock is held during a HIP call. A client must not use a handle after
// giving it back; the cache notices such use only if the stream still has work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hip/api/api.h"
#include "hip/errors.h"
#include "hip/stream.h"

namespace hip {

struct StreamCacheOptions {
  std::size_t max_idle = 256;
  ErrorSink errors{};           // receives the errors of destructors
  std::size_t max_doomed = 64;  // streams that could not be destroyed and are tried again; past it the oldest is lost
};

struct StreamCacheCounts {
  std::uint64_t hits = 0, misses = 0;
  std::uint64_t kept = 0;       // given back and cached
  std::uint64_t busy = 0;       // destroyed because they had work
  std::uint64_t faulty = 0;     // destroyed because the runtime answered an error about them
  std::uint64_t evicted = 0;    // destroyed because the cache was full
  std::uint64_t destroyed = 0;  // altogether
  std::uint64_t lost = 0;       // given up: they could not be destroyed
};

class StreamLease;

class StreamCache {
 public:
  explicit StreamCache(const Api& api, const StreamCacheOptions& options = {});
  StreamCache(const StreamCache&) = delete;
  StreamCache& operator=(const StreamCache&) = delete;
  // An error of clear() goes to the error sink.
  ~StreamCache();

  [[nodiscard]] Result<StreamLease> acquire(const StreamKey& wanted);
  // Destroys every idle stream, also after an error, and returns the first error. Streams on loan stay valid.
  Status clear();

  [[nodiscard]] std::size_t idle() const;
  [[nodiscard]] StreamCacheCounts counts() const;

  // The only cache of that runtime in the process, shared by all its users: made on first use with the default options.
  // It keeps the library loaded and is never destroyed, since at the end of a process the runtime may be unloaded
  // before it. Call clear() before that to destroy its streams.
  [[nodiscard]] static StreamCache& of_process(const LoadedApi& runtime);

  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
};

// A stream that is lent to a client.
class StreamLease {
 public:
  StreamLease(StreamLease&& other) noexcept;
  StreamLease& operator=(StreamLease&& other) noexcept;
  // An error of release() goes to the cache's error sink.
  ~StreamLease();

  [[nodiscard]] bool holds() const { return shared_ != nullptr; }
  [[nodiscard]] StreamRef ref() const { return ref_; }
  operator StreamRef() const { return ref_; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] const StreamKey& key() const { return key_; }

  // Gives the stream back. The lease is over in any case; an error is an error of the stream.
  Status release();

 private:
  friend class StreamCache;
  StreamLease(std::shared_ptr<StreamCache::Shared> shared, StreamRef ref, const StreamKey& key)
      : shared_(std::move(shared)), ref_(ref), key_(key) {}

  std::shared_ptr<StreamCache::Shared> shared_;  // null: the lease has no stream
  StreamRef ref_;
  StreamKey key_;
};

}  // namespace hip
