// Modules, launches and variables of device code: which code CUDA gets, and what is refused.
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

TEST_F(Modules, ThePtxHasTheKernelsAndVariablesForEveryGpuFromSm75On) {
  const std::string ptx = hg::ptx_kernels();
  for (const char* part :
       {".version 6.3", ".target sm_75", ".entry axpy_u64(", ".entry many_args(", "hg_symbol4[1024]"})
    EXPECT_NE(ptx.find(part), std::string::npos) << part;
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

}  // namespace
}  // namespace nvidia
