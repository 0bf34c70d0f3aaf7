// bench::ClientLives: the use of streams by a client of a GPU framework during its life: the client takes 112 streams
// of two kinds and gives them all back.
//
// Without a cache each stream is made and destroyed (hip/stream); with a cache they are lent (hip/stream_cache). The
// client does nothing else, so a benchmark of it measures the cost of streams.
#pragma once

#include <optional>
#include <vector>

#include "hip/api/api.h"
#include "hip/stream.h"
#include "hip/stream_cache.h"

namespace bench {

inline constexpr std::size_t kStreamsOfClient = 112;
inline constexpr std::size_t kUrgentStreams = 16;  // of them, of the highest priority

class ClientLives {
 public:
  // `api` outlives this.
  ClientLives(const hip::Api& api, bool cached);
  ClientLives(const ClientLives&) = delete;
  ClientLives& operator=(const ClientLives&) = delete;

  [[nodiscard]] hip::Status live();
  // All zero without a cache.
  [[nodiscard]] hip::StreamCacheCounts counts() const;

 private:
  [[nodiscard]] hip::Status live_without();
  [[nodiscard]] hip::Status live_with(hip::StreamCache& cache);
  [[nodiscard]] hip::StreamKey key_of(std::size_t stream) const;

  const hip::Api& api_;
  int urgent_ = 0;  // the highest priority
  std::optional<hip::StreamCache> cache_;
  std::vector<hip::Stream> streams_;
  std::vector<hip::StreamLease> leases_;
};

}  // namespace bench
