#include "fuzz/cost_runs.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <variant>

#include "fuzz/finding.h"
#include "verify/generate/generator.h"
#include "verify/generate/wide.h"
#include "verify/program/text.h"
#include "verify/properties/cost.h"
#include "verify/properties/property.h"
#include "verify/subject/process.h"

namespace fuzz {

namespace {

constexpr double kMaxRunsACost = 20;                                      // sizes times programs, some of them large
constexpr std::uint64_t kProgramsAWideOne = 100, kMostWidePrograms = 60;  // of the wide programs that are measured
constexpr double kMaxSecondsOfWide = 900;                                 // of the process, with the wide programs

}  // namespace

// The fixed programs come first, then the drawn ones. All measurements count; the table has only the fixed programs.
verify::Program cost_program(std::uint64_t seed, std::uint64_t which) {
  const std::uint64_t fixed = verify::cost_programs().size();
  if (which < fixed) return std::get<verify::Program>(verify::parse_program(verify::cost_programs()[which].text));
  verify::RandomChoices choices = verify::campaign_choices(seed, kFirstCostProgram + which);
  return verify::wide_program(choices);
}

std::uint64_t CostRuns::drawn() const {
  if (options_.programs == 0) return kMostWidePrograms;
  return std::min(kMostWidePrograms, options_.programs / kProgramsAWideOne);
}

void CostRuns::start(const std::function<void()>& before) {
  asked_ = true;
  const bool measured = !result_.costs.empty();  // by an earlier session
  if (options_.shard != 1 || measured) return;
  hip::Result<Child> child = Child::start([&](int fd) {
    before();
    measure(fd);
  });
  if (child) child_ = std::move(child).value();
}

void CostRuns::measure(int fd) const {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_IGN);
  for (std::uint64_t i = 0; i < verify::cost_programs().size() + drawn(); ++i) {
    const std::uint64_t index = kFirstCostProgram + i;
    verify::JudgeOptions checks = campaign_checks(index);
    checks.name_cause = false;
    const verify::Judgement judgement = setup_.judge().judge(cost_program(options_.seed, i), checks);
    const bool diverges = judgement.verdict == verify::VerdictKind::kDiverge;
    nlohmann::json costs = nlohmann::json::array();
    for (const verify::CostMeasurement& c : judgement.costs) {
      costs.push_back({c.operation, c.measure, c.step, c.sizes, c.values, c.exponent, c.bound});
    }
    nlohmann::json line = {{"index", index}, {"kind", "cost"}, {"costs", costs}};
    if (diverges && judgement.broken.front() == verify::PropertyId::kP10) {
      line["cause"] = cause_of(judgement);
    } else if (judgement.costs.empty()) {
      line["reason"] =
          fmt::format("{} ({})", verdict_name(judgement.verdict), diverges ? cause_of(judgement) : judgement.reason);
    }
    if (!verify::write_all(fd, line.dump() + "\n")) _exit(1);
  }
  _exit(0);
}

// Keeps one measurement for each operation: the one with the most work.
static void keep_largest(std::vector<verify::CostMeasurement>& costs) {
  const verify::CostMeasurement& latest = costs.back();
  const auto earlier = std::find_if(costs.begin(), costs.end() - 1, [&](const verify::CostMeasurement& other) {
    return other.operation == latest.operation && other.measure == latest.measure;
  });
  if (earlier == costs.end() - 1) return;
  if (earlier->values.back() < latest.values.back()) *earlier = latest;
  costs.pop_back();
}

void CostRuns::take(const nlohmann::json& line, const std::function<void(std::uint64_t, const std::string&)>& broke) {
  const std::uint64_t index = line.value("index", kFirstCostProgram);
  const std::uint64_t which = index - kFirstCostProgram;
  const bool fixed = which < verify::cost_programs().size();
  for (const nlohmann::json& c : line.value("costs", nlohmann::json::array())) {
    ++exercised_;
    if (!fixed) continue;
    result_.costs.push_back({c.at(0), c.at(1), c.at(2), c.at(3), c.at(4), c.at(5), c.at(6)});
    keep_largest(result_.costs);
  }
  ++measured_;
  if (fixed && line.contains("reason")) {
    result_.messages.push_back(fmt::format("costs of '{}' were not measured: {}", verify::cost_programs()[which].name,
                                           line.value("reason", "")));
  }
  if (!line.contains("cause")) return;
  ++violated_;
  broke(index, line.value("cause", "P10"));
}

// The campaign waits for the fixed programs. Drawn programs are measured as long as the campaign goes on.
void CostRuns::watch(bool stopping) {
  if (!child_.is_running()) return;
  const bool fixed_done = measured_ >= verify::cost_programs().size();
  if (fixed_done && !stopping && child_.seconds() < kMaxSecondsOfWide) return;
  if (!fixed_done && child_.seconds() <= kMaxRunsACost * options_.setup.program_timeout) return;
  child_.kill();
  if (!fixed_done) result_.messages.emplace_back("costs (P10) were not measured: it took too long");
}

void CostRuns::add_to(verify::CampaignResult& result) const {
  result.properties["P10"].exercised += exercised_;
  result.properties["P10"].violated += violated_;
}

}  // namespace fuzz
