// Modules, their functions and variables, and launches, as HIP's C functions over CUDA's driver. CUDA's answers, but
// for code of AMD's GPUs (code_objects.h).
//
// Sources: HIP 7.2's header documentation (group Module); CUDA's documentation of module management and execution
// control.
#include <cstdio>
#include <memory>
#include <vector>

#include "hip/nvidia/code_objects.h"
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"

namespace nvidia {
namespace {

// CUDA has options of its own between HIP's; AMD's, from 10000 on, are passed on, and CUDA refuses them.
CUjit_option to_driver(hipJitOption option) {
  static_assert(static_cast<int>(hipJitOptionFma) == CU_JIT_FMA);
  switch (option) {
    case hipJitOptionPositionIndependentCode:
      return CU_JIT_POSITION_INDEPENDENT_CODE;
    case hipJitOptionMinCTAPerSM:
      return CU_JIT_MIN_CTA_PER_SM;
    case hipJitOptionMaxThreadsPerBlock:
      return CU_JIT_MAX_THREADS_PER_BLOCK;
    case hipJitOptionOverrideDirectiveValues:
      return CU_JIT_OVERRIDE_DIRECTIVE_VALUES;
    default:
      return same_number<CUjit_option>(option);
  }
}

// A whole file and a zero behind it, as PTX wants; empty where it cannot be read.
std::vector<std::byte> bytes_of(const char* path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "rb"), &std::fclose);
  std::vector<std::byte> bytes;
  std::byte part[4096];
  while (file != nullptr) {
    const std::size_t got = std::fread(part, 1, sizeof part, file.get());
    if (got == 0) break;
    bytes.insert(bytes.end(), part, part + got);
  }
  if (!bytes.empty()) bytes.push_back(std::byte{0});
  return bytes;
}

}  // namespace

extern "C" {

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  const CodeForCuda code = code_for_cuda(image);
  if (code.refused != hipSuccess) return refuse(code.refused);
  return answer(cuda_with_context().cuModuleLoadData(to_cuda(module), code.image));
}
hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned count, hipJitOption* options,
                               void** values) {
  const CodeForCuda code = code_for_cuda(image);
  if (code.refused != hipSuccess) return refuse(code.refused);
  std::vector<CUjit_option> given;
  for (unsigned i = 0; options != nullptr && i < count; ++i) given.push_back(to_driver(options[i]));
  return answer(cuda_with_context().cuModuleLoadDataEx(to_cuda(module), code.image, count,
                                                       options == nullptr ? nullptr : given.data(), values));
}
// A file that cannot be read is CUDA's to refuse.
hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  const std::vector<std::byte> bytes = path == nullptr ? std::vector<std::byte>{} : bytes_of(path);
  if (bytes.size() < 64) return answer(cuda_with_context().cuModuleLoad(to_cuda(module), path));
  return hipModuleLoadData(module, bytes.data());
}
hipError_t hipModuleUnload(hipModule_t module) {
  return answer(cuda_with_context().cuModuleUnload(to_cuda(module)));
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return answer(cuda_with_context().cuModuleGetFunction(to_cuda(function), to_cuda(module), name));
}
hipError_t hipModuleGetFunctionCount(unsigned* count, hipModule_t module) {
  return answer(cuda_with_context().cuModuleGetFunctionCount(count, to_cuda(module)));
}
hipError_t hipModuleGetGlobal(hipDeviceptr_t* pointer, size_t* bytes, hipModule_t module, const char* name) {
  return answer(
      cuda_with_context().cuModuleGetGlobal(reinterpret_cast<CUdeviceptr*>(pointer), bytes, to_cuda(module), name));
}

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t function) {
  static_assert(static_cast<int>(HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) ==
                CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  return answer(
      cuda_with_context().cuFuncGetAttribute(value, same_number<CUfunction_attribute>(attribute), to_cuda(function)));
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 hipStream_t stream, void** params, void** extra) {
  ExtraList list(extra);
  return answer(cuda_with_context().cuLaunchKernel(to_cuda(function), grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                                   shared_bytes, to_cuda(stream), params, list.get()));
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                            hipStream_t stream, void** params) {
  return answer(cuda_with_context().cuLaunchCooperativeKernel(to_cuda(function), grid_x, grid_y, grid_z, block_x,
                                                              block_y, block_z, shared_bytes, to_cuda(stream), params));
}

}  // extern "C"
}  // namespace nvidia
