#include "fuzz/campaign.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "fuzz/campaign_memory.h"
#include "fuzz/child.h"
#include "fuzz/cost_runs.h"
#include "fuzz/finding.h"
#include "fuzz/found.h"
#include "fuzz/tally.h"
#include "fuzz/worker.h"
#include "verify/properties/property.h"
#include "verify/subject/process.h"

namespace fuzz {

namespace {

constexpr int kPollMilliseconds = 100;
constexpr double kMaxRunsAJudgement = 100;  // each call failing in turn, equal variants, telling causes apart
constexpr double kRememberEvery = 2;        // seconds; a campaign that is killed repeats this much work

struct Worker {
  Child child;
  Board* board = nullptr;
  Share share;
  bool finished = false;
};

class Campaign {
 public:
  Campaign(const CampaignOptions& options, std::unique_ptr<Setup> setup)
      : options_(options),
        setup_(std::move(setup)),
        found_(options, *setup_, corpus_, outcome_),
        costs_(options, *setup_, outcome_.result) {
    verify::CampaignResult& result = outcome_.result;
    result = empty_result(*setup_, options.version);
    result.seed = options.seed;
    result.size = options.size;
    result.jobs = options.jobs;
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
      const std::uint64_t settled = settled_so_far();  // before the reports are read: they cover every settled program
      read_children();
      reap();
      watch_the_clock();
      const bool over = std::all_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.finished; });
      start_what_waits(over);
      const Progress now = report_progress();
      if (ended_ns_ == 0) history_.note(now, outcome_.result.history);
      if (seconds_since(remembered_ns_) >= kRememberEvery) remember(settled);
      progress(now);
      if (interrupted()) {
        outcome_.interrupted = true;
        break;
      }
      if (over && !costs_.child().is_running() && found_.waiting() == 0 && !shrinking_.is_running()) break;
      if (over && ended_ns_ == 0) ended_ns_ = steady_ns();
      if (over && seconds_since(ended_ns_) > options_.shrink_seconds) break;
    }
    finish();
    return std::move(outcome_);
  }

 private:
  static double seconds_since(std::uint64_t ns) { return static_cast<double>(steady_ns() - ns) / 1e9; }

  // Processes on one GPU take turns and wait longer for each other than they work. There findings are shrunk and costs
  // are measured when the programs are done.
  void start_what_waits(bool over) {
    if (over || !setup_->starts_slowly()) shrink_next();
    if (over && setup_->starts_slowly() && !shrinking_.is_running() && !costs_.was_started()) start_measuring();
  }

  // ---- processes

  // Null when there is no memory.
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
    hip::Result<Child> child = Child::start([&](int fd) {
      leave_memory();
      WorkerOptions options;
      options.seed = options_.seed;
      options.size = options_.size;
      options.share = worker.share;
      options.corpus = &corpus_;
      run_worker(*setup_, options, *worker.board, fd);
    });
    if (!child) return child.error();
    worker.child = std::move(child).value();
    return {};
  }

  void start_measuring() {
    costs_.start([this] { leave_memory(); });
  }

  void shrink_next() {
    if (shrinking_.is_running()) return;
    const std::optional<std::size_t> finding = found_.next();
    if (!finding) return;
    hip::Result<Child> child = Child::start([&](int fd) {
      leave_memory();
      found_.shrink(*finding, fd);
    });
    if (!child) return;
    shrinking_ = std::move(child).value();
    shrunk_finding_ = *finding;
  }

  // Called in a forked child.
  void leave_memory() const {
    if (memory_) memory_->leave_to_parent();
  }

  void wait_for_news() {
    std::vector<pollfd> pollers;
    const auto listen_to = [&](const Child& child) {
      if (child.fd() >= 0) pollers.push_back({child.fd(), POLLIN, 0});
    };
    for (const Worker& worker : workers_) listen_to(worker.child);
    listen_to(costs_.child());
    listen_to(shrinking_);
    static_cast<void>(poll(pollers.data(), pollers.size(), kPollMilliseconds));
  }

  void read_worker(Worker& worker) {
    worker.child.read([this](const nlohmann::json& line) { news(line); });
  }
  void read_shrinking() {
    shrinking_.read([this](const nlohmann::json& line) { found_.take_shrunk(shrunk_finding_, line); });
  }
  void read_costs() {
    costs_.child().read([this](const nlohmann::json& line) {
      costs_.take(line,
                  [this](std::uint64_t index, const std::string& cause) { found_.note({index, "P10", cause, 1, ""}); });
    });
  }
  void read_children() {
    for (Worker& worker : workers_) read_worker(worker);
    read_shrinking();
    read_costs();
  }

  void reap() {
    for (Worker& worker : workers_) {
      const std::optional<int> status = worker.child.ended();
      if (!status) continue;
      read_worker(worker);
      worker.child = {};
      if (worker.board->done.load() != 0 || stopping_) {
        worker.finished = true;
      } else if (WIFEXITED(*status) && WEXITSTATUS(*status) == kRestart) {
        go_on(worker);
      } else {
        lost(worker, verify::describe_wait_status(*status));
      }
    }
    if (costs_.child().ended()) {
      read_costs();
      costs_.child() = {};
    }
    if (shrinking_.ended()) {
      read_shrinking();
      found_.end_of_shrinking(shrunk_finding_);
      shrinking_ = {};
    }
  }

  // A worker died of its program: that is a finding, and the work continues with the next program.
  void lost(Worker& worker, const std::string& how) {
    Board& board = *worker.board;
    const std::uint64_t index = board.index.load();
    board.busy_since_ns.store(0);
    board.verdicts[static_cast<std::size_t>(verify::VerdictKind::kDiverge)].fetch_add(1);
    board.violated[static_cast<std::size_t>(verify::PropertyId::kP11)].fetch_add(1);
    found_.note({index, "P11", fmt::format("P11 process {}", how), 1, how});
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
      if (!worker.child.is_running() || busy == 0) continue;
      if (seconds_since(std::min(busy, steady_ns())) < judgement_timeout()) continue;
      worker.child.kill();
      worker.child.wait();
      read_worker(worker);
      worker.child = {};
      lost(worker, "hung");
    }
    const double enough = options_.shrink_seconds + 4 * options_.setup.program_timeout;
    if (shrinking_.is_running() && shrinking_.seconds() > enough) shrinking_.kill();
    costs_.watch(stopping_);
    const bool time_is_up = options_.seconds > 0 && seconds_since(started_ns_) >= options_.seconds;
    if ((time_is_up || found_.fault_found()) && !stopping_) stop_workers();
  }

  // A subject process is watched by its runner, run by run; this limit is for the worker process.
  [[nodiscard]] double judgement_timeout() const {
    return setup_->contained() ? kMaxRunsAJudgement * options_.setup.program_timeout : options_.setup.program_timeout;
  }

  void stop_workers() {
    stopping_ = true;
    for (const Worker& worker : workers_) worker.child.kill();
  }

  void kill_everything() {
    stop_workers();
    for (Child* child : {&shrinking_, &costs_.child()}) child->kill();
    for (Worker& worker : workers_) worker.child.wait();
    for (Child* child : {&shrinking_, &costs_.child()}) child->wait();
  }

  // ---- reports of the workers

  void news(const nlohmann::json& line) {
    const std::string kind = line.value("kind", "");
    if (kind == "diverge") {
      found_.note(
          {line.value("index", std::uint64_t{0}), line.value("property", "?"), line.value("cause", "?"), 1, ""});
    } else if (kind == "keep") {
      if (memory_) found_.note_failure(memory_->keep_program(line.value("program", "")));
    } else if (kind == "known_quirk") {
      ++outcome_.result.quirks[line.value("reason", "")];
    } else {
      const std::string reason = kind + ": " + line.value("reason", "");
      ++outcome_.result.reasons[reason];
      if (line.contains("index")) found_.keep_unclear(kind, reason, line.value("index", std::uint64_t{0}));
    }
  }

  // ---- memory

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
    memory_ = std::move(memory).value();
    found_.remember_in(memory_.get());  // after take_up(): the database has these findings already
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
    for (KeptFinding& kept : remembered.found) found_.take_up(std::move(kept));
  }

  [[nodiscard]] std::vector<const Board*> boards() const {
    std::vector<const Board*> boards;
    for (const Worker& worker : workers_) boards.push_back(worker.board);
    return boards;
  }
  [[nodiscard]] std::uint64_t settled_so_far() const { return settled_below(*deal_, boards()); }

  // The place that is kept is not past the end of the shard: a later campaign with more programs may begin there.
  void remember(std::uint64_t settled, double shrinking_after = 0) {
    remembered_ns_ = steady_ns();
    if (!memory_) return;
    verify::CampaignResult counts = outcome_.result;
    counts.findings.clear();
    counts.unreachable.clear();
    counts.property_sentences.clear();
    counts.sampling.clear();
    counts.seconds = seconds_of_judging(shrinking_after);
    sum_boards(boards(), counts);
    costs_.add_to(counts);
    found_.note_failure(memory_->keep_progress(std::min(settled, end_of_shard()), counts, found_.kept()));
  }
  [[nodiscard]] std::uint64_t end_of_shard() const {
    if (options_.programs == 0) return kNothingLeft;
    const std::uint64_t first = options_.shard - 1;
    return options_.programs <= first ? 0 : (options_.programs - first + options_.shards - 1) / options_.shards;
  }
  // The rate counts judging alone: shrinking after the last judgement does not count.
  [[nodiscard]] double seconds_of_judging(double shrinking_after) const {
    return base_seconds_ + seconds_since(started_ns_) - shrinking_after;
  }

  // ---- results

  [[nodiscard]] Progress report_progress() const {
    Progress progress;
    progress.seconds = base_seconds_ + seconds_since(started_ns_);
    progress.programs = outcome_.result.programs;
    add_boards(boards(), progress);
    progress.findings = outcome_.result.findings.size();
    progress.shrinking = found_.waiting() + (shrinking_.is_running() ? 1 : 0);
    return progress;
  }

  void finish() {
    verify::CampaignResult& result = outcome_.result;
    const std::uint64_t settled = settled_so_far();
    const double shrinking_after = ended_ns_ == 0 ? 0 : seconds_since(ended_ns_);
    kill_everything();
    for (Worker& worker : workers_) read_worker(worker);
    result.interrupted = outcome_.interrupted;
    remember(settled, shrinking_after);
    if (memory_) found_.note_failure(memory_->end(outcome_.interrupted ? "interrupted" : "done"));
    result.seconds = seconds_of_judging(shrinking_after);
    sum_boards(boards(), result);
    costs_.add_to(result);
    measure_a_program(boards(), result);
    found_.settle();
    check_caps(outcome_);
  }

  const CampaignOptions& options_;
  std::unique_ptr<Setup> setup_;
  CampaignOutcome outcome_;
  std::unique_ptr<CampaignMemory> memory_;  // null without --db
  Corpus corpus_;
  Found found_;
  CostRuns costs_;
  History history_;
  Board* boards_ = nullptr;
  Deal* deal_ = nullptr;
  std::uint64_t first_place_ = 0;  // of the shard; an earlier session settled the places before it
  std::vector<Worker> workers_;
  Child shrinking_;
  std::size_t shrunk_finding_ = 0;  // the finding that `shrinking_` shrinks
  bool stopping_ = false;
  std::uint64_t started_ns_ = 0, ended_ns_ = 0, remembered_ns_ = 0;
  double base_seconds_ = 0;  // time of earlier sessions
};

}  // namespace

hip::Result<CampaignOutcome> run_campaign(const CampaignOptions& options, const std::function<bool()>& interrupted,
                                          const std::function<void(const Progress&)>& progress) {
  hip::Result<std::unique_ptr<Setup>> setup = Setup::make(options.setup);
  if (!setup) return setup.error();
  return Campaign(options, std::move(setup).value()).run(interrupted, progress);
}

}  // namespace fuzz
