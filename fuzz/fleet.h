// Names that a fleet and its tasks agree on. In the output folder of a fleet:
//   campaign         which campaign it is
//   fleet.sh         the script of the jobs
//   task-I/          report of the I-th task, and campaign.db, the last copy of its database
//   task-I.log       the output of the task
#pragma once

#include <filesystem>

#include "fuzz/campaign.h"

namespace fuzz {

// An error when the folder belongs to another campaign: its databases have other programs to mutate.
[[nodiscard]] hip::Status check_fleet_folder(const std::filesystem::path& folder, const CampaignOptions& options);
// Makes the folder belong to this campaign, if it belongs to none.
[[nodiscard]] hip::Status claim_fleet_folder(const std::filesystem::path& folder, const CampaignOptions& options);

// Seconds of a task's time that its campaign leaves: to shrink the last findings, and for the report and the copy.
inline constexpr unsigned kFleetEndSeconds = 300;

}  // namespace fuzz
