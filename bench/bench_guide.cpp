// Three ways to draw a campaign's programs, side by side for the same time: generated alone; with a shared corpus that
// keeps what meets something new in the language; and with one that is guided by what the runtime does.
//
// Each turn is a worker's loop with an empty folder. The ways take turns, each with the same seeds. In all ways the
// agent notes signatures, so that they can be counted. Printed are the medians of the turns: programs judged, pairs
// (operation, state), different numbers of signatures, different signatures, entries of the corpus. Run it on a machine
// with no other work, or the ways do not have the same time.
//
//   bench_guide [--subject rocm-soft@7.2:patch] [--seconds 60] [--turns 5] [--seed 1]
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fuzz/finding.h"
#include "fuzz/shared_corpus.h"
#include "fuzz/worker.h"
#include "verify/program/coverage.h"

namespace {

constexpr std::uint32_t kSize = 30;
enum class Way : std::uint8_t { kGenerated, kLanguage, kRuntime };
constexpr Way kWays[] = {Way::kGenerated, Way::kLanguage, Way::kRuntime};
constexpr const char* kNames[] = {"generated", "guided by the language", "guided by the runtime"};
constexpr const char* kCounts[] = {"programs", "pairs", "numbers", "signatures", "corpus"};
using Counts = std::array<double, std::size(kCounts)>;

// Counts of the things that the programs of one turn met.
class Met {
 public:
  void add(const verify::Program& program, const fuzz::Signature& signature) {
    ++programs_;
    verify::count_pairs(program, pairs_);
    numbers_.insert(signature.begin(), signature.end());
    signatures_.insert(signature);
  }
  [[nodiscard]] Counts counts(std::size_t corpus) const {
    const auto pairs = std::ranges::count_if(pairs_, [](std::uint64_t count) { return count != 0; });
    return {static_cast<double>(programs_), static_cast<double>(pairs), static_cast<double>(numbers_.size()),
            static_cast<double>(signatures_.size()), static_cast<double>(corpus)};
  }

 private:
  std::uint64_t programs_ = 0;
  std::vector<std::uint64_t> pairs_ = std::vector<std::uint64_t>(verify::coverage_pairs().size());
  std::set<std::uint16_t> numbers_;
  std::set<fuzz::Signature> signatures_;
};

struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "bench-guide-XXXXXX").string();
  Folder() { path = mkdtemp(path.data()) == nullptr ? "" : path; }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

Counts run(fuzz::Setup& setup, Way way, std::uint64_t seed, double seconds) {
  const Folder folder;
  fuzz::Corpus corpus;
  std::optional<fuzz::SharedCorpus> shared;
  if (way != Way::kGenerated) shared.emplace(folder.path, way == Way::kRuntime ? setup.release() : "", kSize);
  Met met;
  const std::uint64_t begun = fuzz::steady_ns();
  for (std::uint64_t index = 0; fuzz::seconds_since(begun) < seconds; ++index) {
    const fuzz::SharedCorpus::Draw draw = shared ? shared->draw(index) : fuzz::SharedCorpus::Draw{false, kSize};
    const verify::Program program =
        fuzz::program_of(corpus, seed, index, setup.generator(draw.size, seed, index), draw.mutant);
    verify::JudgeOptions checks = fuzz::campaign_checks(index);
    checks.signature = true;
    const verify::Judgement judgement = setup.judge().judge(program, checks);
    met.add(program, judgement.signature);
    if (!shared) continue;
    if (shared->offer(program, judgement.signature)) corpus.add(program);
    if (shared->due()) static_cast<void>(shared->news());
  }
  return met.counts(corpus.programs().size());
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void print(const char* name, const std::vector<Counts>& runs) {
  std::string line = fmt::format("{:24}", name);
  for (std::size_t i = 0; i < std::size(kCounts); ++i) {
    std::vector<double> values;
    for (const Counts& run : runs) values.push_back(run[i]);
    line += fmt::format(" {:10.0f}", median(values));
  }
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::SetupOptions options;
  options.subject = "rocm-soft@7.2:patch";
  std::uint64_t turns = 5, seed = 1;
  double seconds = 60;
  CLI::App app("Guided and unguided campaigns side by side", "bench_guide");
  app.add_option("--subject", options.subject)->capture_default_str();
  app.add_option("--seconds", seconds, "of one turn")->check(CLI::Range(0.1, 86400.0))->capture_default_str();
  app.add_option("--turns", turns, "of each way")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--seed", seed, "of the first turn")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const hip::Result<std::unique_ptr<fuzz::Setup>> setup = fuzz::Setup::make(options);
  if (!setup) {
    fmt::print(stderr, "bench_guide: {}\n", setup.error().message);
    return 2;
  }
  fmt::print("{:24} {:>10}\n", "", fmt::join(kCounts, " "));
  std::vector<Counts> all[std::size(kWays)];
  for (std::uint64_t i = 0; i < turns; ++i) {
    for (const Way way : kWays) {
      const auto at = static_cast<std::size_t>(way);
      all[at].push_back(run(*setup.value(), way, seed + i, seconds));
      print(fmt::format("  {} {}", kNames[at], seed + i).c_str(), {all[at].back()});
    }
  }
  fmt::print("medians of {} turns of {} seconds\n", turns, seconds);
  for (const Way way : kWays) print(kNames[static_cast<std::size_t>(way)], all[static_cast<std::size_t>(way)]);
  return 0;
}
