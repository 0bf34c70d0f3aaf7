#include "reports/comparison.h"

#include <fmt/format.h>

#include <set>

namespace reports {
namespace {

// Reports of an earlier hgcheck name no cause; for them property and program take its place.
std::string key_of(const verify::Finding& finding) {
  return finding.cause.empty() ? finding.property + "\n" + finding.program_text : finding.cause;
}

std::set<std::string> keys_of(const verify::CampaignResult& result) {
  std::set<std::string> keys;
  for (const verify::Finding& finding : result.findings) keys.insert(key_of(finding));
  return keys;
}

}  // namespace

Comparison compare(const verify::CampaignResult& earlier, const verify::CampaignResult& later) {
  const std::set<std::string> before = keys_of(earlier), now = keys_of(later);
  Comparison comparison;
  for (std::size_t i = 0; i < later.findings.size(); ++i) {
    (before.contains(key_of(later.findings[i])) ? comparison.remaining : comparison.fresh).push_back(i);
  }
  for (std::size_t i = 0; i < earlier.findings.size(); ++i) {
    if (now.contains(key_of(earlier.findings[i]))) continue;
    const auto property = later.properties.find(earlier.findings[i].property);
    const bool tested = property != later.properties.end() && property->second.exercised > 0;
    (tested ? comparison.fixed : comparison.untested).push_back(i);
  }
  return comparison;
}

std::string summary_of(const Comparison& comparison) {
  std::string text = fmt::format("{} new, {} fixed, {} still there", comparison.fresh.size(), comparison.fixed.size(),
                                 comparison.remaining.size());
  if (!comparison.untested.empty()) text += fmt::format(", {} not tested", comparison.untested.size());
  return text;
}

}  // namespace reports
