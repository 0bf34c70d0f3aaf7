#include "fuzz/worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>

#include "fuzz/finding.h"
#include "verify/program/features.h"
#include "verify/properties/property.h"
#include "verify/subject/process.h"

namespace fuzz {

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

void note(Board& board, const verify::Judgement& judgement) {
  board.verdicts[static_cast<std::size_t>(judgement.verdict)].fetch_add(1, kRelaxed);
  for (std::size_t i = 0; i < verify::kProperties; ++i) {
    if (judgement.exercised[i] != 0) board.exercised[i].fetch_add(judgement.exercised[i], kRelaxed);
  }
  for (const verify::PropertyId id : judgement.broken) {
    board.violated[static_cast<std::size_t>(id)].fetch_add(1, kRelaxed);
  }
}

void report(int fd, std::uint64_t index, const verify::Judgement& judgement) {
  if (judgement.verdict == verify::VerdictKind::kAgree) return;
  nlohmann::json line = {{"index", index}, {"kind", verdict_name(judgement.verdict)}};
  if (judgement.verdict == verify::VerdictKind::kDiverge) {
    line["property"] = verify::property(judgement.broken.front()).name;
    line["cause"] = cause_of(judgement);
  } else {
    line["reason"] = judgement.reason;
  }
  // A reader that is gone ends the worker: nobody is left to work for.
  if (!verify::write_all(fd, line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n")) _exit(0);
}

}  // namespace

std::uint64_t steady_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

void run_worker(Setup& setup, const WorkerOptions& options, Board& board, int pipe_end) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C reaches the whole group: the campaign decides what becomes of its workers
  std::vector<std::uint64_t> features(verify::feature_names().size(), 0);
  for (std::uint64_t index = options.share.first; index < options.share.end; index += options.share.stride) {
    board.index.store(index, kRelaxed);
    const std::uint64_t started = steady_ns();
    board.busy_since_ns.store(started, std::memory_order_release);
    const verify::Program program = verify::campaign_program(options.seed, index, setup.generator(options.size, index));
    const std::uint64_t generated = steady_ns();
    const verify::Judgement judgement = setup.judge().judge(program, campaign_checks(index));
    board.busy_since_ns.store(0, std::memory_order_release);
    board.generate_ns.fetch_add(generated - started, kRelaxed);
    board.judge_ns.fetch_add(steady_ns() - generated, kRelaxed);
    note(board, judgement);
    std::fill(features.begin(), features.end(), 0);
    verify::count_features(program, features);
    for (std::size_t i = 0; i < features.size(); ++i) {
      if (features[i] != 0) board.features[i].fetch_add(features[i], kRelaxed);
    }
    board.commands.fetch_add(program.steps.size(), kRelaxed);
    board.programs.fetch_add(1, kRelaxed);
    report(pipe_end, index, judgement);
    if (judgement.verdict == verify::VerdictKind::kDiverge && setup.fragile()) _exit(kRestart);
  }
  board.done.store(1, std::memory_order_release);
  _exit(0);
}

}  // namespace fuzz
