#include <algorithm>
#include <cassert>

#include "verify/race/scenario.h"

namespace verify::race {
// Depth first: the next call may be any call that began before every other remaining call ended.
static bool search(std::span<const Invocation> history, const SequentialModel& model, std::uint64_t done) {
  const std::uint64_t all = (std::uint64_t{1} << history.size()) - 1;
  if (done == all) return true;
  std::uint32_t first_end = ~std::uint32_t{0};
  for (std::size_t i = 0; i < history.size(); ++i) {
    if ((done >> i & 1U) == 0) first_end = std::min(first_end, history[i].end);
  }
  for (std::size_t i = 0; i < history.size(); ++i) {
    const Invocation& call = history[i];
    if ((done >> i & 1U) != 0 || call.begin > first_end) continue;
    const std::unique_ptr<SequentialModel> next = model.clone();
    if (next->accepts(call.thread, call.call, call.answer) && search(history, *next, done | std::uint64_t{1} << i)) {
      return true;
    }
  }
  return false;
}

bool linearizable(std::span<const Invocation> history, const SequentialModel& model) {
  assert(history.size() < 64);
  return search(history, model, 0);
}

}  // namespace verify::race
