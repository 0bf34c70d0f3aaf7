// Several campaigns side by side: one page that shows the results of each subject, quirk by quirk.
//
// Promises: the promises of html.h for a page; every campaign is a column, in the given order; every property, every
// quirk and every bug that a campaign met is a row; every finding is named with its campaign.
// Does not check: that the campaigns ran the same programs. The table shows the seed, size and count of each campaign,
// so that a person can see it.
#pragma once

#include <string>
#include <vector>

#include "verify/result.h"

namespace reports {

struct CampaignColumn {
  verify::CampaignResult result;
  std::string page;  // the campaign's own page, relative to this one, or empty
};

[[nodiscard]] std::string side_by_side(const std::vector<CampaignColumn>& columns);

}  // namespace reports
