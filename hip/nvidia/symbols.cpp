// Code, variables and kernels that a program registers as compilers let it (__hipRegister*); copies' places in
// variables.
#include "hip/nvidia/symbols.h"

#include <algorithm>
#include <climits>
#include <map>
#include <string>
#include <utility>

#include "hip/nvidia/code_objects.h"
#include "hip/nvidia/convert.h"
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/sync/sync.h"

namespace nvidia {
namespace {

namespace sync = hip::sync;

struct Code {
  CodeForCuda image;
  std::map<int, CUmodule> modules;  // by device; loaded for good
};

struct Variable {
  Code* code = nullptr;
  std::string name;
  std::map<int, DeviceVariable> places;  // by device
};

struct Kernel {
  Code* code = nullptr;
  std::string name;
  std::map<int, CUfunction> functions;  // by device
};

struct Registry {
  sync::Mutex mutex;
  std::map<void**, Code> codes;  // by the handle that the program was given
  std::map<const void*, Variable> variables;
  std::map<const void*, Kernel> kernels;             // by their host functions
  std::map<CUfunction, const void*> host_functions;  // of the kernels that were asked for
};
Registry& registry() {
  // Never destroyed: programs unregister their code while the process ends.
  static auto& all = *new Registry;
  return all;
}

// Allows the thread the calls that a capture prohibits (CUDA, cudaThreadExchangeStreamCaptureMode). The first query of
// a variable or a kernel may load a module in the middle of a capture, and loading is no work of the capture.
class RelaxedCapture {
 public:
  RelaxedCapture() { static_cast<void>(cuda().cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~RelaxedCapture() { static_cast<void>(cuda().cudaThreadExchangeStreamCaptureMode(&mode_)); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// The code's module on the current device, loaded at its first use.
hipError_t find_module(Code& code, int device, CUmodule& module) {
  CUmodule& loaded = code.modules[device];
  const hipError_t status =
      loaded != nullptr ? hipSuccess : to_hip(cuda_with_context().cuModuleLoadData(&loaded, code.image.image));
  module = loaded;
  return status;
}

hipError_t find_place(Variable& variable, int device, DeviceVariable& place) {
  const RelaxedCapture relaxed;
  CUmodule module = nullptr;
  if (const hipError_t code = find_module(*variable.code, device, module); code != hipSuccess) return code;
  CUdeviceptr address = 0;
  const hipError_t code =
      to_hip(cuda_with_context().cuModuleGetGlobal(&address, &place.size, module, variable.name.c_str()));
  place.address = static_cast<std::byte*>(to_pointer(address));
  return code == hipErrorNotFound ? hipErrorInvalidSymbol : code;
}

bool leads(Side side, hipMemcpyKind kind) {
  if (kind == hipMemcpyDefault || kind == hipMemcpyDeviceToDevice) return true;
  return kind == (side == Side::kTo ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost);
}

// The structure that compilers pass to __hipRegisterFatBinary (clang, CGCUDANV.cpp).
struct Wrapper {
  unsigned magic;
  unsigned version;
  const void* binary;
  void* unused;
};

}  // namespace

hipError_t find_variable(const void* symbol, DeviceVariable& variable) {
  Registry& all = registry();
  const sync::LockGuard lock(all.mutex);
  const auto found = all.variables.find(symbol);
  if (found == all.variables.end()) return hipErrorInvalidSymbol;
  Variable& known = found->second;
  if (known.code->image.refused != hipSuccess) return known.code->image.refused;
  int device = 0;
  if (const hipError_t code = to_hip(cuda().cudaGetDevice(&device)); code != hipSuccess) return code;
  const auto [place, fresh] = known.places.try_emplace(device);
  if (fresh) {
    if (const hipError_t code = find_place(known, device, place->second); code != hipSuccess) {
      known.places.erase(place);
      return code;
    }
  }
  variable = place->second;
  return hipSuccess;
}

hipError_t find_kernel(const void* host_function, CUfunction& function) {
  Registry& all = registry();
  const sync::LockGuard lock(all.mutex);
  const auto found = all.kernels.find(host_function);
  if (found == all.kernels.end()) return hipErrorInvalidDeviceFunction;
  Kernel& kernel = found->second;
  if (kernel.code->image.refused != hipSuccess) return kernel.code->image.refused;
  int device = 0;
  if (const hipError_t code = to_hip(cuda().cudaGetDevice(&device)); code != hipSuccess) return code;
  CUfunction& known = kernel.functions[device];
  if (known == nullptr) {
    const RelaxedCapture relaxed;
    CUmodule module = nullptr;
    hipError_t code = find_module(*kernel.code, device, module);
    if (code == hipSuccess) code = to_hip(cuda_with_context().cuModuleGetFunction(&known, module, kernel.name.c_str()));
    if (code != hipSuccess) return code == hipErrorNotFound ? hipErrorInvalidDeviceFunction : code;
    all.host_functions[known] = host_function;
  }
  function = known;
  return hipSuccess;
}

void* as_registered(CUfunction function) {
  Registry& all = registry();
  const sync::LockGuard lock(all.mutex);
  const auto found = all.host_functions.find(function);
  return found == all.host_functions.end() ? function : const_cast<void*>(found->second);
}

static bool is_registered(const void* host_function) {
  Registry& all = registry();
  const sync::LockGuard lock(all.mutex);
  return all.kernels.contains(host_function);
}

CUfunction function_of(void* kernel) {
  if (!is_registered(kernel)) return static_cast<CUfunction>(kernel);
  CUfunction function = nullptr;
  static_cast<void>(find_kernel(kernel, function));
  return function;
}

void forget_modules(int device) {
  Registry& all = registry();
  const sync::LockGuard lock(all.mutex);
  for (auto& [handle, code] : all.codes) code.modules.erase(device);
  for (auto& [symbol, variable] : all.variables) variable.places.erase(device);
  for (auto& [host_function, kernel] : all.kernels) {
    const auto function = kernel.functions.find(device);
    if (function == kernel.functions.end()) continue;
    all.host_functions.erase(function->second);
    kernel.functions.erase(function);
  }
}

hipError_t find_in_variable(Side side, const void* symbol, std::size_t size, std::size_t offset, hipMemcpyKind kind,
                            std::byte*& place) {
  if (!leads(side, kind)) return hipErrorInvalidMemcpyDirection;
  DeviceVariable variable;
  if (const hipError_t code = find_variable(symbol, variable); code != hipSuccess) return code;
  if (offset > variable.size || size > variable.size - offset) return hipErrorInvalidValue;
  place = variable.address + offset;
  return hipSuccess;
}

extern "C" {

hipError_t hipGetSymbolAddress(void** pointer, const void* symbol) {
  DeviceVariable variable;
  if (pointer == nullptr) return refuse(hipErrorInvalidValue);
  if (const hipError_t code = find_variable(symbol, variable); code != hipSuccess) return refuse(code);
  *pointer = variable.address;
  return hipSuccess;
}
hipError_t hipGetSymbolSize(size_t* bytes, const void* symbol) {
  DeviceVariable variable;
  if (bytes == nullptr) return refuse(hipErrorInvalidValue);
  if (const hipError_t code = find_variable(symbol, variable); code != hipSuccess) return refuse(code);
  *bytes = variable.size;
  return hipSuccess;
}

// The handle lives until it is given back. Code for AMD's GPUs may be registered; its variables are refused when a
// program asks for one, because a program may have code that it never uses.
void** __hipRegisterFatBinary(const void* data) {
  const auto* wrapper = static_cast<const Wrapper*>(data);
  Registry& all = registry();
  const sync::LockGuard lock(all.mutex);
  auto** const handle = new void*(nullptr);
  all.codes[handle].image = code_for_cuda(wrapper->binary);
  return handle;
}
void __hipRegisterVar(void** handle, void* shadow, char* /*name*/, char* device_name, int /*external*/,
                      size_t /*bytes*/, int /*constant*/, int /*global*/) {
  Registry& all = registry();
  const sync::LockGuard lock(all.mutex);
  const auto code = all.codes.find(handle);
  if (code != all.codes.end()) all.variables[shadow] = {&code->second, device_name, {}};
}
void __hipUnregisterFatBinary(void** handle) {
  Registry& all = registry();
  const sync::LockGuard lock(all.mutex);
  const auto code = all.codes.find(handle);
  if (code == all.codes.end()) return;
  const auto of_code = [&](const auto& entry) { return entry.second.code == &code->second; };
  std::erase_if(all.variables, of_code);
  std::erase_if(all.host_functions, [&](const auto& entry) {
    const auto kernel = all.kernels.find(entry.second);
    return kernel != all.kernels.end() && of_code(*kernel);
  });
  std::erase_if(all.kernels, of_code);
  all.codes.erase(code);
  delete handle;
}
void __hipRegisterFunction(void** handle, const void* host_function, char* /*name*/, const char* device_name,
                           unsigned /*limit*/, void* /*thread*/, void* /*block*/, void* /*dim_block*/,
                           void* /*dim_grid*/, int* /*wave_size*/) {
  Registry& all = registry();
  const sync::LockGuard lock(all.mutex);
  const auto code = all.codes.find(handle);
  if (code != all.codes.end()) all.kernels[host_function] = {&code->second, device_name, {}};
}
hipError_t hipLaunchKernel(const void* host_function, hip_dim3 grid, hip_dim3 block, void** params, size_t shared_bytes,
                           hipStream_t stream) {
  CUfunction function = nullptr;
  if (const hipError_t code = find_kernel(host_function, function); code != hipSuccess) return refuse(code);
  return answer(cuda_with_context().cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                   static_cast<unsigned>(std::min<size_t>(shared_bytes, UINT_MAX)),
                                                   to_cuda(stream), params, nullptr));
}
hipError_t hipLaunchCooperativeKernel(const void* host_function, hip_dim3 grid, hip_dim3 block, void** params,
                                      unsigned shared_bytes, hipStream_t stream) {
  CUfunction function = nullptr;
  if (const hipError_t code = find_kernel(host_function, function); code != hipSuccess) return refuse(code);
  return answer(cuda_with_context().cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y,
                                                              block.z, shared_bytes, to_cuda(stream), params));
}
// Managed variables of AMD's code are taken and not known.
void __hipRegisterManagedVar(void* /*handle*/, void** /*pointer*/, void* /*initial*/, const char* /*name*/,
                             size_t /*bytes*/, unsigned /*alignment*/) {}

}  // extern "C"
}  // namespace nvidia
