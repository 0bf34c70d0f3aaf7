// A campaign's worker process: generates, runs and judges its share of the programs and reports what is not agreement.
#pragma once

#include <cstdint>

#include "fuzz/board.h"
#include "fuzz/setup.h"

namespace fuzz {

struct Share {
  std::uint64_t first = 0;  // this worker's first index
  std::uint64_t stride = 1;
  std::uint64_t end = 0;  // no index from here on
};

struct WorkerOptions {
  std::uint64_t seed = 1;
  std::uint32_t size = 30;
  Share share;
};

// What a worker writes to its pipe: one JSON object a line,
//   {"index": N, "kind": "diverge", "property": "A2", "cause": "..."}   or   {"index": N, "kind": "discarded",
//   "reason": "..."}.
// Ends the process; never returns: with status 0 when the share is done, with kRestart behind a program after which the
// subject's runtime cannot be trusted.
inline constexpr int kRestart = 75;
[[noreturn]] void run_worker(Setup& setup, const WorkerOptions& options, Board& board, int pipe_end);

[[nodiscard]] std::uint64_t steady_ns();

}  // namespace fuzz
