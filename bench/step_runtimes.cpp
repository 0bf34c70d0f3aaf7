#include "bench/step_runtimes.h"

#include <iostream>
#include <utility>

#include "hip/releases/releases.h"
#include "verify/execute/library_platform.h"
#include "verify/execute/model_platform.h"

namespace bench {

namespace {

constexpr const char* kLibrary = "libamdhip64.so.7";

StepRuntime opened(std::string name, std::unique_ptr<verify::Platform> platform) {
  platform->begin(0);
  platform->enter();
  return {std::move(name), std::move(platform)};
}

}  // namespace

StepRuntime open_model() {
  return opened("model", std::make_unique<verify::ModelPlatform>());
}

std::vector<StepRuntime> open_step_runtimes() {
  std::vector<StepRuntime> runtimes;
  runtimes.push_back(open_model());
  hip::Result<std::unique_ptr<verify::LibraryPlatform>> library = verify::LibraryPlatform::open(kLibrary);
  if (!library) {
    std::cerr << "AMD's runtime is left out: " << library.error().message
              << "\n  with it: ./dev setup; .capsule/7.2/bin/run --agent build/lib/agent PROGRAM\n";
    return runtimes;
  }
  const hip::Result<int> version = hip::version_of_release(library.value()->api());
  const std::string release = version ? hip::release_name_of(version.value()) : "?";
  const bool nvidia = version && hip::is_cuda_version(version.value());
  const char* where = nvidia ? "" : library.value()->schedulable() ? "rocm-soft@" : "rocm@";
  runtimes.push_back(opened(where + release, std::move(library).value()));
  return runtimes;
}

}  // namespace bench
