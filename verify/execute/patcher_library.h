// A third-party patcher as a strategy: a shared library behind hip/patcher_abi.h, loaded into this process.
//
// The library gets a copy of all data. With poison the copy is overwritten when the call has returned, so that a
// library that kept a pointer reads poison (P1). A library that asks for definitions gets them; for other libraries a
// graph's definition is recorded again.
//
// The library is not isolated: a crash in it ends this process, which is a finding for the caller that runs it.
#pragma once

#include <string>

#include "hip/result/result.h"
#include "verify/execute/patcher.h"

namespace verify {

// An error names the path, the library's flaw and the remedy. The library stays loaded as long as the factory or one of
// its patchers lives.
[[nodiscard]] hip::Result<PatcherFactory> load_patchers(const std::string& path);

}  // namespace verify
