// Campaign results as one HTML page for a person.
//
// Promises: one self-contained file (no network, no resource outside it, and a policy in the page that forbids both);
// readable in light and dark, narrow and wide, by keyboard and by screen reader, with scripts switched off; XML-clean,
// so that any XML parser can check it; every string of the result is escaped, whatever bytes it holds.
// Does not check: that the page stays pleasant for thousands of findings. It stays complete (each finding has its
// program and replay command) but pictures and long values are cut at named bounds, and the page says where. Not
// safe to call from two threads at once: the graph layout library keeps global state.
#pragma once

#include <string>

#include "verify/race_result.h"
#include "verify/result.h"

namespace reports {

// `earlier`: a campaign to compare with, or null. `has_races`: the page links to races.html beside it.
[[nodiscard]] std::string to_html(const verify::CampaignResult& result, const verify::CampaignResult* earlier = nullptr,
                                  bool has_races = false);
// The page of thread schedules: the findings with their interleavings, and the explored systems. It has no scripts.
[[nodiscard]] std::string to_html(const verify::RaceResult& result);

}  // namespace reports
