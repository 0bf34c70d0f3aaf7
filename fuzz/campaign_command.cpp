// `hgcheck campaign`: options checked before the work, progress on a terminal, results at the end.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "fuzz/commands.h"
#include "fuzz/files.h"
#include "fuzz/memory_report.h"
#include "hip/sync/sync.h"
#include "reports/benchmarks.h"
#include "reports/comparison.h"
#include "reports/json.h"
#include "reports/report.h"
#include "reports/terminal.h"
#include "verify/properties/property.h"

namespace fuzz {

namespace {

hip::sync::Atomic<std::int64_t> g_interrupted{0};  // milliseconds of the monotonic clock at the first signal; 0: none
static_assert(hip::sync::Atomic<std::int64_t>::is_always_lock_free);

// A second Ctrl-C ends the process at once. A signal that comes together with the first does not: timeout(1) signals
// the command and its group.
void on_interrupt(int) {
  constexpr std::int64_t kTogether = 1000;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1000000;
  std::int64_t first = 0;
  if (!g_interrupted.compare_exchange_strong(first, now) && now - first > kTogether) _exit(kInterrupted);
}

class ProgressLine {
 public:
  explicit ProgressLine(bool wanted) : shown_(wanted && isatty(STDERR_FILENO) != 0) {}
  void show(const Progress& p) {
    if (!shown_) return;
    const double rate = p.seconds > 0 ? static_cast<double>(p.programs) / p.seconds : 0;
    std::cerr << fmt::format("\r\x1b[K{:.0f} s  {} programs  {:.0f}/s  {} findings{}  {} of {} features", p.seconds,
                             p.programs, rate, p.findings,
                             p.shrinking != 0 ? fmt::format(" ({} to shrink)", p.shrinking) : "", p.features_seen,
                             p.features)
              << std::flush;
  }
  void clear() const {
    if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  }

 private:
  bool shown_;
};

hip::Result<std::set<std::string>> load_accepted(const std::string& path) {
  std::set<std::string> causes;
  if (path.empty()) return causes;
  std::ifstream file(path);
  if (!file) return hip::Error{1, fmt::format("--accept: {} cannot be read", path)};
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') causes.insert(line);
  }
  return causes;
}

hip::Result<nlohmann::ordered_json> load_json(const std::string& what, const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return hip::Error{1, fmt::format("{}: {} cannot be read: name the report.json of a campaign", what, path)};
  }
  return nlohmann::ordered_json::parse(file, nullptr, false);
}

template <class Result>
hip::Result<Result> load(hip::Result<Result> (*read)(const nlohmann::ordered_json&), const std::string& what,
                         const std::string& path) {
  const hip::Result<nlohmann::ordered_json> json = load_json(what, path);
  if (!json) return json.error();
  hip::Result<Result> result = read(json.value());
  if (!result) return hip::Error{1, fmt::format("{}: {}: {}", what, path, result.error().message)};
  return result;
}

int report_benchmarks(const ReportCommand& command) {
  const hip::Result<reports::BenchmarkResult> result = load(reports::read_benchmarks, "report", command.file);
  if (!result) return complain(result.error().message);
  std::optional<reports::BenchmarkResult> earlier;
  if (!command.compare.empty()) {
    hip::Result<reports::BenchmarkResult> loaded = load(reports::read_benchmarks, "--compare", command.compare);
    if (!loaded) return complain(loaded.error().message);
    earlier = std::move(loaded).value();
  }
  std::filesystem::path page;
  const hip::Status written =
      reports::write_report(result.value(), command.report, earlier ? &*earlier : nullptr, page);
  if (!written) return complain(written.error().message);
  std::cout << "report: " << page.string() << "\n";
  return kAgreed;
}

// Nothing for an empty path.
hip::Result<std::optional<verify::CampaignResult>> load_earlier(const std::string& path) {
  if (path.empty()) return std::optional<verify::CampaignResult>();
  hip::Result<verify::CampaignResult> result = load(reports::from_json, "--compare", path);
  if (!result) return result.error();
  return std::optional<verify::CampaignResult>(std::move(result).value());
}

int report_database(const ReportCommand& command) {
  hip::Result<SqlDatabase> database = copy_of_memory(command.file);
  if (!database) return complain("report: " + database.error().message);
  const hip::Result<MemoryContent> content = MemoryContent::read(database.value());
  if (!content) return complain("report: " + content.error().message);
  const hip::Result<std::optional<verify::CampaignResult>> earlier = load_earlier(command.compare);
  if (!earlier) return complain(earlier.error().message);
  std::vector<verify::CampaignResult> results = results_of(content.value());
  const hip::Status written = write_reports(results, command.report, earlier.value() ? &*earlier.value() : nullptr);
  return written ? static_cast<int>(kAgreed) : complain(written.error().message);
}

reports::Detail detail_of(const CampaignCommand& command) {
  if (command.verbose) return reports::Detail::kLong;
  return command.quiet ? reports::Detail::kFindings : reports::Detail::kShort;
}

int exit_status(const CampaignOutcome& outcome) {
  if (outcome.interrupted) return kInterrupted;
  if (outcome.memory_failed) return kUsage;
  if (!outcome.result.findings.empty()) return kDiverged;
  if (outcome.cap_exceeded || reports::refused_every_step(outcome.result.steps)) return kHarness;
  return kAgreed;
}

}  // namespace

hip::Status prepare(CampaignCommand& command) {
  for (const std::string& id : command.campaign.properties) {
    if (verify::find_property(id) == nullptr) {
      return hip::Error{1, fmt::format("--property: there is no property '{}'; 'hgcheck properties' lists them", id)};
    }
  }
  hip::Result<std::set<std::string>> accepted = load_accepted(command.accept);
  if (!accepted) return accepted.error();
  command.campaign.accepted = std::move(accepted).value();
  return {};
}

int run(CampaignCommand command) {
  CampaignOptions& options = command.campaign;
  if (const hip::Status prepared = prepare(command); !prepared) return complain(prepared.error().message);
  if (options.programs == 0 && options.seconds <= 0) options.seconds = 30;
  for (const hip::Status& status : {usable_folder("--report", options.report), writable("--json", command.json),
                                    usable_folder("--shared-corpus", options.shared_corpus)}) {
    if (!status) return complain(status.error().message);
  }
  if (!command.corpus.empty()) {
    hip::Result<Corpus> corpus = Corpus::load(command.corpus);
    if (!corpus) return complain(corpus.error().message);
    options.corpus = std::move(corpus).value();
  }
  // Read before the work: this report may overwrite the earlier one.
  hip::Result<std::optional<verify::CampaignResult>> earlier = load_earlier(command.compare);
  if (!earlier) return complain(earlier.error().message);
  const verify::CampaignResult* before = earlier.value() ? &*earlier.value() : nullptr;

  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  ProgressLine line(!command.quiet);
  std::size_t printed = 0;
  if (!options.db.empty()) {
    options.found = [&](const verify::Finding& finding) {
      const bool fits = printed < reports::kTerminalFindings;
      if (!fits && !command.verbose && !command.every_cause) return;
      if (fits) ++printed;
      line.clear();
      std::cout << fmt::format("found {}: {}\n", finding.id, finding.cause) << std::flush;
    };
  }
  hip::Result<CampaignOutcome> outcome = run_campaign(
      options, [] { return g_interrupted.load() != 0; }, [&line](const Progress& progress) { line.show(progress); });
  line.clear();
  if (!outcome) return complain(outcome.error().message);
  const verify::CampaignResult& result = outcome.value().result;
  const reports::Ending ending{outcome.value().resumed, outcome.value().interrupted, outcome.value().cap_exceeded,
                               printed};
  std::cout << reports::to_terminal(result, ending, detail_of(command)) << std::flush;
  if (before != nullptr) {
    std::cout << fmt::format("against {}: {}\n", command.compare,
                             reports::summary_of(reports::compare(*before, result)));
  }
  int status = exit_status(outcome.value());
  if (!options.report.empty()) {
    if (const hip::Status written = reports::write_report(result, options.report, before); !written) {
      status = complain(written.error().message);
    } else if (!command.quiet) {
      std::cout << "report: " << (std::filesystem::path(options.report) / "index.html").string() << "\n";
    }
  }
  if (!command.json.empty()) {
    if (const hip::Status written = write_text(command.json, reports::to_json(result).dump(2) + "\n"); !written) {
      status = complain(written.error().message);
    }
  }
  return status;
}

int run(const ReportCommand& command) {
  if (const hip::Status status = usable_folder("--report", command.report); !status) {
    return complain(status.error().message);
  }
  if (is_database(command.file)) return report_database(command);
  const hip::Result<nlohmann::ordered_json> json = load_json("report", command.file);
  if (!json) return complain(json.error().message);
  if (reports::holds_benchmarks(json.value())) return report_benchmarks(command);
  const hip::Result<verify::CampaignResult> result = load(reports::from_json, "report", command.file);
  if (!result) return complain(result.error().message);
  const hip::Result<std::optional<verify::CampaignResult>> earlier = load_earlier(command.compare);
  if (!earlier) return complain(earlier.error().message);
  const verify::CampaignResult* before = earlier.value() ? &*earlier.value() : nullptr;
  if (before != nullptr) {
    std::cout << fmt::format("against {}: {}\n", command.compare,
                             reports::summary_of(reports::compare(*before, result.value())));
  }
  const hip::Status written = reports::write_report(result.value(), command.report, before);
  if (!written) return complain(written.error().message);
  std::cout << "report: " << (std::filesystem::path(command.report) / "index.html").string() << "\n";
  return kAgreed;
}

}  // namespace fuzz
