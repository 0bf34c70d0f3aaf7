// A campaign's worker process: generates, runs and judges its share of the programs and reports all but agreement.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fuzz/board.h"
#include "fuzz/corpus.h"
#include "fuzz/setup.h"

namespace fuzz {

// The programs of a shard: the program at place p has the index first + p * stride. A deal gives them to the workers in
// order, so that one place tells which programs are settled (settled_below()).
struct Share {
  std::uint64_t first = 0;
  std::uint64_t stride = 1;
  std::uint64_t end = 0;  // no index from here on
  Deal* deal = nullptr;   // never null when a worker runs
};
inline constexpr std::uint64_t kNothingLeft = ~std::uint64_t{0};
// The place below which every program is judged and every report of the workers is in the pipe.
[[nodiscard]] std::uint64_t settled_below(const Deal& deal, const std::vector<const Board*>& boards);

struct WorkerOptions {
  std::uint64_t seed = 1;
  std::uint32_t size = 30;
  Share share;
  const Corpus* corpus = nullptr;      // never null when a worker runs; outlives the worker
  std::string shared;                  // the folder of a SharedCorpus, or empty
  bool guided = false;                 // as CampaignOptions::guided_by_runtime
  std::optional<std::uint64_t> again;  // a place that was dealt before and is judged first
  std::string again_program;           // the program of that place, with a shared corpus; else empty
};

// A worker writes JSON objects to its pipe, one in each line:
//   {"index": N, "kind": "diverge", "property": "A2", "cause": "..."}   or   {"index": N, "kind": "discarded",
//   "reason": "..."}
// and, of programs for the corpus, {"kind": "corpus", "reason": "..."} when one could not be written and
// {"kind": "keep", "program": "..."} when another process writes the corpus (Corpus::reports()).
// With a shared corpus, {"kind": "judging", "program": "..."} before each program, because an index does not tell which
// program it was, and {"kind": "shared corpus", "reason": "..."} when something is wrong with a file.
// Ends the process; never returns: with status 0 when the share is done, with kRestart after a program that leaves a
// runtime which cannot be trusted.
inline constexpr int kRestart = 75;
[[noreturn]] void run_worker(Setup& setup, const WorkerOptions& options, Board& board, int pipe_end);

[[nodiscard]] std::uint64_t steady_ns();
[[nodiscard]] inline double seconds_since(std::uint64_t ns) {
  return static_cast<double>(steady_ns() - ns) / 1e9;
}

}  // namespace fuzz
