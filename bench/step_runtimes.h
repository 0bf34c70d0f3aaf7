// The runtimes that steps and clients are measured on: the model in this process, and AMD's where this process can load
// it: in the capsule, on the software gfx942 (`.capsule/7.2/bin/run --agent build/lib/agent PROGRAM`), or installed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "verify/execute/platform.h"

namespace bench {

struct StepRuntime {
  std::string name;  // "model", "rocm-soft@7.2", "rocm@7.2", "nvidia-13.0"
  std::unique_ptr<verify::Platform> platform;
};

// Begun and entered, in this thread. Says on standard error why AMD's is missing, where it is.
[[nodiscard]] std::vector<StepRuntime> open_step_runtimes();

// The model alone, for tests.
[[nodiscard]] StepRuntime open_model();

}  // namespace bench
