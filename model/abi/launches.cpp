// Kernel launches of programs with device code of their own, libhgmodel.so only. Sources: HIP's header documentation;
// catch/unit/kernel and catch/unit/cooperativeGrps; clr's hip_module.cpp and hip_platform.cpp.
#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

#include "model/abi/convert.h"
#include "model/abi/registration.h"

namespace model::abi {
namespace {

// The configuration between <<< and >>>, on its way to the host function that launches the kernel. Configurations nest
// where an argument launches another kernel. Nothing here has a destructor, because programs launch kernels from their
// destructors.
struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  hipStream_t stream;
  std::vector<std::byte>* arguments;  // set by hipSetupArgument, the older interface; owned until the launch
};
static_assert(std::is_trivially_destructible_v<Configuration>);
constexpr std::size_t kMaxConfigurations = 32;
thread_local Configuration configurations[kMaxConfigurations];
thread_local std::size_t configured = 0;

constexpr std::size_t kMaxSetupBytes = 1 << 16;  // of the arguments of one launch

Dim3 to_model(const dim3& d) {
  return {d.x, d.y, d.z};
}

Status record(State& state, hipEvent_t event, Stream& stream) {
  if (event == nullptr) return Status::kSuccess;
  Event* found = find(state, event);
  return found == nullptr ? Status::kInvalidHandle : state.runtime.record(*found, stream);
}

struct Launch {
  LaunchShape shape;
  void** kernel_params = nullptr;
  void** extra = nullptr;
  hipEvent_t start = nullptr, stop = nullptr;
};

Status launch(State& state, const Function& function, Stream& stream, const Launch& what) {
  if (!runs_at_once(*function.kernel()->kernel, what.shape)) return Status::kCooperativeLaunchTooLarge;
  KernelParams kernel;
  kernel.function = function.kernel();
  kernel.shape = what.shape;
  const Status packed = pack(*function.kernel()->kernel, what.kernel_params, what.extra, &kernel.arguments);
  if (packed != Status::kSuccess) return packed;
  if (const Status status = record(state, what.start, stream); status != Status::kSuccess) return status;
  const Status status = state.runtime.enqueue(stream, std::move(kernel));
  return status != Status::kSuccess ? status : record(state, what.stop, stream);
}

hipError_t launch_host_function(const void* function, hipStream_t stream, const Launch& what) {
  return call([&](State& state) {
    Stream* on = find(state, stream);
    if (on == nullptr) return Status::kContextIsDestroyed;
    Status status = Status::kSuccess;
    const Function* found = find_kernel(state, function, on->device(), &status);
    return found == nullptr ? status : launch(state, *found, *on, what);
  });
}

hipError_t launch_function(hipFunction_t function, hipStream_t stream, const Launch& what) {
  return call([&](State& state) {
    const Function* found = find_kernel(state, function);
    if (found == nullptr) return Status::kInvalidHandle;
    Stream* on = find(state, stream);
    return on == nullptr ? Status::kContextIsDestroyed : launch(state, *found, *on, what);
  });
}

Launch shaped(const dim3& grid, const dim3& block, std::size_t shared_bytes, bool cooperative = false) {
  Launch what;
  what.shape.grid = to_model(grid);
  what.shape.block = to_model(block);
  what.shape.shared_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(shared_bytes, UINT32_MAX));
  what.shape.cooperative = cooperative;
  return what;
}

// hipExtModuleLaunchKernel counts work items, not blocks.
hipError_t launch_work_items(hipFunction_t function, const dim3& items, const dim3& block, std::size_t shared_bytes,
                             hipStream_t stream, Launch what) {
  if (block.x == 0 || block.y == 0 || block.z == 0) return hipErrorInvalidValue;
  if (items.x % block.x != 0 || items.y % block.y != 0 || items.z % block.z != 0) return hipErrorInvalidValue;
  what.shape = shaped(dim3(items.x / block.x, items.y / block.y, items.z / block.z), block, shared_bytes).shape;
  return launch_function(function, stream, what);
}

template <class Attributes>
bool is_cooperative(const Attributes* attributes, unsigned count) {
  for (unsigned i = 0; attributes != nullptr && i < count; ++i) {
    if (attributes[i].id == hipLaunchAttributeCooperative && attributes[i].val.cooperative != 0) return true;
  }
  return false;
}

}  // namespace
}  // namespace model::abi

using namespace model;
using namespace model::abi;

extern "C" {

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, hipStream_t stream) {
  if (configured == kMaxConfigurations) return hipErrorOutOfMemory;
  configurations[configured++] = {grid, block, shared_bytes, stream, nullptr};
  return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, hipStream_t* stream) {
  if (configured == 0) return hipErrorMissingConfiguration;
  const Configuration& last = configurations[--configured];
  *grid = last.grid, *block = last.block, *shared_bytes = last.shared_bytes, *stream = last.stream;
  return hipSuccess;
}

hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared_bytes, hipStream_t stream) {
  return __hipPushCallConfiguration(grid, block, shared_bytes, stream);
}

hipError_t hipSetupArgument(const void* argument, size_t size, size_t offset) {
  if (configured == 0) return hipErrorMissingConfiguration;
  if (argument == nullptr || offset > kMaxSetupBytes || size > kMaxSetupBytes) return hipErrorInvalidValue;
  Configuration& last = configurations[configured - 1];
  if (last.arguments == nullptr) last.arguments = new std::vector<std::byte>;
  std::vector<std::byte>& arguments = *last.arguments;
  arguments.resize(std::max(arguments.size(), offset + size));
  std::copy_n(static_cast<const std::byte*>(argument), size, arguments.begin() + static_cast<std::ptrdiff_t>(offset));
  return hipSuccess;
}

hipError_t hipLaunchByPtr(const void* function) {
  if (configured == 0) return hipErrorMissingConfiguration;
  const Configuration& last = configurations[--configured];
  const std::unique_ptr<std::vector<std::byte>> arguments(last.arguments);
  std::size_t size = arguments == nullptr ? 0 : arguments->size();
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, size == 0 ? nullptr : arguments->data(),
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  Launch what = shaped(last.grid, last.block, last.shared_bytes);
  if (size != 0) what.extra = extra;
  return launch_host_function(function, last.stream, what);
}

hipError_t hipExtLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                              hipStream_t stream, hipEvent_t start, hipEvent_t stop, int) {
  Launch what = shaped(grid, block, shared_bytes);
  what.kernel_params = arguments, what.start = start, what.stop = stop;
  return launch_host_function(function, stream, what);
}

hipError_t hipLaunchKernelExC(const hipLaunchConfig_t* config, const void* function, void** arguments) {
  if (config == nullptr || function == nullptr) return hipErrorInvalidValue;
  Launch what = shaped(config->gridDim, config->blockDim, config->dynamicSmemBytes,
                       is_cooperative(config->attrs, config->numAttrs));
  what.kernel_params = arguments;
  return launch_host_function(function, config->stream, what);
}

hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG* config, hipFunction_t function, void** arguments,
                                void** extra) {
  if (config == nullptr) return hipErrorInvalidValue;
  Launch what = shaped(dim3(config->gridDimX, config->gridDimY, config->gridDimZ),
                       dim3(config->blockDimX, config->blockDimY, config->blockDimZ), config->sharedMemBytes,
                       is_cooperative(config->attrs, config->numAttrs));
  what.kernel_params = arguments, what.extra = extra;
  return launch_function(function, config->hStream, what);
}

hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t items_x, uint32_t items_y, uint32_t items_z,
                                    uint32_t block_x, uint32_t block_y, uint32_t block_z, size_t shared_bytes,
                                    hipStream_t stream, void** arguments, void** extra, hipEvent_t start,
                                    hipEvent_t stop, uint32_t) {
  Launch what;
  what.kernel_params = arguments, what.extra = extra, what.start = start, what.stop = stop;
  return launch_work_items(function, dim3(items_x, items_y, items_z), dim3(block_x, block_y, block_z), shared_bytes,
                           stream, what);
}

// The names that C++ programs of older releases ask for.
hipError_t _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
    hipFunction_t function, uint32_t items_x, uint32_t items_y, uint32_t items_z, uint32_t block_x, uint32_t block_y,
    uint32_t block_z, size_t shared_bytes, hipStream_t stream, void** arguments, void** extra, hipEvent_t start,
    hipEvent_t stop, uint32_t flags) {
  return hipExtModuleLaunchKernel(function, items_x, items_y, items_z, block_x, block_y, block_z, shared_bytes, stream,
                                  arguments, extra, start, stop, flags);
}

hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t items_x, uint32_t items_y, uint32_t items_z,
                                    uint32_t block_x, uint32_t block_y, uint32_t block_z, size_t shared_bytes,
                                    hipStream_t stream, void** arguments, void** extra, hipEvent_t start,
                                    hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, items_x, items_y, items_z, block_x, block_y, block_z, shared_bytes, stream,
                                  arguments, extra, start, stop, 0);
}

hipError_t _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_(
    hipFunction_t function, uint32_t items_x, uint32_t items_y, uint32_t items_z, uint32_t block_x, uint32_t block_y,
    uint32_t block_z, size_t shared_bytes, hipStream_t stream, void** arguments, void** extra, hipEvent_t start,
    hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, items_x, items_y, items_z, block_x, block_y, block_z, shared_bytes, stream,
                                  arguments, extra, start, stop, 0);
}

hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* symbol) {
  return call([&](State& state) {
    if (function == nullptr) return Status::kInvalidValue;
    Status status = Status::kSuccess;
    const Function* found = registered_kernel(state, symbol, state.thread->device, &status);
    if (found == nullptr) return Status::kInvalidDeviceFunction;
    return put(function, to_handle<hipFunction_t>(found->id()));
  });
}

const char* hipKernelNameRefByPtr(const void* function, hipStream_t) {
  return registered_name(function);
}

}  // extern "C"
