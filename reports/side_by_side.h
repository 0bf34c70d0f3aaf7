// Several campaigns side by side: one page that shows what each subject came to, quirk by quirk.
//
// Promises: what html.h promises of a page; every campaign is a column (in the order given), every property, every
// quirk that one of them met and every bug that one of them showed a row, and every finding is named with its campaign.
// Does not check: that the campaigns ran the same programs; seed, size and count are in the table, so that a person
// sees it.
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
