#include "hip/rank_agreement.h"

#include <cassert>

namespace hip {
// The error is made only when it is returned: ranks that agree at every step allocate nothing for it.
static Error broken() {
  return {hipErrorLaunchTimeOut, "a rank did not come to agree in time: the ranks are no longer together"};
}

ThreadRanks::ThreadRanks(const AgreementOptions& options) : options_(options) {
  assert(options.ranks > 0);
}

// The last rank to arrive decides and opens the next round. The next round needs every rank, so it cannot end before
// every rank has read the result of this one.
Result<bool> ThreadRanks::all(bool mine) {
  sync::UniqueLock lock(mutex_);
  Round& round = round_.write();
  if (round.broken) return broken();
  round.all = round.all && mine;
  if (++round.arrived == options_.ranks) {
    round.last_all = round.all;
    round.all = true;
    round.arrived = 0;
    ++round.number;
    decided_.notify_all();
    return round.last_all;
  }
  const std::uint64_t number = round.number;
  const bool in_time = decided_.wait_for(lock, options_.patience,
                                         [&] { return round_.read().broken || round_.read().number != number; });
  if (round_.read().number != number) return round_.read().last_all;
  if (!in_time) {
    round_.write().broken = true;
    decided_.notify_all();
  }
  return broken();
}

}  // namespace hip
