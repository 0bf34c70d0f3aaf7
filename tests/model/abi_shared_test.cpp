// libhgmodel.so as a library that hip::Api loads. dropin_test.cpp checks its exported names.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "model/abi/in_process.h"
#include "model/abi/shared.h"

namespace model::abi {
namespace {

TEST(SharedLibrary, WhatItAllocatesForTheHostIsRealMemory) {
  const auto loaded = hip::load_api(HGCHECK_LIBHGMODEL);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const hip::Api& api = loaded.value().api;
  void *pinned = nullptr, *device = nullptr;
  ASSERT_EQ(api.hipHostMalloc(&pinned, 16, 0), hipSuccess);
  ASSERT_EQ(api.hipMalloc(&device, 16), hipSuccess);
  auto* words = static_cast<unsigned*>(pinned);
  words[0] = 17;
  unsigned out = 0;
  EXPECT_EQ(api.hipMemcpy(device, pinned, 4, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(api.hipMemcpy(&out, device, 4, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_EQ(out, 17u);
  EXPECT_EQ(api.hipHostFree(pinned), hipSuccess);
  EXPECT_EQ(api.hipFree(device), hipSuccess);
}

TEST(SharedLibrary, OptionsComeBeforeTheFirstCallOrNotAtAll) {
  const auto loaded = hip::load_api(HGCHECK_LIBHGMODEL);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  void* symbol = dlsym(loaded.value().library.get(), "hgmodel_configure");
  ASSERT_NE(symbol, nullptr);
  const auto configure = reinterpret_cast<decltype(&hgmodel_configure)>(symbol);
  HgModelOptions options{.devices = 0, .schedule_seed = 0, .detect_races = 1};
  EXPECT_EQ(configure(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(configure(&options), hipErrorInvalidValue);
  int count = 0;
  ASSERT_EQ(loaded.value().api.hipGetDeviceCount(&count), hipSuccess);
  options.devices = 1;
  EXPECT_EQ(configure(&options), hipErrorSetOnActiveProcess);
}

TEST(SharedLibrary, AHostFunctionThatCallsHipIsRefusedAndDoesNotHang) {
  static const hip::Api* table;
  static hipError_t answer;
  const auto loaded = hip::load_api(HGCHECK_LIBHGMODEL);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  table = &loaded.value().api;
  answer = hipSuccess;
  ASSERT_EQ(
      table->hipLaunchHostFunc(nullptr, [](void*) { answer = table->hipDeviceSynchronize(); }, nullptr), hipSuccess);
  EXPECT_EQ(table->hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(answer, hipErrorNotSupported);
}

}  // namespace
}  // namespace model::abi
