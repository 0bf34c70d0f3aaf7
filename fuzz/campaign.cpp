#include "fuzz/campaign.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fuzz/finding.h"
#include "fuzz/isolate.h"
#include "fuzz/worker.h"
#include "reports/json.h"
#include "verify/program/features.h"
#include "verify/program/text.h"
#include "verify/properties/property.h"
#include "verify/subject/process.h"

namespace fuzz {

namespace {

constexpr int kPollMilliseconds = 100;
constexpr double kMaxRunsAJudgement = 100;  // every call failing in turn, equal variants, causes told apart
constexpr std::size_t kMaxLine = 1 << 20;   // of what a child writes; longer is a child gone mad

// The read end of a pipe to a child, line by line.
class Lines {
 public:
  explicit Lines(int fd) : fd_(fd) { fcntl(fd_, F_SETFL, O_NONBLOCK); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() { close(fd_); }

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool ended() const { return ended_; }
  template <class Handle>
  void read_all(const Handle& handle) {
    char buffer[8192];
    while (!ended_) {
      const ssize_t n = read(fd_, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) break;
      if (n == 0) ended_ = true;
      pending_.append(buffer, static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
      if (pending_.size() > kMaxLine) ended_ = true;
    }
    std::size_t newline = 0;
    while ((newline = pending_.find('\n')) != std::string::npos) {
      const nlohmann::json line = nlohmann::json::parse(pending_.substr(0, newline), nullptr, false);
      pending_.erase(0, newline + 1);
      if (!line.is_discarded()) handle(line);
    }
  }

 private:
  int fd_;
  bool ended_ = false;
  std::string pending_;
};

struct Worker {
  pid_t pid = -1;
  Board* board = nullptr;
  std::unique_ptr<Lines> lines;
  Share share;
  bool finished = false;
};

// A cause that was seen, and the first program that showed it.
struct Cause {
  std::uint64_t index = 0;
  std::string property;
  std::string cause;
  std::uint64_t seen = 1;
  std::string death;  // of the worker, when that is how it showed
};

struct Shrinking {
  pid_t pid = -1;
  std::unique_ptr<Lines> lines;
  std::size_t finding = 0;  // in result.findings
  std::uint64_t started_ns = 0;
};

class Campaign {
 public:
  Campaign(const CampaignOptions& options, std::unique_ptr<Setup> setup) : options_(options), setup_(std::move(setup)) {
    verify::CampaignResult& result = outcome_.result;
    result.version = options.version;
    result.subject = options.setup.subject;
    result.baseline = options.setup.baseline;
    result.fault = options.setup.fault;
    result.seed = options.seed;
    result.size = options.size;
    result.jobs = options.jobs;
    for (const verify::Property& property : verify::properties()) {
      result.properties[std::string(property.name)] = {};
      result.property_sentences[std::string(property.name)] = property.sentence;
    }
    result.sampling = {
        {"P2, everything else compared around each exec operation", fmt::format("1 in {} programs", kIsolationEvery)},
        {"P4, every call fails in turn", fmt::format("1 in {} programs", kEveryCallFailsEvery)},
        {"P9, equal variants", fmt::format("1 in {} programs", kHoweverBuiltEvery)}};
  }
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;
  ~Campaign() {
    kill_everything();
    if (boards_ != nullptr) munmap(boards_, options_.jobs * sizeof(Board));
  }

  hip::Result<CampaignOutcome> run(const std::function<bool()>& interrupted,
                                   const std::function<void(const Progress&)>& progress) {
    if (hip::Status status = start(); !status) return status.error();
    started_ns_ = steady_ns();
    while (true) {
      wait_for_news();
      read_workers();
      reap();
      watch_the_clock();
      shrink_next();
      progress(report_progress());
      if (interrupted()) {
        outcome_.interrupted = true;
        break;
      }
      const bool over = std::all_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.finished; });
      if (over && waiting_.empty() && shrinking_.pid < 0) break;
      if (over && ended_ns_ == 0) ended_ns_ = steady_ns();
      if (over && seconds_since(ended_ns_) > options_.shrink_seconds) break;
    }
    finish();
    return std::move(outcome_);
  }

 private:
  static double seconds_since(std::uint64_t ns) { return static_cast<double>(steady_ns() - ns) / 1e9; }

  // ---- processes

  hip::Status start() {
    void* memory =
        mmap(nullptr, options_.jobs * sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return hip::Error{1, fmt::format("no shared memory for the workers: {}", std::strerror(errno))};
    boards_ = static_cast<Board*>(memory);
    workers_.resize(options_.jobs);
    for (unsigned i = 0; i < options_.jobs; ++i) {
      workers_[i].board = new (boards_ + i) Board();
      // Shard s of n takes the programs whose index is s - 1 modulo n; its workers share those out alike.
      workers_[i].share = {options_.shard - 1 + i * options_.shards, options_.shards * options_.jobs,
                           options_.programs == 0 ? ~std::uint64_t{0} : options_.programs};
      if (hip::Status status = start_worker(workers_[i]); !status) return status;
    }
    return {};
  }

  hip::Status start_worker(Worker& worker) {
    int ends[2];
    if (pipe(ends) != 0) return hip::Error{1, fmt::format("no pipe: {}", std::strerror(errno))};
    const pid_t child = fork();
    if (child < 0) return hip::Error{1, fmt::format("no process: {}", std::strerror(errno))};
    if (child == 0) {
      close(ends[0]);
      WorkerOptions options;
      options.seed = options_.seed;
      options.size = options_.size;
      options.share = worker.share;
      run_worker(*setup_, options, *worker.board, ends[1]);
    }
    close(ends[1]);
    worker.pid = child;
    worker.lines = std::make_unique<Lines>(ends[0]);
    return {};
  }

  void wait_for_news() {
    std::vector<pollfd> pollers;
    for (const Worker& worker : workers_) {
      if (worker.lines && !worker.lines->ended()) pollers.push_back({worker.lines->fd(), POLLIN, 0});
    }
    if (shrinking_.lines && !shrinking_.lines->ended()) pollers.push_back({shrinking_.lines->fd(), POLLIN, 0});
    static_cast<void>(poll(pollers.data(), pollers.size(), kPollMilliseconds));
  }

  void read_workers() {
    for (Worker& worker : workers_) {
      if (worker.lines) worker.lines->read_all([this](const nlohmann::json& line) { news(line); });
    }
    if (shrinking_.lines) shrinking_.lines->read_all([this](const nlohmann::json& line) { take_shrunk(line); });
  }

  void reap() {
    for (Worker& worker : workers_) {
      int status = 0;
      if (worker.pid < 0 || waitpid(worker.pid, &status, WNOHANG) != worker.pid) continue;
      worker.pid = -1;
      worker.lines->read_all([this](const nlohmann::json& line) { news(line); });
      worker.lines.reset();
      if (worker.board->done.load() != 0 || stopping_) {
        worker.finished = true;
      } else if (WIFEXITED(status) && WEXITSTATUS(status) == kRestart) {
        go_on_behind(worker, worker.board->index.load());
      } else {
        lost(worker, verify::describe_wait_status(status));
      }
    }
    int status = 0;
    if (shrinking_.pid >= 0 && waitpid(shrinking_.pid, &status, WNOHANG) == shrinking_.pid) {
      shrinking_.lines->read_all([this](const nlohmann::json& line) { take_shrunk(line); });
      if (!shrunk_[shrinking_.finding]) {
        outcome_.result.findings[shrinking_.finding].summary += "; it did not show again when run alone";
      }
      shrinking_ = {};
    }
  }

  // A worker died of its program: that is a finding, and the work goes on behind it.
  void lost(Worker& worker, const std::string& how) {
    Board& board = *worker.board;
    const std::uint64_t index = board.index.load();
    board.busy_since_ns.store(0);
    board.programs.fetch_add(1);
    board.verdicts[static_cast<std::size_t>(verify::VerdictKind::kDiverge)].fetch_add(1);
    board.violated[static_cast<std::size_t>(verify::PropertyId::kP11)].fetch_add(1);
    note_divergence({index, "P11", fmt::format("P11 process {}", how), 1, how});
    go_on_behind(worker, index);
  }

  void go_on_behind(Worker& worker, std::uint64_t index) {
    worker.share.first = index + worker.share.stride;
    if (const hip::Status status = start_worker(worker); !status) {
      outcome_.result.messages.push_back(status.error().message);
      worker.finished = true;
    }
  }

  void watch_the_clock() {
    for (Worker& worker : workers_) {
      const std::uint64_t busy = worker.board->busy_since_ns.load(std::memory_order_acquire);
      // The worker's clock may be read just before it moves on: look twice, a poll apart, before killing.
      if (worker.pid < 0 || busy == 0 || seconds_since(std::min(busy, steady_ns())) < judgement_timeout()) continue;
      kill(worker.pid, SIGKILL);
      int status = 0;
      waitpid(worker.pid, &status, 0);
      worker.pid = -1;
      worker.lines->read_all([this](const nlohmann::json& line) { news(line); });
      worker.lines.reset();
      lost(worker, "hung");
    }
    if (shrinking_.pid >= 0 &&
        seconds_since(shrinking_.started_ns) > options_.shrink_seconds + 4 * options_.setup.program_timeout) {
      kill(shrinking_.pid, SIGKILL);
    }
    const bool time_is_up = options_.seconds > 0 && seconds_since(started_ns_) >= options_.seconds;
    if ((time_is_up || fault_found_) && !stopping_) stop_workers();
  }

  // A subject process is watched by whoever runs it, each run by itself; the worker around it only should not hang.
  [[nodiscard]] double judgement_timeout() const {
    return setup_->contained() ? kMaxRunsAJudgement * options_.setup.program_timeout : options_.setup.program_timeout;
  }

  void stop_workers() {
    stopping_ = true;
    for (Worker& worker : workers_) {
      if (worker.pid >= 0) kill(worker.pid, SIGKILL);
    }
  }

  void kill_everything() {
    stop_workers();
    if (shrinking_.pid >= 0) kill(shrinking_.pid, SIGKILL);
    for (Worker& worker : workers_) {
      if (worker.pid >= 0) waitpid(worker.pid, nullptr, 0);
      worker.pid = -1;
    }
    if (shrinking_.pid >= 0) waitpid(shrinking_.pid, nullptr, 0);
    shrinking_.pid = -1;
  }

  // ---- findings

  void news(const nlohmann::json& line) {
    const std::string kind = line.value("kind", "");
    if (kind == "diverge") {
      note_divergence(
          {line.value("index", std::uint64_t{0}), line.value("property", "?"), line.value("cause", "?"), 1, ""});
    } else if (kind == "known_quirk") {
      ++outcome_.result.quirks[line.value("reason", "")];
    } else {
      ++outcome_.result.reasons[kind + ": " + line.value("reason", "")];
    }
  }

  [[nodiscard]] bool wanted(const std::string& property) const {
    return options_.properties.empty() ||
           std::find(options_.properties.begin(), options_.properties.end(), property) != options_.properties.end();
  }

  void note_divergence(const Cause& cause) {
    if (!wanted(cause.property)) return;
    if (options_.accepted.contains(cause.cause)) {
      ++outcome_.result.reasons["accepted: " + cause.cause];
      return;
    }
    if (const auto known = causes_.find(cause.cause); known != causes_.end()) {
      ++outcome_.result.findings[known->second].seen;
      return;
    }
    if (outcome_.result.findings.size() == kMaxFindings) {
      ++outcome_.result.reasons[fmt::format("cause past the first {}", kMaxFindings)];
      return;
    }
    causes_[cause.cause] = outcome_.result.findings.size();
    waiting_.push_back(outcome_.result.findings.size());
    outcome_.result.findings.push_back(unshrunk(cause));
    write_program(outcome_.result.findings.back());
  }

  verify::Program program_of(std::uint64_t index) const {
    return verify::campaign_program(options_.seed, index, setup_->generator(options_.size, index));
  }

  verify::Finding unshrunk(const Cause& cause) {
    const verify::Program program = program_of(cause.index);
    verify::Judgement judgement;
    judgement.verdict = verify::VerdictKind::kDiverge;
    if (const verify::Property* property = verify::find_property(cause.property)) judgement.broken = {property->id};
    if (!cause.death.empty()) judgement.differences.push_back({"process", "the program", "an end", cause.death});
    verify::Finding finding = make_finding(*setup_, program, judgement, cause.index, verify::counted_commands(program));
    finding.summary = cause.cause + " (not shrunk yet)";
    indices_.push_back(cause.index);
    shrunk_.push_back(false);
    name_files(finding);
    return finding;
  }

  void name_files(verify::Finding& finding) const {
    if (options_.report.empty()) return;
    finding.program_path = (std::filesystem::path(options_.report) / (finding.id + ".program")).string();
    finding.replay = fmt::format("build/bin/hgcheck replay {}{}", finding.program_path, setup_->arguments());
  }

  void write_program(const verify::Finding& finding) {
    if (finding.program_path.empty()) return;
    const std::string text =
        fmt::format("# {}: {}\n# replay: {}\n{}", finding.id, finding.summary, finding.replay, finding.program_text);
    const std::string temporary = finding.program_path + ".new";
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    std::error_code error;
    if (file) std::filesystem::rename(temporary, finding.program_path, error);
    if (!file || error) outcome_.result.messages.push_back(fmt::format("{} cannot be written", finding.program_path));
  }

  void shrink_next() {
    if (shrinking_.pid >= 0 || waiting_.empty()) return;
    const std::size_t finding = waiting_.front();
    waiting_.pop_front();
    int ends[2];
    if (pipe(ends) != 0) return;
    const pid_t child = fork();
    if (child < 0) {
      close(ends[0]);
      close(ends[1]);
      return;
    }
    if (child == 0) {
      close(ends[0]);
      shrink_in_child(finding, ends[1]);
    }
    close(ends[1]);
    shrinking_ = {child, std::make_unique<Lines>(ends[0]), finding, steady_ns()};
  }

  [[noreturn]] void shrink_in_child(std::size_t finding, int fd) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGINT, SIG_IGN);
    const std::uint64_t index = indices_[finding];
    const verify::Program program = program_of(index);
    const Shrunk shrunk = shrink_finding(*setup_, program, campaign_checks(index), options_.setup.program_timeout,
                                         options_.shrink_seconds);
    if (!shrunk.reproduced) _exit(1);
    verify::CampaignResult carrier;  // a finding travels as a report of one
    carrier.findings.push_back(
        make_finding(*setup_, shrunk.program, shrunk.judgement, index, verify::counted_commands(program)));
    const std::string line = reports::to_json(carrier).dump() + "\n";
    _exit(verify::write_all(fd, line) ? 0 : 1);
  }

  void take_shrunk(const nlohmann::json& line) {
    hip::Result<verify::CampaignResult> carrier =
        reports::from_json(nlohmann::ordered_json::parse(line.dump(), nullptr, false));
    if (!carrier || carrier.value().findings.size() != 1) return;
    verify::Finding& old = outcome_.result.findings[shrinking_.finding];
    verify::Finding shrunk = std::move(carrier).value().findings.front();
    shrunk.seen = old.seen;
    name_files(shrunk);
    if (shrunk.program_path != old.program_path && !old.program_path.empty()) {
      std::error_code ignored;  // the file under the first name is superseded
      std::filesystem::remove(old.program_path, ignored);
    }
    old = std::move(shrunk);
    write_program(old);
    shrunk_[shrinking_.finding] = true;
    if (options_.setup.fault.empty()) return;
    fault_found_ = true;  // what was asked for is found: the rest of the queue would say the same
    waiting_.clear();
  }

  // ---- results

  [[nodiscard]] Progress report_progress() const {
    Progress progress;
    progress.seconds = seconds_since(started_ns_);
    progress.features = verify::feature_names().size();
    std::vector<bool> seen(progress.features, false);
    for (const Worker& worker : workers_) {
      progress.programs += worker.board->programs.load(std::memory_order_relaxed);
      for (std::size_t i = 0; i < progress.features; ++i) {
        if (worker.board->features[i].load(std::memory_order_relaxed) != 0) seen[i] = true;
      }
    }
    progress.features_seen = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
    progress.findings = outcome_.result.findings.size();
    progress.shrinking = waiting_.size() + (shrinking_.pid >= 0 ? 1 : 0);
    return progress;
  }

  void finish() {
    verify::CampaignResult& result = outcome_.result;
    result.seconds = seconds_since(started_ns_);
    const double shrinking_after = ended_ns_ == 0 ? 0 : seconds_since(ended_ns_);
    kill_everything();
    for (Worker& worker : workers_) {
      if (worker.lines) worker.lines->read_all([this](const nlohmann::json& line) { news(line); });
    }
    result.interrupted = outcome_.interrupted;
    result.seconds -= shrinking_after;  // the rate is that of judging
    sum_boards();
    if (fault_found_) drop_unshrunk();
    merge_equal_findings();
    check_caps();
    for (const auto& [cause, finding] : causes_) outcome_.causes.insert(cause);
  }

  void sum_boards() {
    verify::CampaignResult& result = outcome_.result;
    std::uint64_t* const verdicts[kVerdicts] = {&result.verdicts.agree,        &result.verdicts.diverge,
                                                &result.verdicts.known_quirk,  &result.verdicts.poisoned,
                                                &result.verdicts.unsupported,  &result.verdicts.discarded,
                                                &result.verdicts.harness_error};
    std::uint64_t generate_ns = 0, judge_ns = 0;
    for (const std::string& name : verify::feature_names()) result.coverage[name] = 0;
    for (const Worker& worker : workers_) {
      const Board& board = *worker.board;
      result.programs += board.programs;
      result.commands += board.commands;
      generate_ns += board.generate_ns;
      judge_ns += board.judge_ns;
      for (std::size_t i = 0; i < kVerdicts; ++i) *verdicts[i] += board.verdicts[i];
      for (const verify::Property& property : verify::properties()) {
        verify::PropertyCount& count = result.properties[std::string(property.name)];
        count.exercised += board.exercised[static_cast<std::size_t>(property.id)];
        count.violated += board.violated[static_cast<std::size_t>(property.id)];
      }
      for (std::size_t i = 0; i < verify::feature_names().size(); ++i) {
        result.coverage[verify::feature_names()[i]] += board.features[i];
      }
    }
    if (result.programs == 0) return;
    result.messages.push_back(fmt::format("{:.0f} us a program to generate, {:.0f} us to run and judge (one worker)",
                                          static_cast<double>(generate_ns) / 1e3 / static_cast<double>(result.programs),
                                          static_cast<double>(judge_ns) / 1e3 / static_cast<double>(result.programs)));
  }

  // Of a fault that was found one finding is shown: those that were still to be shrunk say nothing new.
  void drop_unshrunk() {
    std::vector<verify::Finding> kept;
    for (std::size_t i = 0; i < outcome_.result.findings.size(); ++i) {
      verify::Finding& finding = outcome_.result.findings[i];
      std::error_code ignored;
      if (shrunk_[i]) {
        kept.push_back(std::move(finding));
      } else if (!finding.program_path.empty()) {
        std::filesystem::remove(finding.program_path, ignored);
      }
    }
    outcome_.result.findings = std::move(kept);
  }

  // Different first symptoms may shrink to the same program.
  void merge_equal_findings() {
    std::vector<verify::Finding>& findings = outcome_.result.findings;
    std::vector<verify::Finding> kept;
    for (verify::Finding& finding : findings) {
      const auto same = std::find_if(kept.begin(), kept.end(), [&](const verify::Finding& other) {
        return other.property == finding.property && other.program_text == finding.program_text;
      });
      if (same == kept.end()) {
        kept.push_back(std::move(finding));
        continue;
      }
      same->seen += finding.seen;
      std::error_code ignored;
      if (!finding.program_path.empty() && finding.program_path != same->program_path) {
        std::filesystem::remove(finding.program_path, ignored);
      }
    }
    findings = std::move(kept);
  }

  void check_caps() {
    verify::CampaignResult& result = outcome_.result;
    const auto check = [&](std::uint64_t count, double cap, const char* what) {
      const double share = result.programs == 0 ? 0 : static_cast<double>(count) / static_cast<double>(result.programs);
      if (share <= cap) return;
      outcome_.cap_exceeded = true;
      result.messages.push_back(
          fmt::format("{} of {} programs were {}: more than {} %", count, result.programs, what, 100 * cap));
    };
    check(result.verdicts.poisoned, kMaxPoisonedShare, "poisoned");
    check(result.verdicts.discarded, kMaxDiscardedShare, "discarded");
    check(result.verdicts.harness_error, 0, "harness errors");
  }

  const CampaignOptions& options_;
  std::unique_ptr<Setup> setup_;
  CampaignOutcome outcome_;
  Board* boards_ = nullptr;
  std::vector<Worker> workers_;
  std::map<std::string, std::size_t> causes_;  // cause -> finding
  std::vector<std::uint64_t> indices_;         // of findings: the program's index in the campaign
  std::vector<bool> shrunk_;                   // of findings
  std::deque<std::size_t> waiting_;            // findings to be shrunk
  Shrinking shrinking_;
  bool stopping_ = false, fault_found_ = false;
  std::uint64_t started_ns_ = 0, ended_ns_ = 0;
};

}  // namespace

hip::Result<CampaignOutcome> run_campaign(const CampaignOptions& options, const std::function<bool()>& interrupted,
                                          const std::function<void(const Progress&)>& progress) {
  hip::Result<std::unique_ptr<Setup>> setup = Setup::make(options.setup);
  if (!setup) return setup.error();
  return Campaign(options, std::move(setup).value()).run(interrupted, progress);
}

}  // namespace fuzz
