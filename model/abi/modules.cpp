// Modules, kernel launches and host functions. Sources: HIP's header documentation; catch/unit/module
// (ModuleLaunchKernelNegativeParameters: a null function is hipErrorInvalidResourceHandle); clr's hip_module.cpp.
#include <algorithm>
#include <cstdio>

#include "model/abi/convert.h"

namespace model::abi {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 32;

// `image`: a pointer to an image whose headers tell its length, or a span.
template <class Image>
Status load(State& state, hipModule_t* module, Image image) {
  Module* loaded = nullptr;
  const Status status = load_module(state, image, state.thread->device, &loaded);
  if (status == Status::kSuccess) *module = to_handle<hipModule_t>(loaded->id());
  return status;
}

hipError_t load_data(hipModule_t* module, const void* image) {
  return call([&](State& state) {
    if (module == nullptr || image == nullptr) return Status::kInvalidValue;
    return load(state, module, image);
  });
}

bool read_file(const char* path, std::vector<std::byte>* bytes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "rb"), &std::fclose);
  if (file == nullptr) return false;
  std::byte chunk[65536];
  for (std::size_t got = sizeof chunk; got == sizeof chunk && bytes->size() < kMaxFileBytes;) {
    got = std::fread(chunk, 1, sizeof chunk, file.get());
    bytes->insert(bytes->end(), chunk, chunk + got);
  }
  return std::ferror(file.get()) == 0;
}

struct Shape {
  dim3 grid, block;
  std::size_t shared_bytes;
  bool cooperative = false;
};
Status launch(State& state, const Function& function, Stream& stream, const Shape& shape, void** params, void** extra) {
  const auto& [grid, block, shared_bytes, cooperative] = shape;
  KernelParams kernel;
  kernel.function = function.kernel();
  kernel.shape = {{grid.x, grid.y, grid.z},
                  {block.x, block.y, block.z},
                  static_cast<std::uint32_t>(std::min<std::size_t>(shared_bytes, UINT32_MAX)),
                  cooperative};
  if (!runs_at_once(*function.kernel()->kernel, kernel.shape)) return Status::kCooperativeLaunchTooLarge;
  const Status packed = pack(*function.kernel()->kernel, params, extra, &kernel.arguments);
  return packed != Status::kSuccess ? packed : state.runtime.enqueue(stream, std::move(kernel));
}

// A host function stands for its kernel on the stream's device (HIP: a kernel runs on the device of its stream).
hipError_t launch_host_function(const void* function, const Shape& shape, void** arguments, hipStream_t stream) {
  return call([&](State& state) {
    Stream* on = find(state, stream);
    if (on == nullptr) return Status::kContextIsDestroyed;
    Status status = Status::kSuccess;
    const Function* found = find_kernel(state, function, on->device(), &status);
    return found == nullptr ? status : launch(state, *found, *on, shape, arguments, nullptr);
  });
}

// The arguments of hipStreamAddCallback, until the callback has run.
struct Callback {
  hipStreamCallback_t function;
  hipStream_t stream;
  void* user_data;
};

void run_callback(void* data) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
  callback->function(callback->stream, hipSuccess, callback->user_data);
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return load_data(module, image);
}

hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned int, hipJitOption*, void**) {
  return load_data(module, image);
}

hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  return call([&](State& state) {
    if (module == nullptr || path == nullptr || *path == '\0') return Status::kInvalidValue;
    std::vector<std::byte> bytes;
    if (!read_file(path, &bytes)) return Status::kFileNotFound;
    return load(state, module, std::span<const std::byte>(bytes));
  });
}

// An unsafe call while a stream captures, as every call that frees memory. Loading is not one: kernels that a capture
// needs first may be loaded in it (CUDA's documentation of lazy loading). 7.2, and CUDA 13.0 on an H200, do both alike.
hipError_t hipModuleUnload(hipModule_t module) {
  return teardown([&](State& state) {
    Module* found = find(state, module);
    if (found == nullptr) return module == nullptr ? Status::kInvalidHandle : Status::kNotFound;
    if (const Status refused = refuse_unsafe_call(state); refused != Status::kSuccess) return refused;
    unload_module(state, *found);
    return Status::kSuccess;
  });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return call([&](State& state) {
    if (function == nullptr || name == nullptr || *name == '\0') return Status::kInvalidValue;
    const Module* in = find(state, module);
    if (in == nullptr) return module == nullptr ? Status::kInvalidHandle : Status::kNotFound;
    const Function* found = in->find(name);
    if (found == nullptr) return Status::kNotFound;
    return put(function, to_handle<hipFunction_t>(found->id()));
  });
}

hipError_t hipModuleGetFunctionCount(unsigned int* count, hipModule_t module) {
  return call([&](State& state) {
    if (count == nullptr) return Status::kInvalidValue;
    const Module* in = find(state, module);
    if (in == nullptr) return Status::kInvalidHandle;
    return put(count, static_cast<unsigned int>(in->function_count()));
  });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, size_t* bytes, hipModule_t module, const char* name) {
  return call([&](State& state) {
    if (name == nullptr || *name == '\0') return Status::kInvalidValue;
    const Module* in = find(state, module);
    if (in == nullptr) return module == nullptr ? Status::kInvalidHandle : Status::kNotFound;
    Status status = Status::kSuccess;
    const auto variable = find_variable(state, *in, name, &status);
    if (!variable) return status != Status::kSuccess ? status : Status::kNotFound;
    if (address != nullptr) *address = to_pointer(variable->address);
    if (bytes != nullptr) *bytes = variable->size;
    return Status::kSuccess;
  });
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                 unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                 unsigned int shared_bytes, hipStream_t stream, void** kernel_params, void** extra) {
  return call_on(function, [&](State& state, const Function& found) {
    Stream* on = find(state, stream);
    if (on == nullptr) return Status::kContextIsDestroyed;
    const Shape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
    return launch(state, found, *on, shape, kernel_params, extra);
  });
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y,
                                            unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                            unsigned int block_z, unsigned int shared_bytes, hipStream_t stream,
                                            void** kernel_params) {
  return call_on(function, [&](State& state, const Function& found) {
    Stream* on = find(state, stream);
    if (on == nullptr) return Status::kContextIsDestroyed;
    const Shape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, true};
    return launch(state, found, *on, shape, kernel_params, nullptr);
  });
}

hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                           hipStream_t stream) {
  return launch_host_function(function, {grid, block, shared_bytes}, arguments, stream);
}

hipError_t hipLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                      unsigned int shared_bytes, hipStream_t stream) {
  return launch_host_function(function, {grid, block, shared_bytes, true}, arguments, stream);
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* user_data) {
  return call([&](State& state) {
    if (function == nullptr) return Status::kInvalidValue;
    Stream* on = find(state, stream);
    if (on == nullptr) return Status::kContextIsDestroyed;
    return state.runtime.enqueue(*on, HostParams{function, user_data});
  });
}

// The callback runs like a host function. After a fault it never runs, like all pending work.
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* user_data, unsigned int flags) {
  return call([&](State& state) {
    if (callback == nullptr || flags != 0) return Status::kInvalidValue;
    Stream* on = find(state, stream);
    if (on == nullptr) return Status::kContextIsDestroyed;
    if (const Status refused = state.runtime.refuse_while_capturing(*on); refused != Status::kSuccess) return refused;
    auto held = std::make_unique<Callback>(Callback{callback, stream, user_data});
    const Status status = state.runtime.enqueue(*on, HostParams{&run_callback, held.get()});
    if (status == Status::kSuccess) static_cast<void>(held.release());
    return status;
  });
}

HGMODEL_FUNCTIONS_END
