// hip::RankAgreement: the ranks of a collective decide together.
//
// A rank that replays a cached trace while a peer records enqueues other collectives than the peer waits for, and both
// hang. So every rank says whether it could take the fast way, and all take it exactly when all could. The wait for the
// other ranks is bounded: if a rank does not come, this round and every later round is an error for all ranks, and not
// a deadlock. The agreement is of no use then: the ranks have to begin anew with another one. Between two rounds a rank
// may capture and instantiate, so patience has to be that long; the first step takes longest.
//
// The framework decides how ranks communicate; between processes it does so in its own way (MPI, sockets;
// hip/example/ranks.cpp is an example). hip::ThreadRanks is for ranks that are threads of one process. Each rank makes
// one call in each round, and makes the calls of its rounds in order.
#pragma once

#include <chrono>
#include <cstdint>

#include "hip/errors.h"
#include "hip/sync/sync.h"

namespace hip {

struct AgreementOptions {
  int ranks = 1;
  std::chrono::milliseconds patience{10000};
};

class RankAgreement {
 public:
  virtual ~RankAgreement() = default;

  // Whether every rank passed true. After an error, every later call returns an error, on all ranks.
  [[nodiscard]] virtual Result<bool> all(bool mine) = 0;
};

class ThreadRanks final : public RankAgreement {
 public:
  explicit ThreadRanks(const AgreementOptions& options);
  [[nodiscard]] Result<bool> all(bool mine) override;

 private:
  struct Round {
    std::uint64_t number = 0;
    int arrived = 0;
    bool all = true;       // of the ranks that arrived in this round
    bool last_all = true;  // the result of the round before
    bool broken = false;
  };

  const AgreementOptions options_;
  sync::Mutex mutex_;
  sync::ConditionVariable decided_;
  sync::Cell<Round> round_;  // guarded by mutex_
};

}  // namespace hip
