// Campaign results as SARIF 2.1.0, the form that code hosts show beside a change.
//
// Promises: one run; every property is a rule, every finding an error at its program's first line, every known quirk
// that was met a suppressed note at its regression program, caps and lost workers notifications of the invocation. A
// finding's fingerprint is its cause, so that the same bug in the next campaign is the same alert. Valid UTF-8 whatever
// bytes the result holds. Does not check: that the paths exist where the file is read; findings name their programs as
// they were written, relative to the folder that the campaign ran in.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "verify/result.h"

namespace reports {

[[nodiscard]] nlohmann::ordered_json to_sarif(const verify::CampaignResult& result);

}  // namespace reports
