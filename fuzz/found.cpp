#include "fuzz/found.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "fuzz/cost_runs.h"
#include "fuzz/files.h"
#include "fuzz/finding.h"
#include "reports/json.h"
#include "verify/program/features.h"
#include "verify/program/text.h"
#include "verify/properties/property.h"
#include "verify/subject/process.h"

namespace fuzz {

void Found::note(const Cause& cause) {
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
  news_.push_back(outcome_.result.findings.size() - 1);
}

void Found::announce() {
  for (const std::size_t finding : news_) {
    if (options_.found) options_.found(outcome_.result.findings[finding]);
  }
  news_.clear();
}

void Found::note_accepted(const Cause& cause) {
  ++outcome_.result.reasons["accepted: " + cause.cause];
  const auto [known, fresh] = accepted_.try_emplace(cause.cause);
  if (!fresh) {
    ++known->second.finding.seen;
    return;
  }
  known->second.finding.property = cause.property;
  known->second.finding.cause = cause.cause;
  known->second.finding.program_text = cause.program;
  known->second.index = cause.index;
  known->second.death = cause.death;
  known->second.accepted = true;
  if (memory_) note_failure(memory_->keep_finding(known->second));
}

void Found::keep_unclear(const std::string& kind, const std::string& reason, std::uint64_t index,
                         const std::string& program) {
  if (options_.report.empty()) return;
  if (unsigned& written = unclear_[kind]; ++written > kMaxUnclear) return;
  const auto path = std::filesystem::path(options_.report) / fmt::format("{}-{:06}.program", kind, index);
  write_program(path.string(), fmt::format("# {}\n{}", reason, verify::print_program(program_of(index, program))));
}

bool Found::wanted(const std::string& property) const {
  return options_.properties.empty() ||
         std::find(options_.properties.begin(), options_.properties.end(), property) != options_.properties.end();
}

verify::Program Found::program_of(std::uint64_t index, const std::string& text) const {
  if (std::optional<verify::Program> told = text.empty() ? std::nullopt : parse_valid(text)) return std::move(*told);
  if (index >= kFirstCostProgram) return cost_program(options_.seed, index - kFirstCostProgram);
  return fuzz::program_of(corpus_, options_.seed, index, setup_.generator(options_.size, options_.seed, index),
                          is_mutant(index));
}

verify::Finding Found::unshrunk(const Cause& cause) {
  const verify::Program program = program_of(cause.index, cause.program);
  verify::Judgement judgement;
  judgement.verdict = verify::VerdictKind::kDiverge;
  if (const verify::Property* property = verify::find_property(cause.property)) judgement.broken = {property->id};
  if (!cause.death.empty()) judgement.differences.push_back(end_of_program(cause.death));
  verify::Finding finding = make_finding(setup_, program, judgement, cause.index, verify::counted_commands(program));
  finding.summary = cause.cause + " (not shrunk yet)";
  finding.cause = cause.cause;
  finding.first = {now(), options_.shard, options_.shards, "", outcome_.result.session.name};
  entries_.push_back({cause.index, cause.death, false});
  name_files(finding);
  return finding;
}

void Found::name_files(verify::Finding& finding) const {
  if (!options_.report.empty()) fuzz::name_files(finding, options_.report, options_.setup);
}

void Found::write_program(const verify::Finding& finding) {
  if (finding.program_path.empty()) return;
  if (const hip::Status written = fuzz::write_program(finding); !written) {
    outcome_.result.messages.push_back(written.error().message);
  }
}

void Found::write_program(const std::string& path, const std::string& text) {
  for (const auto& write : {write_text, write_code_objects}) {
    if (const hip::Status written = write(path, text); !written) {
      outcome_.result.messages.push_back(written.error().message);
    }
  }
}

void Found::leave_memory() const {
  if (memory_) memory_->leave_to_parent();
}

void Found::shrink_next() {
  if (shrinking_.is_running() || waiting_.empty()) return;
  const std::size_t finding = waiting_.front();
  waiting_.pop_front();
  hip::Result<Child> child = Child::start([&](int fd) {
    leave_memory();
    shrink(finding, fd);
  });
  if (!child) return;
  shrinking_ = std::move(child).value();
  shrunk_finding_ = finding;
}

void Found::read_shrunk() {
  shrinking_.read([this](const nlohmann::json& line) { take_shrunk(line); });
}

void Found::reap() {
  if (!shrinking_.ended()) return;
  read_shrunk();
  if (!entries_[shrunk_finding_].shrunk) {
    outcome_.result.findings[shrunk_finding_].summary += "; it did not show again when run alone";
  }
  shrinking_ = {};
}

void Found::watch() const {
  const double enough = options_.shrink_seconds + 4 * options_.setup.program_timeout;
  if (shrinking_.is_running() && shrinking_.seconds() > enough) shrinking_.kill();
}

// Writes the finding to `fd`.
void Found::shrink(std::size_t finding, int fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_IGN);
  const std::uint64_t index = entries_[finding].index;
  const verify::Program program = program_of(index, outcome_.result.findings[finding].program_text);
  const Shrunk shrunk =
      shrink_finding(setup_, program, campaign_checks(index), options_.setup.program_timeout, options_.shrink_seconds);
  if (!shrunk.reproduced) _exit(1);
  verify::CampaignResult carrier;  // a finding is sent as a report with one finding
  carrier.findings.push_back(
      make_finding(setup_, shrunk.program, shrunk.judgement, index, verify::counted_commands(program)));
  const std::string line = reports::to_json(carrier).dump() + "\n";
  _exit(verify::write_all(fd, line) ? 0 : 1);
}

void Found::take_shrunk(const nlohmann::json& line) {
  hip::Result<verify::CampaignResult> carrier =
      reports::from_json(nlohmann::ordered_json::parse(line.dump(), nullptr, false));
  if (!carrier || carrier.value().findings.size() != 1) return;
  verify::Finding& old = outcome_.result.findings[shrunk_finding_];
  verify::Finding shrunk = std::move(carrier).value().findings.front();
  shrunk.seen = old.seen;
  shrunk.first = old.first;
  shrunk.cause = old.cause;  // the cause of the unshrunk program: --accept names this cause
  name_files(shrunk);
  if (shrunk.program_path != old.program_path && !old.program_path.empty()) {
    std::error_code ignored;  // the file under the first name is superseded
    std::filesystem::remove(old.program_path, ignored);
  }
  old = std::move(shrunk);
  write_program(old);
  entries_[shrunk_finding_].shrunk = true;
  keep(shrunk_finding_);
  if (options_.setup.fault.empty()) return;
  fault_found_ = true;  // the fault is found: the rest of the queue would show nothing new
  waiting_.clear();
}

void Found::take_up(KeptFinding kept) {
  const std::string cause = kept.finding.cause;
  if (kept.accepted || options_.accepted.contains(cause)) {
    const bool news = !kept.accepted;
    kept.accepted = true;
    if (options_.accepted.contains(cause)) {
      if (news) outcome_.result.reasons["accepted: " + cause] += kept.finding.seen;
      accepted_[cause] = std::move(kept);
      return;
    }
    // The cause was accepted in an earlier session and is not accepted now.
    outcome_.result.reasons.erase("accepted: " + cause);
    const std::uint64_t seen = kept.finding.seen;
    const verify::Sighting first = kept.finding.first;
    kept.finding = unshrunk({kept.index, kept.finding.property, cause, seen, kept.death, kept.finding.program_text});
    kept.finding.seen = seen;
    kept.finding.first = first;
    kept.accepted = kept.shrunk = false;
  } else {
    entries_.push_back({kept.index, kept.death, kept.shrunk});
  }
  const std::size_t place = outcome_.result.findings.size();
  causes_[cause] = place;
  if (!kept.shrunk) waiting_.push_back(place);
  if (kept.shrunk && !options_.setup.fault.empty()) fault_found_ = true;
  name_files(kept.finding);
  write_program(kept.finding);
  outcome_.result.findings.push_back(std::move(kept.finding));
}

KeptFinding Found::kept(std::size_t finding) const {
  return {outcome_.result.findings[finding], entries_[finding].index, entries_[finding].death, entries_[finding].shrunk,
          false};
}

void Found::keep(std::size_t finding) {
  if (memory_) note_failure(memory_->keep_finding(kept(finding)));
}

// Reports the first failure only: later failures say the same.
void Found::note_failure(const hip::Status& status) {
  if (status || outcome_.memory_failed) return;
  outcome_.memory_failed = true;
  outcome_.result.messages.push_back("--db: " + status.error().message);
}

// A fault that was found needs one finding: the findings that still wait to be shrunk show nothing new.
void Found::drop_unshrunk() {
  std::vector<verify::Finding> kept;
  for (std::size_t i = 0; i < outcome_.result.findings.size(); ++i) {
    verify::Finding& finding = outcome_.result.findings[i];
    std::error_code ignored;
    if (entries_[i].shrunk) {
      kept.push_back(std::move(finding));
    } else if (!finding.program_path.empty()) {
      std::filesystem::remove(finding.program_path, ignored);
    }
  }
  outcome_.result.findings = std::move(kept);
}

std::vector<verify::Finding> fold_equal(
    std::vector<verify::Finding> findings,
    const std::function<void(const verify::Finding& into, const verify::Finding& folded)>& folded) {
  std::vector<verify::Finding> kept;
  std::map<std::pair<std::string, std::string>, std::size_t> places;  // property and program -> place in `kept`
  for (verify::Finding& finding : findings) {
    const auto [place, fresh] = places.try_emplace({finding.property, finding.program_text}, kept.size());
    if (fresh) {
      kept.push_back(std::move(finding));
      continue;
    }
    verify::Finding& same = kept[place->second];
    same.seen += finding.seen;
    folded(same, finding);
  }
  return kept;
}

void Found::merge_equal_findings() {
  outcome_.result.findings = fold_equal(
      std::move(outcome_.result.findings), [this](const verify::Finding& into, const verify::Finding& folded) {
        for (verify::Session::Cause& cause : outcome_.result.session.causes) {
          if (cause.finding == folded.id) cause.finding = into.id;
        }
        std::error_code ignored;
        if (!folded.program_path.empty() && folded.program_path != into.program_path) {
          std::filesystem::remove(folded.program_path, ignored);
        }
      });
}

void Found::list_causes() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (fault_found_ && !entries_[i].shrunk) continue;
    const KeptFinding one = kept(i);
    outcome_.result.session.causes.push_back(
        {one.finding.cause, one.finding.id, one.index, one.finding.seen, one.shrunk, one.death, one.finding.first});
  }
}

std::vector<KeptFinding> Found::kept() const {
  std::vector<KeptFinding> all;
  for (std::size_t i = 0; i < outcome_.result.findings.size(); ++i) all.push_back(kept(i));
  for (const auto& [cause, finding] : accepted_) all.push_back(finding);
  return all;
}

void Found::settle() {
  list_causes();
  if (fault_found_) drop_unshrunk();
  merge_equal_findings();
  for (const auto& [cause, finding] : causes_) outcome_.causes.insert(cause);
}

}  // namespace fuzz
