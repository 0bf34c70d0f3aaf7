// The sections of the page, each written into a page that is already open. For files of this folder only.
//
// Promises: an empty section says that it is empty (holes have to be visible), and every cut at a bound is stated where
// it is made.
#pragma once

#include <cstddef>

#include "reports/html_writer.h"
#include "verify/result.h"

namespace reports {

// Beyond these bounds the page names the .program file instead, because a browser cannot scroll an endless page.
inline constexpr std::size_t kMaxFindingsWithGraphs = 25;
inline constexpr std::size_t kMaxOpenFindings = 3;
inline constexpr std::size_t kMaxShownDifferences = 20;
inline constexpr std::size_t kMaxShownUnits = 64;  // bytes or words of one value
inline constexpr std::size_t kMaxShownProgramBytes = 20'000;
inline constexpr std::size_t kMaxBugDifferences = 4;
inline constexpr std::size_t kMaxBugValue = 2'000;  // bytes

// Fills the open head of a page without scripts, and closes it.
void fill_head(HtmlWriter& page, std::string_view title);
void write_findings(HtmlWriter& page, const verify::CampaignResult& result);
void write_properties(HtmlWriter& page, const verify::CampaignResult& result);
void write_verdicts(HtmlWriter& page, const verify::CampaignResult& result);
void write_coverage(HtmlWriter& page, const verify::CampaignResult& result);
void write_states(HtmlWriter& page, const verify::CampaignResult& result);
void write_costs(HtmlWriter& page, const verify::CampaignResult& result);
void write_course(HtmlWriter& page, const verify::CampaignResult& result);
void write_comparison(HtmlWriter& page, const verify::CampaignResult& result, const verify::CampaignResult& earlier);
// Shards and nodes of a campaign that was joined of several; otherwise nothing.
void write_shards(HtmlWriter& page, const verify::CampaignResult& result);
void write_sampling(HtmlWriter& page, const verify::CampaignResult& result);
void write_messages(HtmlWriter& page, const verify::CampaignResult& result);

// 1234567 as "1,234,567", for a person.
[[nodiscard]] std::string grouped(std::uint64_t number);

// "1 program", "2 programs".
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view one);

}  // namespace reports
