// A campaign as a page of Markdown for the summary of a CI job: what came out, what was found, how to replay it.
//
// Promises: what stands in it is text (whatever a program holds makes no markup of its own, and no fence ends early);
// at most kMaxSummaryFindings findings and kMaxSummaryBytes in all, so that a job page takes it; what was left out is
// said.
#pragma once

#include <cstddef>
#include <string>

#include "verify/result.h"

namespace reports {

inline constexpr std::size_t kMaxSummaryFindings = 20;
inline constexpr std::size_t kMaxSummaryBytes = 900'000;  // GitHub takes a megabyte

[[nodiscard]] std::string to_markdown(const verify::CampaignResult& result);

}  // namespace reports
