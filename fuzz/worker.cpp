#include "fuzz/worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>

#include "fuzz/finding.h"
#include "fuzz/shared_corpus.h"
#include "fuzz/tally.h"
#include "verify/program/text.h"
#include "verify/properties/property.h"
#include "verify/subject/process.h"

namespace fuzz {

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

void tell(int fd, const nlohmann::json& line) {
  // Ends the worker when the reader is gone, because its results would be lost.
  if (!verify::write_all(fd, line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n")) _exit(0);
}

// `waiting`: the program that the judgement is about, where it is not the one of that index.
void report(int fd, std::uint64_t index, const verify::Judgement& judgement,
            const std::optional<verify::Program>& waiting) {
  if (!judgement.steps.empty()) tell(fd, {{"kind", "steps"}, {"counts", judgement.steps}});
  if (judgement.verdict == verify::VerdictKind::kAgree) return;
  nlohmann::json line = {{"index", index}, {"kind", verdict_name(judgement.verdict)}};
  if (judgement.verdict == verify::VerdictKind::kDiverge) {
    line["property"] = verify::property(judgement.broken.front()).name;
    line["cause"] = cause_of(judgement);
    if (waiting) line["program"] = verify::print_program(*waiting);
  } else {
    line["reason"] = judgement.reason;
  }
  tell(fd, line);
}

// Judges the program once more, with waits before its known quirks, and returns the program with the waits if that is
// wrong in another way; `judgement` is then about it.
std::optional<verify::Program> look_behind_quirks(verify::Judge& judge, const verify::Program& program,
                                                  verify::Judgement& judgement) {
  if (judgement.verdict != verify::VerdictKind::kKnownQuirk) return {};
  std::optional<verify::Program> waiting = judge.waiting_for_quirks(program);
  if (!waiting) return {};
  verify::Judgement behind = judge.judge(*waiting, {});
  if (behind.verdict != verify::VerdictKind::kDiverge) return {};
  judgement = std::move(behind);
  return waiting;
}

void keep(const Corpus& corpus, const verify::Program& program, int fd) {
  if (corpus.reports()) return tell(fd, {{"kind", "keep"}, {"program", verify::print_program(program)}});
  if (const hip::Status kept = keep_entry(corpus.folder(), program); !kept) {
    tell(fd, {{"kind", "corpus"}, {"reason", "--corpus: " + kept.error().message}});
  }
}

// Takes the new programs of other tasks into `corpus`.
void read_news(SharedCorpus& shared, Corpus& corpus, int fd) {
  SharedCorpus::News news = shared.news();
  for (verify::Program& program : news.programs) corpus.add(std::move(program));
  for (const std::string& problem : news.problems) tell(fd, {{"kind", "shared corpus"}, {"reason", problem}});
}

// The program to judge again, where its index does not say which one it was.
std::optional<verify::Program> told_program(const WorkerOptions& options) {
  if (options.again_program.empty()) return {};
  auto program = verify::parse_program(options.again_program);
  auto* const parsed = std::get_if<verify::Program>(&program);
  return parsed == nullptr ? std::nullopt : std::optional(std::move(*parsed));
}

// Claims a place before it knows which one it gets: a reader in between sees the same place or an earlier one.
std::uint64_t next_place(Board& board, Deal& deal) {
  board.unsettled.store(deal.next.load());
  const std::uint64_t place = deal.next.fetch_add(1);
  board.unsettled.store(place);
  return place;
}

}  // namespace

std::uint64_t settled_below(const Deal& deal, const std::vector<const Board*>& boards) {
  std::uint64_t place = deal.next.load();  // read before the boards: a place that is dealt later is not below it
  for (const Board* board : boards) place = std::min(place, board->unsettled.load());
  return place;
}

std::uint64_t steady_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

void run_worker(Setup& setup, const WorkerOptions& options, Board& board, int pipe_end) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C reaches the whole group: the campaign decides when its workers end
  // A cluster sends SIGTERM to subject processes too: a worker that went on would take their ends for findings.
  std::signal(SIGTERM, SIG_DFL);
  ProgramCounter counter;
  Corpus corpus = *options.corpus;
  std::optional<SharedCorpus> shared;
  if (!options.shared.empty()) shared.emplace(options.shared, options.guided ? setup.release() : "", options.size);
  CoverageSeen seen = corpus.seen();
  const bool collects = corpus.reports() || !corpus.folder().empty();
  std::optional<std::uint64_t> place_again = options.again;
  while (true) {
    const std::uint64_t place = place_again ? *place_again : next_place(board, *options.share.deal);
    const std::uint64_t index = options.share.first + place * options.share.stride;
    if (index >= options.share.end) break;
    if (shared && shared->due()) read_news(*shared, corpus, pipe_end);
    board.index.store(index, kRelaxed);
    const std::uint64_t started = steady_ns();
    board.busy_since_ns.store(started, std::memory_order_release);
    const SharedCorpus::Draw draw = shared ? shared->draw(index) : SharedCorpus::Draw{is_mutant(index), options.size};
    const std::optional<verify::Program> told = place_again ? told_program(options) : std::nullopt;
    const verify::Program program =
        told ? *told
             : program_of(corpus, options.seed, index, setup.generator(draw.size, options.seed, index), draw.mutant);
    place_again.reset();
    if (shared) tell(pipe_end, {{"kind", "judging"}, {"program", verify::print_program(program)}});
    const std::uint64_t generated = steady_ns();
    verify::JudgeOptions checks = campaign_checks(index);
    checks.signature = options.guided;
    verify::Judgement judgement = setup.judge().judge(program, checks);
    const std::optional<verify::Program> waiting = look_behind_quirks(setup.judge(), program, judgement);
    if (shared && shared->offer(program, judgement.signature)) corpus.add(program);
    board.busy_since_ns.store(0, std::memory_order_release);
    board.generate_ns.fetch_add(generated - started, kRelaxed);
    board.judge_ns.fetch_add(steady_ns() - generated, kRelaxed);
    counter.add(program, judgement, board);
    report(pipe_end, index, judgement, waiting);
    if (collects && seen.add(program) != 0) keep(corpus, program, pipe_end);
    if (judgement.verdict == verify::VerdictKind::kDiverge && setup.fragile()) _exit(kRestart);
  }
  board.unsettled.store(kNothingLeft);
  board.done.store(1, std::memory_order_release);
  _exit(0);
}

}  // namespace fuzz
