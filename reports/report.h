// The report folder: index.html, report.json and junit.xml of one campaign.
//
// Promises: each file appears whole or not at all (written beside its place, then renamed), so a reader or a killed
// campaign never leaves half a file; the folder is made when it is missing; other files in it are left alone.
// Does not check: that the three files are replaced together. A crash between two renames leaves a folder whose files
// are each whole but of two runs; each file names its seed and version.
#pragma once

#include <filesystem>

#include "hip/result/result.h"
#include "verify/result.h"

namespace reports {

// An error names the path and what to do about it.
[[nodiscard]] hip::Status write_report(const verify::CampaignResult& result, const std::filesystem::path& folder);

}  // namespace reports
