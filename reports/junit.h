// Campaign results as JUnit XML, for CI systems that read nothing else.
//
// Promises: one test case per property (failed when violated, skipped when no program exercised it: a property that was
// never exercised has not passed) and one failed test case per finding, carrying the program and its replay command;
// the counts of a suite are the sums over its children; the document is well-formed whatever bytes a program holds.
// Does not check: a consumer's private dialect. The common subset (tests, failures, skipped, time) is all that is used.
#pragma once

#include <string>

#include "verify/result.h"

namespace reports {

[[nodiscard]] std::string to_junit(const verify::CampaignResult& result);

}  // namespace reports
