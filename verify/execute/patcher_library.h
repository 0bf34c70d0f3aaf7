// Somebody else's patcher as a strategy: a shared library behind hip/patcher_abi.h, loaded into this process.
//
// What the library is shown is copied for it and, with poison, overwritten when the call has returned, so that a
// library that kept a pointer is found out (P1). A library that asks for definitions gets them; for others a graph's
// definition is recorded again.
//
// Does not contain the library: one that crashes takes the process with it, which is a finding of whoever runs us.
#pragma once

#include <string>

#include "hip/result/result.h"
#include "verify/execute/patcher.h"

namespace verify {

// An error names the path, what is wrong with the library and what to do. The library stays loaded as long as the
// factory or a patcher of it lives.
[[nodiscard]] hip::Result<PatcherFactory> load_patchers(const std::string& path);

}  // namespace verify
