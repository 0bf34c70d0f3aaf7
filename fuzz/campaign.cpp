#include "fuzz/campaign.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "fuzz/campaign_memory.h"
#include "fuzz/child.h"
#include "fuzz/cost_runs.h"
#include "fuzz/finding.h"
#include "fuzz/found.h"
#include "fuzz/tally.h"
#include "fuzz/worker.h"
#include "fuzz/worker_pool.h"
#include "verify/properties/property.h"

namespace fuzz {

namespace {

constexpr int kPollMilliseconds = 100;
constexpr double kRememberEvery = 2;   // seconds; a campaign that is killed repeats this much work
constexpr double kCopyAgainAfter = 5;  // seconds after a copy that failed

class Campaign {
 public:
  Campaign(const CampaignOptions& options, std::unique_ptr<Setup> setup)
      : options_(options),
        setup_(std::move(setup)),
        found_(options, *setup_, corpus_, outcome_),
        workers_(options, *setup_, corpus_, found_, outcome_.result,
                 [this](const nlohmann::json& line, const std::string& program) { news(line, program); }),
        costs_(options, *setup_, outcome_.result) {
    verify::CampaignResult& result = outcome_.result;
    result = empty_result(*setup_, options.version);
    result.seed = options.seed;
    result.size = options.size;
    result.jobs = options.jobs;
    verify::Session& session = result.session;
    session.name = fmt::format("{}", std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
    session.begun = now();
    session.shard = options.shard;
    session.shards = options.shards;
    session.quirks = !options.setup.no_quirks;
    session.properties = options.properties;
  }
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;
  ~Campaign() { kill_everything(); }

  hip::Result<CampaignOutcome> run(const std::function<bool()>& interrupted,
                                   const std::function<void(const Progress&)>& progress) {
    started_ns_ = steady_ns();
    if (hip::Status status = recall(); !status) return status.error();
    if (hip::Status status = workers_.start(first_place_); !status) return status.error();
    if (!setup_->starts_slowly()) start_measuring();
    while (true) {
      wait_for_news();
      // Asked before the reports are read: they cover every settled program.
      const std::uint64_t settled = workers_.settled();
      read_children();
      reap();
      watch_the_clock();
      const bool over = workers_.finished();
      start_what_waits(over);
      const Progress now = report_progress();
      if (ended_ns_ == 0) history_.note(now, outcome_.result.history);
      if (seconds_since(remembered_ns_) >= kRememberEvery) remember(settled);
      announce();
      progress(now);
      if (interrupted()) {
        outcome_.interrupted = true;
        break;
      }
      if (over && !costs_.child().is_running() && found_.waiting() == 0) break;
      if (over && ended_ns_ == 0) ended_ns_ = steady_ns();
      if (over && seconds_since(ended_ns_) > options_.shrink_seconds) break;
    }
    finish();
    return std::move(outcome_);
  }

 private:
  // Processes on one GPU take turns and wait longer for each other than they work. There findings are shrunk and costs
  // are measured when the programs are done.
  void start_what_waits(bool over) {
    if (over || !setup_->starts_slowly()) found_.shrink_next();
    if (over && setup_->starts_slowly() && !found_.shrinking().is_running() && !costs_.was_started()) start_measuring();
  }

  // ---- processes

  void start_measuring() {
    costs_.start([this] { found_.leave_memory(); });
  }

  void wait_for_news() {
    std::vector<pollfd> pollers;
    const auto listen_to = [&](const Child& child) {
      if (child.fd() >= 0) pollers.push_back({child.fd(), POLLIN, 0});
    };
    for (const Child* child : workers_.children()) listen_to(*child);
    listen_to(costs_.child());
    listen_to(found_.shrinking());
    static_cast<void>(poll(pollers.data(), pollers.size(), kPollMilliseconds));
  }

  void read_costs() {
    costs_.child().read([this](const nlohmann::json& line) {
      costs_.take(line, [this](std::uint64_t index, const std::string& cause) {
        found_.note({index, "P10", cause, 1, "", ""});
      });
    });
  }
  void read_children() {
    workers_.read();
    found_.read_shrunk();
    read_costs();
  }

  void reap() {
    workers_.reap();
    if (costs_.child().ended()) {
      read_costs();
      costs_.child() = {};
    }
    found_.reap();
  }

  void watch_the_clock() {
    workers_.watch();
    found_.watch();
    costs_.watch(workers_.stopped());
    const bool time_is_up = options_.seconds > 0 && seconds_since(started_ns_) >= options_.seconds;
    if ((time_is_up || found_.fault_found()) && !workers_.stopped()) workers_.stop();
  }

  void kill_everything() {
    workers_.stop();
    for (Child* child : {&found_.shrinking(), &costs_.child()}) child->kill();
    workers_.wait();
    for (Child* child : {&found_.shrinking(), &costs_.child()}) child->wait();
  }

  // ---- reports of the workers

  void news(const nlohmann::json& line, const std::string& program) {
    const std::string kind = line.value("kind", "");
    if (kind == "diverge") {
      found_.note({line.value("index", std::uint64_t{0}), line.value("property", "?"), line.value("cause", "?"), 1, "",
                   line.value("program", program)});
    } else if (kind == "keep") {
      if (memory_) found_.note_failure(memory_->keep_program(line.value("program", "")));
    } else if (kind == "shared corpus") {
      std::vector<std::string>& messages = outcome_.result.messages;
      const std::string message = "--shared-corpus: " + line.value("reason", "");
      if (std::ranges::find(messages, message) == messages.end()) messages.push_back(message);
    } else if (kind == "steps") {
      add_steps(outcome_.result.steps, line.value("counts", verify::StepCounts{}));
    } else if (kind == "known_quirk") {
      ++outcome_.result.quirks[line.value("reason", "")];
    } else {
      const std::string reason = kind + ": " + line.value("reason", "");
      ++outcome_.result.reasons[reason];
      if (line.contains("index")) {
        found_.keep_unclear(kind, reason, line.value("index", std::uint64_t{0}), program);
      }
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
    hip::Result<Remembered> remembered = memory.value()->begin(identity_of(options_), outcome_.result.session.name);
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
      result.session.programs_before = remembered.counts.programs;
      result.session.seconds_before = remembered.counts.seconds;
      remembered.counts.session = result.session;
      remembered.counts.jobs = options_.jobs;
      remembered.counts.interrupted = false;
      result = std::move(remembered.counts);
      base_seconds_ = result.seconds;
      outcome_.resumed = true;
    }
    for (KeptFinding& kept : remembered.found) found_.take_up(std::move(kept));
  }

  // The place that is kept is not past the end of the shard: a later campaign with more programs may begin there.
  void remember(std::uint64_t settled, double shrinking_after = 0) {
    remembered_ns_ = steady_ns();
    if (!memory_) return;
    verify::CampaignResult counts = counts_alone(outcome_.result);
    counts.seconds = seconds_of_judging(shrinking_after);
    sum_boards(workers_.boards(), counts);
    costs_.add_to(counts);
    found_.note_failure(memory_->keep_progress(std::min(settled, end_of_shard()), counts, found_.kept()));
  }
  // Announces causes that are new. With a copy, they are in the copy by then.
  void announce(bool at_the_end = false) {
    if (options_.copy && memory_) {
      const double pause = copy_failed_ ? kCopyAgainAfter : found_.has_news() ? 0 : options_.copy_every;
      if (!at_the_end && seconds_since(copied_ns_) < pause) return;
      const hip::Status copied = options_.copy(*memory_);
      copied_ns_ = steady_ns();
      copy_failed_ = !copied;
      if (at_the_end) found_.note_failure(copied);
      if (!copied) return;
    }
    found_.announce();
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
    add_boards(workers_.boards(), progress);
    progress.findings = outcome_.result.findings.size();
    progress.shrinking = found_.waiting();
    return progress;
  }

  void finish() {
    verify::CampaignResult& result = outcome_.result;
    const std::uint64_t settled = workers_.settled();
    const double shrinking_after = ended_ns_ == 0 ? 0 : seconds_since(ended_ns_);
    kill_everything();
    workers_.read();
    result.interrupted = outcome_.interrupted;
    result.session.settled = std::min(settled, end_of_shard());
    result.session.last = now();
    remember(settled, shrinking_after);
    if (memory_) found_.note_failure(memory_->end(outcome_.interrupted ? "interrupted" : "done"));
    announce(true);
    result.seconds = seconds_of_judging(shrinking_after);
    sum_boards(workers_.boards(), result);
    describe_checks(result);
    costs_.add_to(result);
    measure_a_program(workers_.boards(), result);
    found_.settle();
    check_caps(outcome_);
  }

  const CampaignOptions& options_;
  std::unique_ptr<Setup> setup_;
  CampaignOutcome outcome_;
  std::unique_ptr<CampaignMemory> memory_;  // null without --db
  Corpus corpus_;
  Found found_;
  WorkerPool workers_;
  CostRuns costs_;
  History history_;
  std::uint64_t first_place_ = 0;  // of the shard; an earlier session settled the places before it
  std::uint64_t started_ns_ = 0, ended_ns_ = 0, remembered_ns_ = 0, copied_ns_ = 0;
  bool copy_failed_ = false;
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
