// Where the subject programs, the software gfx942 and the capsule are, and what starts a subject of each runtime. They
// are this build's, or, in a folder that tools/pack made (its top has the file `hgcheck-folder`), the folder's own,
// wherever it was carried to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hip/result/result.h"

namespace verify {

// The command that starts a subject of "rocm", "nvidia", "rocm-soft@RELEASE" or "rocm-soft" (the reference). An error
// says what is missing and how to get it.
[[nodiscard]] hip::Result<std::vector<std::string>> subject_command(std::string_view runtime);

}  // namespace verify
