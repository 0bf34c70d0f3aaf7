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

#include "fuzz/campaign_memory.h"
#include "fuzz/files.h"
#include "fuzz/finding.h"
#include "fuzz/isolate.h"
#include "fuzz/machine.h"
#include "fuzz/worker.h"
#include "reports/json.h"
#include "verify/generate/wide.h"
#include "verify/program/coverage.h"
#include "verify/program/features.h"
#include "verify/program/text.h"
#include "verify/properties/cost.h"
#include "verify/properties/property.h"
#include "verify/subject/process.h"

namespace fuzz {

namespace {

constexpr int kPollMilliseconds = 100;
constexpr double kMaxRunsACost = 20;                                      // sizes times programs, some of them large
constexpr std::uint64_t kProgramsAWideOne = 100, kMostWidePrograms = 60;  // of those whose costs are measured
constexpr double kMaxSecondsOfWide = 900;                                 // that a campaign waits for those
constexpr double kMaxRunsAJudgement = 100;  // every call failing in turn, equal variants, causes told apart
constexpr std::size_t kMaxMoments = 240;    // of a report's history
constexpr std::size_t kMaxLine = 16 << 20;  // of what a child writes; longer is a child gone mad
constexpr double kRememberEvery = 2;        // seconds: what a kill makes a campaign try again

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
    result.machine = machine();
    result.release = setup_->release();
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
        {"P9, equal variants", fmt::format("1 in {} programs", kHoweverBuiltEvery)},
        {"P5, every legal order", fmt::format("1 in {} programs", kEveryOrderEvery)}};
  }
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;
  ~Campaign() {
    kill_everything();
    if (boards_ != nullptr) munmap(boards_, options_.jobs * sizeof(Board));
    if (deal_ != nullptr) munmap(deal_, sizeof(Deal));
  }

  hip::Result<CampaignOutcome> run(const std::function<bool()>& interrupted,
                                   const std::function<void(const Progress&)>& progress) {
    started_ns_ = steady_ns();
    if (hip::Status status = recall(); !status) return status.error();
    if (hip::Status status = start(); !status) return status.error();
    if (!setup_->starts_slowly()) start_measuring();
    while (true) {
      wait_for_news();
      const std::uint64_t settled = settled_so_far();  // before what was said of it is read
      read_workers();
      reap();
      watch_the_clock();
      // Processes that work on one GPU in turn wait for each other's share of its time, longer than for their own work.
      const bool over = std::all_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.finished; });
      if (over || !setup_->starts_slowly()) shrink_next();
      if (over && setup_->starts_slowly() && shrinking_.pid < 0 && !cost_asked_) start_measuring();
      const Progress now = report_progress();
      if (ended_ns_ == 0) note_moment(now);
      if (seconds_since(remembered_ns_) >= kRememberEvery) remember(settled);
      progress(now);
      if (interrupted()) {
        outcome_.interrupted = true;
        break;
      }
      if (over && measuring_.pid < 0 && waiting_.empty() && shrinking_.pid < 0) break;
      if (over && ended_ns_ == 0) ended_ns_ = steady_ns();
      if (over && seconds_since(ended_ns_) > options_.shrink_seconds) break;
    }
    finish();
    return std::move(outcome_);
  }

 private:
  static double seconds_since(std::uint64_t ns) { return static_cast<double>(steady_ns() - ns) / 1e9; }

  // ---- processes

  // Null when there is none.
  static void* shared_memory(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
  }

  hip::Status start() {
    void* boards = shared_memory(options_.jobs * sizeof(Board));
    void* deal = shared_memory(sizeof(Deal));
    if (boards == nullptr || deal == nullptr)
      return hip::Error{1, fmt::format("no shared memory for the workers: {}", std::strerror(errno))};
    boards_ = static_cast<Board*>(boards);
    deal_ = new (deal) Deal();
    deal_->next.store(first_place_);
    workers_.resize(options_.jobs);
    for (unsigned i = 0; i < options_.jobs; ++i) {
      workers_[i].board = new (boards_ + i) Board();
      workers_[i].board->unsettled.store(first_place_);
      // Shard s of n takes the programs whose index is s - 1 modulo n.
      workers_[i].share = {options_.shard - 1, options_.shards,
                           options_.programs == 0 ? ~std::uint64_t{0} : options_.programs, deal_};
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
      if (memory_) memory_->leave_to_parent();
      WorkerOptions options;
      options.seed = options_.seed;
      options.size = options_.size;
      options.share = worker.share;
      options.corpus = &corpus_;
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
    if (measuring_.lines && !measuring_.lines->ended()) pollers.push_back({measuring_.lines->fd(), POLLIN, 0});
    if (shrinking_.lines && !shrinking_.lines->ended()) pollers.push_back({shrinking_.lines->fd(), POLLIN, 0});
    static_cast<void>(poll(pollers.data(), pollers.size(), kPollMilliseconds));
  }

  void read_workers() {
    for (Worker& worker : workers_) {
      if (worker.lines) worker.lines->read_all([this](const nlohmann::json& line) { news(line); });
    }
    if (shrinking_.lines) shrinking_.lines->read_all([this](const nlohmann::json& line) { take_shrunk(line); });
    if (measuring_.lines) measuring_.lines->read_all([this](const nlohmann::json& line) { take_cost(line); });
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
        go_on(worker);
      } else {
        lost(worker, verify::describe_wait_status(status));
      }
    }
    int status = 0;
    if (measuring_.pid >= 0 && waitpid(measuring_.pid, &status, WNOHANG) == measuring_.pid) {
      measuring_.lines->read_all([this](const nlohmann::json& line) { take_cost(line); });
      measuring_ = {};
    }
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
    board.verdicts[static_cast<std::size_t>(verify::VerdictKind::kDiverge)].fetch_add(1);
    board.violated[static_cast<std::size_t>(verify::PropertyId::kP11)].fetch_add(1);
    note_divergence({index, "P11", fmt::format("P11 process {}", how), 1, how});
    go_on(worker);
  }

  void go_on(Worker& worker) {
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
    watch_the_costs();
    const bool time_is_up = options_.seconds > 0 && seconds_since(started_ns_) >= options_.seconds;
    if ((time_is_up || fault_found_) && !stopping_) stop_workers();
  }

  // The fixed programs are waited for; those that are drawn are measured as long as the campaign goes on.
  void watch_the_costs() {
    if (measuring_.pid < 0) return;
    const double seconds = seconds_since(measuring_.started_ns);
    const bool fixed_done = costs_measured_ >= verify::cost_programs().size();
    if (fixed_done && !stopping_ && seconds < kMaxSecondsOfWide) return;
    if (!fixed_done && seconds <= kMaxRunsACost * options_.setup.program_timeout) return;
    kill(measuring_.pid, SIGKILL);
    if (!fixed_done) outcome_.result.messages.emplace_back("costs (P10) were not measured: it took too long");
  }

  // A subject process is watched by its runner, run by run; this limit is for the worker around it.
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
    for (const Shrinking* child : {&shrinking_, &measuring_}) {
      if (child->pid >= 0) kill(child->pid, SIGKILL);
    }
    for (Worker& worker : workers_) {
      if (worker.pid >= 0) waitpid(worker.pid, nullptr, 0);
      worker.pid = -1;
    }
    for (Shrinking* child : {&shrinking_, &measuring_}) {
      if (child->pid >= 0) waitpid(child->pid, nullptr, 0);
      child->pid = -1;
    }
  }

  // ---- findings

  void news(const nlohmann::json& line) {
    const std::string kind = line.value("kind", "");
    if (kind == "diverge") {
      note_divergence(
          {line.value("index", std::uint64_t{0}), line.value("property", "?"), line.value("cause", "?"), 1, ""});
    } else if (kind == "keep") {
      if (memory_) note_failure(memory_->keep_program(line.value("program", "")));
    } else if (kind == "known_quirk") {
      ++outcome_.result.quirks[line.value("reason", "")];
    } else {
      const std::string reason = kind + ": " + line.value("reason", "");
      ++outcome_.result.reasons[reason];
      if (line.contains("index")) keep_unclear(kind, reason, line.value("index", std::uint64_t{0}));
    }
  }

  // Keeps the program of a verdict that is neither good nor bad, so that a person can look at it.
  void keep_unclear(const std::string& kind, const std::string& reason, std::uint64_t index) {
    if (options_.report.empty() || unclear_ >= kMaxUnclear) return;
    ++unclear_;
    const auto path = std::filesystem::path(options_.report) / fmt::format("{}-{:06}.program", kind, index);
    write_program(path.string(), fmt::format("# {}\n{}", reason, verify::print_program(program_of(index))));
  }

  [[nodiscard]] bool wanted(const std::string& property) const {
    return options_.properties.empty() ||
           std::find(options_.properties.begin(), options_.properties.end(), property) != options_.properties.end();
  }

  void note_divergence(const Cause& cause) {
    if (!wanted(cause.property)) return;
    if (options_.accepted.contains(cause.cause)) return note_accepted(cause);
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
    keep(outcome_.result.findings.size() - 1);
    if (options_.found) options_.found(outcome_.result.findings.back());
  }

  void note_accepted(const Cause& cause) {
    ++outcome_.result.reasons["accepted: " + cause.cause];
    const auto [known, fresh] = accepted_.try_emplace(cause.cause);
    if (!fresh) {
      ++known->second.finding.seen;
      return;
    }
    known->second.finding.property = cause.property;
    known->second.finding.cause = cause.cause;
    known->second.index = cause.index;
    known->second.death = cause.death;
    known->second.accepted = true;
    if (memory_) note_failure(memory_->keep_finding(known->second));
  }

  verify::Program program_of(std::uint64_t index) const {
    if (index >= kFirstCostProgram) return cost_program(index - kFirstCostProgram);
    return fuzz::program_of(corpus_, options_.seed, index, setup_->generator(options_.size, index));
  }

  verify::Finding unshrunk(const Cause& cause) {
    const verify::Program program = program_of(cause.index);
    verify::Judgement judgement;
    judgement.verdict = verify::VerdictKind::kDiverge;
    if (const verify::Property* property = verify::find_property(cause.property)) judgement.broken = {property->id};
    if (!cause.death.empty()) judgement.differences.push_back({"process", "the program", "an end", cause.death});
    verify::Finding finding = make_finding(*setup_, program, judgement, cause.index, verify::counted_commands(program));
    finding.summary = cause.cause + " (not shrunk yet)";
    finding.cause = cause.cause;
    indices_.push_back(cause.index);
    deaths_.push_back(cause.death);
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
    write_program(finding.program_path, fmt::format("# {}: {}\n# replay: {}\n{}", finding.id, finding.summary,
                                                    finding.replay, finding.program_text));
  }

  void write_program(const std::string& path, const std::string& text) {
    for (const auto& write : {write_text, write_code_objects}) {
      if (const hip::Status written = write(path, text); !written) {
        outcome_.result.messages.push_back(written.error().message);
      }
    }
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
      if (memory_) memory_->leave_to_parent();
      shrink_in_child(finding, ends[1]);
    }
    close(ends[1]);
    shrinking_ = {child, std::make_unique<Lines>(ends[0]), finding, steady_ns()};
  }

  // ---- costs, measured once by a process of their own

  // The fixed programs first, then as many as are drawn: their measurements count, and the table is of the fixed ones.
  [[nodiscard]] verify::Program cost_program(std::uint64_t which) const {
    const std::uint64_t fixed = verify::cost_programs().size();
    if (which < fixed) return std::get<verify::Program>(verify::parse_program(verify::cost_programs()[which].text));
    verify::RandomChoices choices = verify::campaign_choices(options_.seed, kFirstCostProgram + which);
    return verify::wide_program(choices);
  }
  [[nodiscard]] std::uint64_t cost_programs_drawn() const {
    if (options_.programs == 0) return kMostWidePrograms;
    return std::min(kMostWidePrograms, options_.programs / kProgramsAWideOne);
  }
  void start_measuring() {
    int ends[2];
    const bool measured = !outcome_.result.costs.empty();  // by an earlier session
    cost_asked_ = true;
    if (options_.shard != 1 || measured || pipe(ends) != 0) return;
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      if (memory_) memory_->leave_to_parent();
      measure_in_child(ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
      close(ends[0]);
      return;
    }
    measuring_ = {child, std::make_unique<Lines>(ends[0]), 0, steady_ns()};
  }
  [[noreturn]] void measure_in_child(int fd) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGINT, SIG_IGN);
    for (std::uint64_t i = 0; i < verify::cost_programs().size() + cost_programs_drawn(); ++i) {
      const std::uint64_t index = kFirstCostProgram + i;
      const verify::Judgement judgement = setup_->judge().judge(cost_program(i), campaign_checks(index));
      nlohmann::json costs = nlohmann::json::array();
      for (const verify::CostMeasurement& c : judgement.costs) {
        costs.push_back({c.operation, c.measure, c.step, c.sizes, c.values, c.exponent, c.bound});
      }
      nlohmann::json line = {{"index", index}, {"kind", "cost"}, {"costs", costs}};
      if (judgement.verdict == verify::VerdictKind::kDiverge && judgement.broken.front() == verify::PropertyId::kP10) {
        line["cause"] = cause_of(judgement);
      } else if (judgement.costs.empty()) {
        line["reason"] = fmt::format("{} ({})", verdict_name(judgement.verdict), judgement.reason);
      }
      if (!verify::write_all(fd, line.dump() + "\n")) _exit(1);
    }
    _exit(0);
  }
  // Keeps one measurement an operation: the one with the most work.
  static void keep_largest(std::vector<verify::CostMeasurement>& costs) {
    const verify::CostMeasurement& latest = costs.back();
    const auto earlier = std::find_if(costs.begin(), costs.end() - 1, [&](const verify::CostMeasurement& other) {
      return other.operation == latest.operation && other.measure == latest.measure;
    });
    if (earlier == costs.end() - 1) return;
    if (earlier->values.back() < latest.values.back()) *earlier = latest;
    costs.pop_back();
  }
  void take_cost(const nlohmann::json& line) {
    verify::CampaignResult& result = outcome_.result;
    const std::uint64_t index = line.value("index", kFirstCostProgram);
    const std::uint64_t which = index - kFirstCostProgram;
    const bool fixed = which < verify::cost_programs().size();
    for (const nlohmann::json& c : line.value("costs", nlohmann::json::array())) {
      ++cost_exercised_;
      if (!fixed) continue;
      result.costs.push_back({c.at(0), c.at(1), c.at(2), c.at(3), c.at(4), c.at(5), c.at(6)});
      keep_largest(result.costs);
    }
    ++costs_measured_;
    if (fixed && line.contains("reason")) {
      result.messages.push_back(fmt::format("costs of '{}' were not measured: {}", verify::cost_programs()[which].name,
                                            line.value("reason", "")));
    }
    if (!line.contains("cause")) return;
    ++cost_violated_;
    note_divergence({index, "P10", line.value("cause", "P10"), 1, ""});
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
    shrunk.cause = old.cause;  // of the program that it was found by: the name by which it is accepted
    name_files(shrunk);
    if (shrunk.program_path != old.program_path && !old.program_path.empty()) {
      std::error_code ignored;  // the file under the first name is superseded
      std::filesystem::remove(old.program_path, ignored);
    }
    old = std::move(shrunk);
    write_program(old);
    shrunk_[shrinking_.finding] = true;
    keep(shrinking_.finding);
    if (options_.setup.fault.empty()) return;
    fault_found_ = true;  // what was asked for is found: the rest of the queue would say the same
    waiting_.clear();
  }

  // ---- memory

  // The first failure is told: what follows it says the same.
  void note_failure(const hip::Status& status) {
    if (status || outcome_.memory_failed) return;
    outcome_.memory_failed = true;
    outcome_.result.messages.push_back("--db: " + status.error().message);
  }

  hip::Status recall() {
    if (options_.db.empty()) {
      corpus_ = options_.corpus;
      return {};
    }
    hip::Result<std::unique_ptr<CampaignMemory>> memory = CampaignMemory::open(options_.db);
    if (!memory) return memory.error();
    const SetupOptions& setup = options_.setup;
    hip::Result<Remembered> remembered =
        memory.value()->begin({options_.version, setup.subject, setup.baseline, setup.fault, options_.seed,
                               options_.size, !setup.no_quirks, options_.properties, options_.shard, options_.shards});
    if (!remembered) return remembered.error();
    hip::Result<Corpus> corpus = memory.value()->corpus();
    if (!corpus) return corpus.error();
    corpus_ = std::move(corpus).value();
    take_up(std::move(remembered).value());
    memory_ = std::move(memory).value();  // from here on: what is taken up is in it
    return {};
  }

  void take_up(Remembered remembered) {
    first_place_ = remembered.next;
    if (remembered.begun_before) {
      verify::CampaignResult& result = outcome_.result;
      remembered.counts.jobs = options_.jobs;
      remembered.counts.interrupted = false;
      remembered.counts.unreachable = result.unreachable;
      remembered.counts.property_sentences = result.property_sentences;
      remembered.counts.sampling = result.sampling;
      result = std::move(remembered.counts);
      base_seconds_ = result.seconds;
      outcome_.resumed = true;
    }
    for (KeptFinding& kept : remembered.found) take_up(std::move(kept));
  }

  void take_up(KeptFinding kept) {
    const std::string cause = kept.finding.cause;
    if (kept.accepted || options_.accepted.contains(cause)) {
      const bool news = !kept.accepted;
      kept.accepted = true;
      if (options_.accepted.contains(cause)) {
        if (news) outcome_.result.reasons["accepted: " + cause] += kept.finding.seen;
        accepted_[cause] = std::move(kept);
        return;
      }
      // It was accepted and is not any more.
      outcome_.result.reasons.erase("accepted: " + cause);
      const std::uint64_t seen = kept.finding.seen;
      kept.finding = unshrunk({kept.index, kept.finding.property, cause, seen, kept.death});
      kept.finding.seen = seen;
      kept.accepted = kept.shrunk = false;
    } else {
      indices_.push_back(kept.index);
      deaths_.push_back(kept.death);
      shrunk_.push_back(kept.shrunk);
    }
    const std::size_t place = outcome_.result.findings.size();
    causes_[cause] = place;
    if (!kept.shrunk) waiting_.push_back(place);
    if (kept.shrunk && !options_.setup.fault.empty()) fault_found_ = true;
    name_files(kept.finding);
    write_program(kept.finding);
    outcome_.result.findings.push_back(std::move(kept.finding));
  }

  [[nodiscard]] KeptFinding kept(std::size_t finding) const {
    return {outcome_.result.findings[finding], indices_[finding], deaths_[finding], shrunk_[finding], false};
  }
  void keep(std::size_t finding) {
    if (memory_) note_failure(memory_->keep_finding(kept(finding)));
  }

  [[nodiscard]] std::uint64_t settled_so_far() const {
    std::vector<const Board*> boards;
    for (const Worker& worker : workers_) boards.push_back(worker.board);
    return settled_below(*deal_, boards);
  }

  // Past the last program of a shard there is nothing to go on with; later a larger one may begin there.
  void remember(std::uint64_t settled, double shrinking_after = 0) {
    remembered_ns_ = steady_ns();
    if (!memory_) return;
    verify::CampaignResult counts = outcome_.result;
    counts.findings.clear();
    counts.unreachable.clear();
    counts.property_sentences.clear();
    counts.sampling.clear();
    counts.seconds = seconds_of_judging(shrinking_after);
    sum_boards(counts);
    std::vector<KeptFinding> found;
    for (std::size_t i = 0; i < outcome_.result.findings.size(); ++i) found.push_back(kept(i));
    for (const auto& [cause, finding] : accepted_) found.push_back(finding);
    counts.properties["P10"].exercised += cost_exercised_;
    counts.properties["P10"].violated += cost_violated_;
    note_failure(memory_->keep_progress(std::min(settled, end_of_shard()), counts, found));
  }
  [[nodiscard]] std::uint64_t end_of_shard() const {
    if (options_.programs == 0) return kNothingLeft;
    const std::uint64_t first = options_.shard - 1;
    return options_.programs <= first ? 0 : (options_.programs - first + options_.shards - 1) / options_.shards;
  }
  // The rate is that of judging: what is shrunk when all is judged does not count.
  [[nodiscard]] double seconds_of_judging(double shrinking_after) const {
    return base_seconds_ + seconds_since(started_ns_) - shrinking_after;
  }

  // ---- results

  [[nodiscard]] Progress report_progress() const {
    Progress progress;
    progress.seconds = base_seconds_ + seconds_since(started_ns_);
    progress.programs = outcome_.result.programs;
    progress.features = verify::feature_names().size();
    std::vector<bool> seen(progress.features, false);
    for (const Worker& worker : workers_) {
      progress.programs += worker.board->programs();
      for (std::size_t i = 0; i < progress.features; ++i) {
        if (worker.board->features[i].load(std::memory_order_relaxed) != 0) seen[i] = true;
      }
    }
    progress.features_seen = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
    progress.findings = outcome_.result.findings.size();
    progress.shrinking = waiting_.size() + (shrinking_.pid >= 0 ? 1 : 0);
    return progress;
  }

  // Moments at equal distances; when there are too many, every second one goes and the distance doubles.
  void note_moment(const Progress& now) {
    std::vector<verify::Moment>& history = outcome_.result.history;
    if (!history.empty() && now.seconds < history.back().seconds + moment_distance_) return;
    history.push_back({now.seconds, now.programs, now.findings, now.features_seen});
    if (history.size() < kMaxMoments) return;
    for (std::size_t i = 0; 2 * i < history.size(); ++i) history[i] = history[2 * i];
    history.resize((history.size() + 1) / 2);
    moment_distance_ *= 2;
  }

  void finish() {
    verify::CampaignResult& result = outcome_.result;
    const std::uint64_t settled = settled_so_far();
    const double shrinking_after = ended_ns_ == 0 ? 0 : seconds_since(ended_ns_);
    kill_everything();
    for (Worker& worker : workers_) {
      if (worker.lines) worker.lines->read_all([this](const nlohmann::json& line) { news(line); });
    }
    result.interrupted = outcome_.interrupted;
    remember(settled, shrinking_after);
    if (memory_) note_failure(memory_->end(outcome_.interrupted ? "interrupted" : "done"));
    result.seconds = seconds_of_judging(shrinking_after);
    sum_boards(result);
    result.properties["P10"].exercised += cost_exercised_;
    result.properties["P10"].violated += cost_violated_;
    measure_a_program();
    if (fault_found_) drop_unshrunk();
    merge_equal_findings();
    check_caps();
    for (const auto& [cause, finding] : causes_) outcome_.causes.insert(cause);
  }

  void sum_boards(verify::CampaignResult& result) const {
    std::uint64_t* const verdicts[kVerdicts] = {&result.verdicts.agree,        &result.verdicts.diverge,
                                                &result.verdicts.known_quirk,  &result.verdicts.poisoned,
                                                &result.verdicts.unsupported,  &result.verdicts.discarded,
                                                &result.verdicts.harness_error};
    for (const std::string& name : verify::feature_names()) result.coverage.try_emplace(name, 0);
    for (const Worker& worker : workers_) {
      const Board& board = *worker.board;
      result.programs += board.programs();
      result.commands += board.commands;
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
    sum_pairs(result);
  }

  void measure_a_program() {
    std::uint64_t programs = 0, generate_ns = 0, judge_ns = 0;
    for (const Worker& worker : workers_) {
      programs += worker.board->programs();
      generate_ns += worker.board->generate_ns;
      judge_ns += worker.board->judge_ns;
    }
    if (programs == 0) return;
    const auto each = [&](std::uint64_t ns) { return static_cast<double>(ns) / 1e3 / static_cast<double>(programs); };
    outcome_.result.generate_us = each(generate_ns);
    outcome_.result.judge_us = each(judge_ns);
  }

  void sum_pairs(verify::CampaignResult& result) const {
    const std::span<const verify::CoveragePair> pairs = verify::coverage_pairs();
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      std::uint64_t count = 0;
      for (const Worker& worker : workers_) count += worker.board->pairs[i];
      if (!pairs[i].why_not.empty()) {
        result.unreachable[pairs[i].operation][pairs[i].state] = pairs[i].why_not;
      } else {
        result.states[pairs[i].operation][pairs[i].state] += count;
      }
    }
  }

  // A fault that was found needs one finding: the ones that still wait to be shrunk say nothing new.
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
  std::unique_ptr<CampaignMemory> memory_;  // or none
  Corpus corpus_;
  Board* boards_ = nullptr;
  Deal* deal_ = nullptr;
  std::uint64_t first_place_ = 0;  // of the shard: what is before was settled by an earlier session
  std::vector<Worker> workers_;
  std::map<std::string, std::size_t> causes_;    // cause -> finding
  std::vector<std::uint64_t> indices_;           // of findings: the program's index in the campaign
  std::vector<std::string> deaths_;              // of findings: of the worker, or empty
  std::vector<bool> shrunk_;                     // of findings
  unsigned unclear_ = 0;                         // programs of other verdicts that were written
  std::map<std::string, KeptFinding> accepted_;  // by cause
  std::deque<std::size_t> waiting_;              // findings to be shrunk
  Shrinking shrinking_;
  Shrinking measuring_;                                                        // likewise a child with lines
  std::uint64_t costs_measured_ = 0, cost_exercised_ = 0, cost_violated_ = 0;  // programs; operations by measure
  bool stopping_ = false, fault_found_ = false, cost_asked_ = false;
  std::uint64_t started_ns_ = 0, ended_ns_ = 0, remembered_ns_ = 0;
  double base_seconds_ = 0;       // of earlier sessions
  double moment_distance_ = 0.2;  // seconds
};

}  // namespace

hip::Result<CampaignOutcome> run_campaign(const CampaignOptions& options, const std::function<bool()>& interrupted,
                                          const std::function<void(const Progress&)>& progress) {
  hip::Result<std::unique_ptr<Setup>> setup = Setup::make(options.setup);
  if (!setup) return setup.error();
  return Campaign(options, std::move(setup).value()).run(interrupted, progress);
}

}  // namespace fuzz
