// The numbers of judged programs: a worker counts them on its board, a campaign reads the boards into its result, its
// progress and the growth of its progress.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuzz/board.h"
#include "fuzz/campaign.h"
#include "verify/oracle/judgement.h"
#include "verify/program/program.h"

namespace fuzz {

// The result before the first program: what is judged, by which version, on which machine, and the known properties.
[[nodiscard]] verify::CampaignResult empty_result(const Setup& setup, const std::string& version);

// Adds judged programs to a board: the verdict, the properties, the coverage. Coverage is counted into buffers of this
// process first, because most counts stay 0.
class ProgramCounter {
 public:
  ProgramCounter();
  void add(const verify::Program& program, const verify::Judgement& judgement, Board& board);

 private:
  std::vector<std::uint64_t> features_, pairs_;
  std::vector<std::uint32_t> triples_;
};

// Adds the workers' counts to the counts of earlier sessions.
void sum_boards(std::span<const Board* const> boards, verify::CampaignResult& result);
void add_boards(std::span<const Board* const> boards, Progress& progress);
// The mean time to generate and to judge a program, of this session.
void measure_a_program(std::span<const Board* const> boards, verify::CampaignResult& result);
// The result without findings and without texts that are the same for all campaigns of a version.
[[nodiscard]] verify::CampaignResult counts_alone(verify::CampaignResult result);
// Adds counts of steps. Reasons of refusals beyond the first 50 are counted together.
void add_steps(verify::StepCounts& into, const verify::StepCounts& from);
// Adds digits of triples, up to 9 each. Digits of a version with other triples count as none.
void add_triples(verify::TripleCoverage& into, const verify::TripleCoverage& from);
// Counts the triples that were met, and names the rarest of them.
void describe_triples(verify::TripleCoverage& triples);
// Adds the texts again: the sentences of the properties, the rates of the checks, the pairs that no program shows, the
// numbers of triples.
void describe_checks(verify::CampaignResult& result);
// Says in the result's messages which share exceeds its cap (kMaxPoisonedShare, ...).
void check_caps(CampaignOutcome& outcome);

// Keeps moments at equal distances; when there are too many, drops every second one and doubles the distance.
class History {
 public:
  void note(const Progress& now, std::vector<verify::Moment>& history);

 private:
  double distance_ = 0.2;  // seconds
};

}  // namespace fuzz
