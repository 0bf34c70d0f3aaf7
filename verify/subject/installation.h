// The places of the subject programs, the software gfx942 and the capsule, and the command that starts a subject of
// each runtime. The places are those of this build or, in a folder that tools/pack made (its top has the file
// `hgcheck-folder`), of that folder, wherever it is now.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hip/result/result.h"

namespace verify {

// The command that starts a subject of "rocm", "nvidia", "rocm-soft@RELEASE" or "rocm-soft" (the reference). An error
// names the missing part and the way to get it.
[[nodiscard]] hip::Result<std::vector<std::string>> subject_command(std::string_view runtime);

// Whether it is AMD's runtime on the software gfx942: "rocm-soft@RELEASE" or "rocm-soft".
[[nodiscard]] bool is_soft(std::string_view runtime);

}  // namespace verify
