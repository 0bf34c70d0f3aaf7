// A campaign as a page of Markdown for the summary of a CI job: the result, the findings, and how to replay each.
//
// Promises: the text of a program never becomes markup and never ends a fence early, whatever the program holds; the
// page has at most kMaxSummaryFindings findings and kMaxSummaryBytes bytes, so that a job page accepts it; and the page
// says how much it leaves out.
#pragma once

#include <cstddef>
#include <string>

#include "verify/result.h"

namespace reports {

inline constexpr std::size_t kMaxSummaryFindings = 20;
inline constexpr std::size_t kMaxSummaryBytes = 900'000;  // GitHub takes a megabyte

[[nodiscard]] std::string to_markdown(const verify::CampaignResult& result);

}  // namespace reports
