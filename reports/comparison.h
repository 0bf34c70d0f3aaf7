// Compares two campaigns by cause: new, fixed and still there.
//
// A cause counts as fixed when the later campaign did not meet it although it exercised the property. This is no proof,
// because other programs may have run; so a page that shows it names seed, programs and subject of both campaigns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "verify/result.h"

namespace reports {

struct Comparison {
  std::vector<std::size_t> fresh;      // findings of the later campaign
  std::vector<std::size_t> remaining;  // findings of the later campaign that the earlier one had, too
  std::vector<std::size_t> fixed;      // findings of the earlier campaign
  std::vector<std::size_t> untested;   // findings of the earlier one, of properties that the later one did not exercise
};

[[nodiscard]] Comparison compare(const verify::CampaignResult& earlier, const verify::CampaignResult& later);
// "1 new, 2 fixed, 3 still there, 4 not tested"
[[nodiscard]] std::string summary_of(const Comparison& comparison);

}  // namespace reports
