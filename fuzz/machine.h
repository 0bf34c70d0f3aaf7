// The machine that a campaign runs on, in one line of a report: "AMD EPYC 9654, 2 processors, Linux 6.1.0 x86_64".
//
// That line names no host, no user, no build of a kernel and no path, because reports are passed on.
#pragma once

#include <string>

namespace fuzz {

[[nodiscard]] std::string machine();

// The name of this host. It stands in campaigns' databases and in what is merged of them, and in no other report.
[[nodiscard]] std::string node();

}  // namespace fuzz
