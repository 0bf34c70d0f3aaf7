// Modules, launches and variables of device code: the code that CUDA gets, and the calls that are refused.
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "hip/kernels/device_kernels.h"
#include "hip/kernels/ptx_kernels.h"
#include "nvidia/calls_fixture.h"

extern "C" {
void** __hipRegisterFatBinary(const void* data);
void __hipRegisterVar(void** handle, void* shadow, char* name, char* device_name, int external, size_t bytes,
                      int constant, int global);
void __hipRegisterFunction(void** handle, const void* host_function, char* name, const char* device_name,
                           unsigned limit, void* thread, void* block, void* dim_block, void* dim_grid, int* wave_size);
void __hipUnregisterFatBinary(void** handle);
}

namespace nvidia {
namespace {

std::vector<std::byte> own_code() {
  const std::span<const std::byte> own = hg::device_code_object();
  return {own.begin(), own.end()};
}

std::vector<std::byte> code_of_somebody_else() {
  std::vector<std::byte> code = own_code();
  code[code.size() / 2] ^= std::byte{1};
  return code;
}

// A bundle as clang's offload bundler makes it: an entry of no bytes for the host, one for the device.
std::vector<std::byte> bundle(const std::vector<std::byte>& code) {
  std::vector<std::byte> bytes;
  const auto append = [&](const void* from, std::size_t size) {
    const auto* raw = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), raw, raw + size);
  };
  const auto append_entry = [&](std::uint64_t size, const std::string& target) {
    const std::uint64_t numbers[] = {512, size, target.size()};
    append(numbers, sizeof numbers);
    append(target.data(), target.size());
  };
  const std::uint64_t entries = 2;
  append("__CLANG_OFFLOAD_BUNDLE__", 24);
  append(&entries, sizeof entries);
  append_entry(0, "host-x86_64-unknown-linux--");
  append_entry(code.size(), "hipv4-amdgcn-amd-amdhsa--gfx942");
  bytes.resize(512);
  append(code.data(), code.size());
  return bytes;
}

class Modules : public CallsTest {
 protected:
  hipError_t load(const void* image) { return hipModuleLoadData(&module_, image); }
  // The text that CUDA got: the library has a copy of its own.
  std::string loaded() { return reinterpret_cast<const char*>(last("cuModuleLoadData").word(1)); }
  hipModule_t module_ = nullptr;
};

TEST_F(Modules, TheProjectsOwnCodeIsLoadedAsPtx) {
  const std::vector<std::byte> code = own_code(), bundled = bundle(code);
  for (const std::vector<std::byte>* image : {&code, &bundled}) {
    EXPECT_EQ(load(image->data()), hipSuccess);
    EXPECT_EQ(loaded(), hg::ptx_kernels());
  }
  EXPECT_EQ(hipModuleUnload(module_), hipSuccess);
  EXPECT_EQ(cuda().alive["module"], 1);
}

TEST_F(Modules, OtherCodeForAmdsGpusIsRefusedByName) {
  const std::vector<std::byte> code = code_of_somebody_else(), bundled = bundle(code);
  const char compressed[64] = "CCOB";
  for (const void* image : {static_cast<const void*>(code.data()), static_cast<const void*>(bundled.data()),
                            static_cast<const void*>(compressed)}) {
    EXPECT_EQ(load(image), hipErrorNoBinaryForGpu);
    EXPECT_EQ(hipGetLastError(), hipErrorNoBinaryForGpu);
    EXPECT_EQ(hipModuleLoadDataEx(&module_, image, 0, nullptr, nullptr), hipErrorNoBinaryForGpu);
  }
  EXPECT_FALSE(cuda().was_called("cuModuleLoadData"));
  EXPECT_FALSE(cuda().was_called("cuModuleLoadDataEx"));
}

TEST_F(Modules, OtherImagesAndNullAreCudasToJudge) {
  for (const char* image : {".version 8.0\n.target sm_90\n", "x", static_cast<const char*>(nullptr)}) {
    EXPECT_EQ(load(image), hipSuccess);
    EXPECT_EQ(last("cuModuleLoadData").word(1), at(image));
  }
}

TEST_F(Modules, AFileIsJudgedByWhatIsInIt) {
  const std::string path = testing::TempDir() + "hgcheck-code.co";
  const auto write = [&path](const std::vector<std::byte>& code) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(code.data()), static_cast<std::streamsize>(code.size()));
  };
  write(code_of_somebody_else());
  EXPECT_EQ(hipModuleLoad(&module_, path.c_str()), hipErrorNoBinaryForGpu);
  write(own_code());
  EXPECT_EQ(hipModuleLoad(&module_, path.c_str()), hipSuccess);
  EXPECT_EQ(loaded(), hg::ptx_kernels());
  cuda().answers["cuModuleLoad"] = CUDA_ERROR_FILE_NOT_FOUND;
  EXPECT_EQ(hipModuleLoad(&module_, "/nowhere/at.all"), hipErrorFileNotFound);
}

TEST_F(Modules, OptionsOfTheCompilerGetCudasNumbers) {
  std::array<hipJitOption, 2> options{hipJitOptionOptimizationLevel, hipJitOptionMaxThreadsPerBlock};
  std::array<void*, 2> values{};
  ASSERT_EQ(hipModuleLoadDataEx(&module_, "x", 2, options.data(), values.data()), hipSuccess);
  const stub::Call& call = last("cuModuleLoadDataEx");
  EXPECT_EQ(call.word(2), 2U);
  EXPECT_EQ(call.pointee<CUjit_option>(3), CU_JIT_OPTIMIZATION_LEVEL);
  EXPECT_EQ(call.word(4), at(values.data()));
  ASSERT_EQ(hipModuleLoadDataEx(&module_, "x", 1, &options[1], values.data()), hipSuccess);
  EXPECT_EQ(last("cuModuleLoadDataEx").pointee<CUjit_option>(3), CU_JIT_MAX_THREADS_PER_BLOCK);
}

TEST_F(Modules, FunctionsVariablesAndLaunchesArePassedOn) {
  const auto module = handle<hipModule_t>(0x700);
  const auto function = handle<hipFunction_t>(0x800);
  hipFunction_t found = nullptr;
  hipDeviceptr_t place = nullptr;
  std::size_t bytes = 0;
  unsigned count = 0;
  int value = 0;
  void* params[1] = {};
  const char* name = "axpy_u64";
  expect("cuModuleGetFunction", {at(&found), 0x700, at(name)},
         [&] { return hipModuleGetFunction(&found, module, name); });
  expect("cuModuleGetFunctionCount", {at(&count), 0x700}, [&] { return hipModuleGetFunctionCount(&count, module); });
  expect("cuModuleGetGlobal", {at(&place), at(&bytes), 0x700, at(name)},
         [&] { return hipModuleGetGlobal(&place, &bytes, module, name); });
  expect("cuFuncGetAttribute", {at(&value), CU_FUNC_ATTRIBUTE_NUM_REGS, 0x800},
         [&] { return hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, function); });
  expect("cuLaunchKernel", {0x800, 1, 2, 3, 4, 5, 6, 7, at(kStream), at(params), 0},
         [&] { return hipModuleLaunchKernel(function, 1, 2, 3, 4, 5, 6, 7, kStream, params, nullptr); });
  expect("cuLaunchCooperativeKernel", {0x800, 1, 2, 3, 4, 5, 6, 7, at(kStream), at(params)},
         [&] { return hipModuleLaunchCooperativeKernel(function, 1, 2, 3, 4, 5, 6, 7, kStream, params); });
  std::array<void*, 5> extra{HIP_LAUNCH_PARAM_BUFFER_POINTER, params, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                             HIP_LAUNCH_PARAM_END};
  ASSERT_EQ(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, kStream, nullptr, extra.data()), hipSuccess);
  EXPECT_NE(last("cuLaunchKernel").word(10), 0U);
  EXPECT_NE(last("cuLaunchKernel").word(10), at(extra.data()));
}

// ---- variables that a program registers

class Variables : public Modules {
 protected:
  static constexpr std::uint64_t kPlace = 0x7000;
  static constexpr std::size_t kBytes = 1024;

  void SetUp() override {
    Modules::SetUp();
    cuda().give("cuModuleGetGlobal", 0, CUdeviceptr{kPlace});
    cuda().give("cuModuleGetGlobal", 1, kBytes);
  }
  void TearDown() override {
    if (handle_ != nullptr) __hipUnregisterFatBinary(handle_);
  }
  void register_code(std::vector<std::byte> code) {
    code_ = bundle(code);
    wrapper_.binary = code_.data();
    handle_ = __hipRegisterFatBinary(&wrapper_);
    std::string name = "hg_symbol0";
    __hipRegisterVar(handle_, &shadow_, name.data(), name.data(), 0, kBytes, 0, 0);
  }
  struct {
    unsigned magic = 0x48495046;  // "HIPF"
    unsigned version = 1;
    const void* binary = nullptr;
    void* unused = nullptr;
  } wrapper_;
  std::vector<std::byte> code_;
  void** handle_ = nullptr;
  char shadow_ = 0;
  const void* symbol_ =
      &shadow_;  // as void: for other types HIP's header has a template that takes the variable itself
};

TEST_F(Variables, AreFoundInTheProjectsPtxWhichIsLoadedOnceADevice) {
  register_code(own_code());
  EXPECT_FALSE(cuda().was_called("cuModuleLoadData")) << "code that nobody asks for is not loaded";
  void* place = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(hipGetSymbolAddress(&place, symbol_), hipSuccess);
  EXPECT_EQ(hipGetSymbolSize(&bytes, symbol_), hipSuccess);
  EXPECT_EQ(at(place), kPlace);
  EXPECT_EQ(bytes, kBytes);
  EXPECT_EQ(loaded(), hg::ptx_kernels());
  const auto loads = [this] {
    return std::ranges::count_if(cuda().calls,
                                 [](const stub::Call& call) { return call.function == "cuModuleLoadData"; });
  };
  EXPECT_EQ(loads(), 1);
  cuda().give("cudaGetDevice", 0, 1);
  EXPECT_EQ(hipGetSymbolSize(&bytes, symbol_), hipSuccess);
  EXPECT_EQ(loads(), 2);
}

class Kernels : public Variables {
 protected:
  static constexpr std::uint64_t kFunction = 0x800;

  void register_kernel(const std::vector<std::byte>& code) {
    register_code(code);
    std::string name = "axpy_u64";
    __hipRegisterFunction(handle_, &host_function_, name.data(), name.c_str(), ~0U, nullptr, nullptr, nullptr, nullptr,
                          nullptr);
    cuda().give("cuModuleGetFunction", 0, handle<CUfunction>(kFunction));
  }
  hipError_t launch() { return hipLaunchKernel(symbol(), hip_dim3{1, 2, 3}, hip_dim3{4, 5, 6}, params_, 7, kStream); }
  void* symbol() { return &host_function_; }
  char host_function_ = 0;
  void* params_[1] = {};
  hipGraphNode_t node_ = nullptr;
};

TEST_F(Kernels, AreLaunchedByTheirHostFunctions) {
  EXPECT_EQ(launch(), hipErrorInvalidDeviceFunction) << "nobody registered it";
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDeviceFunction);
  register_kernel(own_code());
  EXPECT_EQ(launch(), hipSuccess);
  EXPECT_EQ(loaded(), hg::ptx_kernels());
  EXPECT_STREQ(reinterpret_cast<const char*>(last("cuModuleGetFunction").word(2)), "axpy_u64");
  expect("cuLaunchKernel", {kFunction, 1, 2, 3, 4, 5, 6, 7, at(kStream), at(params_), 0}, [&] { return launch(); });
  expect("cuLaunchCooperativeKernel", {kFunction, 1, 2, 3, 4, 5, 6, 7, at(kStream), at(params_)}, [&] {
    return hipLaunchCooperativeKernel(symbol(), hip_dim3{1, 2, 3}, hip_dim3{4, 5, 6}, params_, 7, kStream);
  });
  __hipUnregisterFatBinary(std::exchange(handle_, nullptr));
  EXPECT_EQ(launch(), hipErrorInvalidDeviceFunction);
}

TEST_F(Kernels, OfCodeForAmdsGpusAreRefused) {
  register_kernel(code_of_somebody_else());
  EXPECT_EQ(launch(), hipErrorNoBinaryForGpu);
  EXPECT_FALSE(cuda().was_called("cuLaunchKernel"));
}

TEST_F(Kernels, AreTheFunctionsOfNodesWhichAreReadAsTheyWereGiven) {
  register_kernel(own_code());
  hipKernelNodeParams params{};
  params.func = symbol();
  params.gridDim = params.blockDim = {1, 1, 1};
  params.kernelParams = params_;
  ASSERT_EQ(hipGraphAddKernelNode(&node_, kGraph, nullptr, 0, &params), hipSuccess);
  EXPECT_EQ(last("cuGraphAddKernelNode").pointee<CUDA_KERNEL_NODE_PARAMS>(4).func, handle<CUfunction>(kFunction));
  CUDA_KERNEL_NODE_PARAMS read{};
  read.func = handle<CUfunction>(kFunction);
  cuda().give("cuGraphKernelNodeGetParams", 1, read);
  ASSERT_EQ(hipGraphKernelNodeGetParams(kNode, &params), hipSuccess);
  EXPECT_EQ(params.func, symbol());
  read.func = handle<CUfunction>(0x900);
  cuda().give("cuGraphKernelNodeGetParams", 1, read);
  ASSERT_EQ(hipGraphKernelNodeGetParams(kNode, &params), hipSuccess);
  EXPECT_EQ(at(params.func), 0x900U) << "a module's function stays so";
}

TEST_F(Kernels, OfAnotherNameThanTheCodesAreNoFunctionsForNodes) {
  register_kernel(own_code());
  cuda().answers["cuModuleGetFunction"] = CUDA_ERROR_NOT_FOUND;
  EXPECT_EQ(launch(), hipErrorInvalidDeviceFunction);
  hipKernelNodeParams params{};
  params.func = symbol();
  static_cast<void>(hipGraphAddKernelNode(&node_, kGraph, nullptr, 0, &params));
  EXPECT_EQ(last("cuGraphAddKernelNode").pointee<CUDA_KERNEL_NODE_PARAMS>(4).func, nullptr);
}

TEST_F(Kernels, AreLookedUpAgainBehindAReset) {
  register_kernel(own_code());
  ASSERT_EQ(launch(), hipSuccess);
  ASSERT_EQ(hipDeviceReset(), hipSuccess);
  cuda().give("cuModuleGetFunction", 0, handle<CUfunction>(0x900));
  EXPECT_EQ(launch(), hipSuccess);
  EXPECT_EQ(last("cuLaunchKernel").word(0), 0x900U);
}

TEST_F(Kernels, MoreSharedMemoryThanCudaCanBeAskedForIsNotAskedForInPart) {
  register_kernel(own_code());
  const std::size_t much = (std::size_t{1} << 32) + 7;
  static_cast<void>(hipLaunchKernel(symbol(), hip_dim3{1, 1, 1}, hip_dim3{1, 1, 1}, params_, much, kStream));
  EXPECT_EQ(last("cuLaunchKernel").word(7), UINT_MAX);
}

TEST_F(Variables, CopiesGoToTheirPlacesAndNotBeyondTheirEnds) {
  register_code(own_code());
  char bytes[16] = {};
  expect("cudaMemcpy", {kPlace + 8, at(bytes), 16, cudaMemcpyHostToDevice},
         [&] { return hipMemcpyToSymbol(symbol_, bytes, 16, 8, hipMemcpyHostToDevice); });
  expect("cudaMemcpyAsync", {at(bytes), kPlace + 1008, 16, cudaMemcpyDeviceToHost, at(kStream)},
         [&] { return hipMemcpyFromSymbolAsync(bytes, symbol_, 16, 1008, hipMemcpyDeviceToHost, kStream); });
  EXPECT_EQ(hipMemcpyToSymbol(symbol_, bytes, 16, 1009, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpyFromSymbol(bytes, symbol_, 1, ~std::size_t{0}, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
}

TEST_F(Variables, AreUnknownUnlessTheirCodeIsRegisteredAndTheProjects) {
  void* place = nullptr;
  EXPECT_EQ(hipGetSymbolAddress(&place, symbol_), hipErrorInvalidSymbol);
  register_code(code_of_somebody_else());
  EXPECT_EQ(hipGetSymbolAddress(&place, symbol_), hipErrorNoBinaryForGpu);
  __hipUnregisterFatBinary(std::exchange(handle_, nullptr));
  EXPECT_EQ(hipGetSymbolAddress(&place, symbol_), hipErrorInvalidSymbol);
  EXPECT_EQ(hipGetSymbolAddress(nullptr, symbol_), hipErrorInvalidValue);
}

TEST_F(Variables, CopiesLeadToOrFromADevice) {
  register_code(own_code());
  char bytes[16] = {};
  const auto no_such_kind = static_cast<hipMemcpyKind>(7);
  for (const hipMemcpyKind kind : {hipMemcpyHostToHost, hipMemcpyDeviceToHost, no_such_kind}) {
    EXPECT_EQ(hipMemcpyToSymbol(symbol_, bytes, 16, 0, kind), hipErrorInvalidMemcpyDirection) << kind;
    EXPECT_EQ(hipMemcpyToSymbolAsync(symbol_, bytes, 16, 0, kind, kStream), hipErrorInvalidMemcpyDirection) << kind;
  }
  for (const hipMemcpyKind kind : {hipMemcpyHostToHost, hipMemcpyHostToDevice, no_such_kind}) {
    EXPECT_EQ(hipMemcpyFromSymbol(bytes, symbol_, 16, 0, kind), hipErrorInvalidMemcpyDirection) << kind;
    EXPECT_EQ(hipMemcpyFromSymbolAsync(bytes, symbol_, 16, 0, kind, kStream), hipErrorInvalidMemcpyDirection) << kind;
  }
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidMemcpyDirection);
  EXPECT_FALSE(cuda().was_called("cudaMemcpy") || cuda().was_called("cudaMemcpyAsync"));
  for (const hipMemcpyKind kind : {hipMemcpyDefault, hipMemcpyDeviceToDevice}) {
    EXPECT_EQ(hipMemcpyToSymbol(symbol_, bytes, 16, 0, kind), hipSuccess) << kind;
    EXPECT_EQ(hipMemcpyFromSymbol(bytes, symbol_, 16, 0, kind), hipSuccess) << kind;
  }
}

// ---- nodes that copy to and from variables

class VariableNodes : public Variables {
 protected:
  static constexpr std::uint64_t kBehind = kPlace + 8;
  void SetUp() override {
    Variables::SetUp();
    register_code(own_code());
  }
  char bytes_[16] = {};
  hipGraphNode_t node_ = nullptr;
};

TEST_F(VariableNodes, CopyToTheirPlaces) {
  expect("cudaGraphAddMemcpyNode1D",
         {at(&node_), at(kGraph), at(&kNode), 1, kBehind, at(bytes_), 16, cudaMemcpyHostToDevice}, [&] {
           return hipGraphAddMemcpyNodeToSymbol(&node_, kGraph, &kNode, 1, symbol_, bytes_, 16, 8,
                                                hipMemcpyHostToDevice);
         });
  expect("cudaGraphMemcpyNodeSetParams1D", {at(kNode), kBehind, at(bytes_), 16, cudaMemcpyDefault},
         [&] { return hipGraphMemcpyNodeSetParamsToSymbol(kNode, symbol_, bytes_, 16, 8, hipMemcpyDefault); });
  expect("cudaGraphExecMemcpyNodeSetParams1D",
         {at(kExec), at(kNode), kBehind, at(bytes_), 16, cudaMemcpyDeviceToDevice}, [&] {
           return hipGraphExecMemcpyNodeSetParamsToSymbol(kExec, kNode, symbol_, bytes_, 16, 8,
                                                          hipMemcpyDeviceToDevice);
         });
}

TEST_F(VariableNodes, CopyFromTheirPlaces) {
  expect("cudaGraphAddMemcpyNode1D",
         {at(&node_), at(kGraph), at(&kNode), 1, at(bytes_), kBehind, 16, cudaMemcpyDeviceToHost}, [&] {
           return hipGraphAddMemcpyNodeFromSymbol(&node_, kGraph, &kNode, 1, bytes_, symbol_, 16, 8,
                                                  hipMemcpyDeviceToHost);
         });
  expect("cudaGraphMemcpyNodeSetParams1D", {at(kNode), at(bytes_), kBehind, 16, cudaMemcpyDefault},
         [&] { return hipGraphMemcpyNodeSetParamsFromSymbol(kNode, bytes_, symbol_, 16, 8, hipMemcpyDefault); });
  expect("cudaGraphExecMemcpyNodeSetParams1D",
         {at(kExec), at(kNode), at(bytes_), kBehind, 16, cudaMemcpyDeviceToDevice}, [&] {
           return hipGraphExecMemcpyNodeSetParamsFromSymbol(kExec, kNode, bytes_, symbol_, 16, 8,
                                                            hipMemcpyDeviceToDevice);
         });
}

TEST_F(VariableNodes, AreRefusedAsTheCopiesAre) {
  const auto add_to = [&](const void* symbol, std::size_t offset, hipMemcpyKind kind) {
    return hipGraphAddMemcpyNodeToSymbol(&node_, kGraph, nullptr, 0, symbol, bytes_, 16, offset, kind);
  };
  const auto add_from = [&](const void* symbol, std::size_t offset, hipMemcpyKind kind) {
    return hipGraphAddMemcpyNodeFromSymbol(&node_, kGraph, nullptr, 0, bytes_, symbol, 16, offset, kind);
  };
  EXPECT_EQ(add_to(symbol_, 0, hipMemcpyDeviceToHost), hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(add_from(symbol_, 0, hipMemcpyHostToDevice), hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(add_to(bytes_, 0, hipMemcpyDefault), hipErrorInvalidSymbol);
  EXPECT_EQ(add_from(nullptr, 0, hipMemcpyDefault), hipErrorInvalidSymbol);
  EXPECT_EQ(add_to(symbol_, kBytes - 15, hipMemcpyDefault), hipErrorInvalidValue);
  EXPECT_EQ(add_from(symbol_, ~std::size_t{0}, hipMemcpyDefault), hipErrorInvalidValue);
  EXPECT_FALSE(cuda().was_called("cudaGraphAddMemcpyNode1D"));
}

}  // namespace
}  // namespace nvidia
