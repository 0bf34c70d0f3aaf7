#include "bench/client_lives.h"

#include <utility>

namespace bench {

ClientLives::ClientLives(const hip::Api& api, bool cached) : api_(api) {
  int least = 0;
  if (api.hipDeviceGetStreamPriorityRange(&least, &urgent_) != hipSuccess) urgent_ = 0;
  if (cached) cache_.emplace(api);
  streams_.reserve(kStreamsOfClient);
  leases_.reserve(kStreamsOfClient);
}

hip::StreamKey ClientLives::key_of(std::size_t stream) const {
  return {.device = 0, .flags = hipStreamNonBlocking, .priority = stream < kUrgentStreams ? urgent_ : 0};
}

hip::Status ClientLives::live() {
  return cache_ ? live_with(*cache_) : live_without();
}

hip::Status ClientLives::live_without() {
  for (std::size_t i = 0; i < kStreamsOfClient; ++i) {
    hip::Result<hip::Stream> stream = hip::Stream::create(api_, key_of(i));
    if (!stream) return stream.error();
    streams_.push_back(std::move(stream).value());
  }
  hip::Status status;
  for (hip::Stream& stream : streams_) status = hip::both(std::move(status), stream.destroy());
  streams_.clear();
  return status;
}

hip::Status ClientLives::live_with(hip::StreamCache& cache) {
  for (std::size_t i = 0; i < kStreamsOfClient; ++i) {
    hip::Result<hip::StreamLease> lease = cache.acquire(key_of(i));
    if (!lease) return lease.error();
    leases_.push_back(std::move(lease).value());
  }
  hip::Status status;
  for (hip::StreamLease& lease : leases_) status = hip::both(std::move(status), lease.release());
  leases_.clear();
  return status;
}

hip::StreamCacheCounts ClientLives::counts() const {
  return cache_ ? cache_->counts() : hip::StreamCacheCounts{};
}

}  // namespace bench
