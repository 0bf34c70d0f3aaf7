// Compares two campaigns by cause: new, fixed and still there.
//
// A cause is fixed when the later campaign did not meet it although it put the property to the test; it is not proof:
// other programs may have run, so a page that shows it names seed, programs and subject of both.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "verify/result.h"

namespace reports {

struct Comparison {
  std::vector<std::size_t> fresh;      // findings of the later campaign
  std::vector<std::size_t> remaining;  // likewise, and the earlier one had them
  std::vector<std::size_t> fixed;      // findings of the earlier one
  std::vector<std::size_t> untested;   // likewise, of properties that the later one never exercised
};

[[nodiscard]] Comparison compare(const verify::CampaignResult& earlier, const verify::CampaignResult& later);
// "1 new, 2 fixed, 3 still there, 4 not tested"
[[nodiscard]] std::string summary_of(const Comparison& comparison);

}  // namespace reports
