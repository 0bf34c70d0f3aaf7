// Finds CUDA's functions in its shared libraries.
#include "hip/nvidia/cuda.h"

#include <dlfcn.h>

#include <initializer_list>
#include <utility>

#include "hip/sync/sync.h"

namespace nvidia {
namespace {

namespace sync = hip::sync;

constexpr int kCuda13 = 13000;

struct Choice {
  sync::Mutex mutex;
  CudaLibraries libraries;
  bool taken = false;
};
Choice& choice() {
  static Choice one;
  return one;
}

// The replacements for functions that could not be found.
template <class Status, class... P>
Status no_device(P...) {
  return static_cast<Status>(cudaErrorNoDevice);
}
template <class Status, class... P>
Status not_supported(P...) {
  return static_cast<Status>(cudaErrorNotSupported);
}
static_assert(static_cast<int>(cudaErrorNoDevice) == static_cast<int>(CUDA_ERROR_NO_DEVICE));
static_assert(static_cast<int>(cudaErrorNotSupported) == static_cast<int>(CUDA_ERROR_NOT_SUPPORTED));

template <class Status, class... P>
void find(Status (*&entry)(P...), void* library, const char* symbol, bool usable) {
  entry = &no_device<Status, P...>;
  if (!usable) return;
  void* const found = dlsym(library, symbol);
  entry = found != nullptr ? reinterpret_cast<Status (*)(P...)>(found) : &not_supported<Status, P...>;
}

void* open_first(std::initializer_list<const char*> names, std::string& problem) {
  for (const char* name : names) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    const char* const reason = dlerror();
    problem += (problem.empty() ? "" : "; ") + std::string(reason != nullptr ? reason : name);
  }
  return nullptr;
}

void* open_runtime(const std::string& chosen, int driver_version, std::string& problem) {
  constexpr const char *kNewer = "libcudart.so.13", *kOlder = "libcudart.so.12";
  constexpr const char *kNewerThere = "/usr/local/cuda/lib64/libcudart.so.13",
                       *kOlderThere = "/usr/local/cuda/lib64/libcudart.so.12";
  if (!chosen.empty()) return open_first({chosen.c_str()}, problem);
  if (driver_version >= kCuda13) return open_first({kNewer, kNewerThere, kOlder, kOlderThere}, problem);
  return open_first({kOlder, kOlderThere, kNewer, kNewerThere}, problem);
}

int version_from(void* library, const char* symbol) {
  using Ask = int (*)(int*);
  const auto ask = library == nullptr ? nullptr : reinterpret_cast<Ask>(dlsym(library, symbol));
  int version = 0;
  return ask != nullptr && ask(&version) == 0 ? version : 0;
}

}  // namespace

#define SYMBOL_OF(name) #name
Cuda load_cuda(const CudaLibraries& libraries) {
  Cuda table;
  std::string driver_problem, runtime_problem;
  void* const driver =
      open_first({libraries.driver.empty() ? "libcuda.so.1" : libraries.driver.c_str()}, driver_problem);
  table.driver_version = version_from(driver, "cuDriverGetVersion");
  void* const runtime = open_runtime(libraries.runtime, table.driver_version, runtime_problem);
  table.runtime_version = version_from(runtime, "cudaRuntimeGetVersion");
  if (driver == nullptr) table.problem = driver_problem;
  if (runtime == nullptr) table.problem += (table.problem.empty() ? "" : "; ") + runtime_problem;
  const bool usable = driver != nullptr && runtime != nullptr;
  const bool is_13 = table.runtime_version >= kCuda13;
#define CUDA_RUNTIME(name) find(table.name, runtime, SYMBOL_OF(name), usable);
#define CUDA_DRIVER(name) find(table.name, driver, SYMBOL_OF(name), usable);
#define CUDA_RUNTIME_AS(name, in_12, in_13, ...) find(table.name, runtime, is_13 ? in_13 : in_12, usable);
#define CUDA_DRIVER_AS(name, symbol, ...) find(table.name, driver, symbol, usable);
#include "hip/nvidia/cuda_functions.inc"
#undef CUDA_RUNTIME
#undef CUDA_DRIVER
#undef CUDA_RUNTIME_AS
#undef CUDA_DRIVER_AS
  return table;
}
#undef SYMBOL_OF

const Cuda& cuda() {
  static const Cuda table = [] {
    const sync::LockGuard lock(choice().mutex);
    choice().taken = true;
    return load_cuda(choice().libraries);
  }();
  return table;
}

bool choose_libraries(CudaLibraries libraries) {
  const sync::LockGuard lock(choice().mutex);
  if (choice().taken) return false;
  choice().libraries = std::move(libraries);
  return true;
}

const Cuda& cuda_with_context() {
  const Cuda& table = cuda();
  CUcontext current = nullptr;
  if (table.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr) return table;
  int device = 0;
  // cudaSetDevice makes the primary context current since CUDA 12. Its error is not this function's to tell: the
  // driver's function that follows fails for the same reason.
  if (table.cudaGetDevice(&device) == cudaSuccess) static_cast<void>(table.cudaSetDevice(device));
  return table;
}

}  // namespace nvidia
