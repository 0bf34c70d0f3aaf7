// A HIP runtime that keeps a little each time: the model, with 4 KB a setter of a memset node, 1 MB a failed
// instantiation, a thread a successful one, and a file descriptor a launch.
#include <dlfcn.h>
#include <fcntl.h>
#include <hip/hip_runtime_api.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kOfASetter = 4096, kOfAFailedInstantiation = 1 << 20;

// Reachable, so that the leak is this runtime's alone and not one that a leak checker reports.
void keep(std::size_t bytes) {
  static auto* const kept = new std::vector<void*>;
  kept->push_back(std::malloc(bytes));
}

template <class Function>
Function* of_the_model(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void wait_for_good() {
  while (true) pause();
}

}  // namespace

extern "C" {

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* params) {
  static auto* const set = of_the_model<decltype(hipGraphExecMemsetNodeSetParams)>("hipGraphExecMemsetNodeSetParams");
  keep(kOfASetter);
  return set(exec, node, params);
}

hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log, size_t size) {
  static auto* const instantiate = of_the_model<decltype(hipGraphInstantiate)>("hipGraphInstantiate");
  const hipError_t code = instantiate(exec, graph, node, log, size);
  if (code == hipSuccess) {
    std::thread(wait_for_good).detach();
  } else {
    keep(kOfAFailedInstantiation);
  }
  return code;
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  static auto* const launch = of_the_model<decltype(hipGraphLaunch)>("hipGraphLaunch");
  static_cast<void>(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return launch(exec, stream);
}

}  // extern "C"
