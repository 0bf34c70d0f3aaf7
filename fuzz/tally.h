// The numbers that a campaign reads from the boards of its workers: the counts of its result, its progress, and the
// growth of its progress.
#pragma once

#include <span>
#include <vector>

#include "fuzz/board.h"
#include "fuzz/campaign.h"

namespace fuzz {

// Adds the workers' counts to the counts of earlier sessions.
void sum_boards(std::span<const Board* const> boards, verify::CampaignResult& result);
void add_boards(std::span<const Board* const> boards, Progress& progress);
// The mean time to generate and to judge a program, of this session.
void measure_a_program(std::span<const Board* const> boards, verify::CampaignResult& result);
// The result without findings and without texts that are the same for all campaigns of a version.
[[nodiscard]] verify::CampaignResult counts_alone(verify::CampaignResult result);
// Adds the texts again: the sentences of the properties, the rates of the checks, the pairs that no program shows.
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
