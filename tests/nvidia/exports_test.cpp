// The exports of libhip-nvidia.so: every function of hip/api/functions.inc, except for the functions that
// hip/nvidia/left_out.inc lists, each with a reason.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "hip/nvidia/headers.h"

namespace nvidia {
namespace {

#define NAME_OF(name) #name

// Under the names that a library exports: HIP's header renames some.
std::vector<std::string> all_functions() {
  return {
#define HIP_FUNCTION(name, ...) NAME_OF(name),
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
  };
}

std::map<std::string, std::string> left_out() {
  return {
#define HIP_LEFT_OUT(name, reason) {NAME_OF(name), reason},
#include "hip/nvidia/left_out.inc"
#undef HIP_LEFT_OUT
  };
}

bool is_exported(const std::string& name) {
  static void* const library = dlopen(HGCHECK_HIP_NVIDIA, RTLD_NOW | RTLD_LOCAL);
  return library != nullptr && dlsym(library, name.c_str()) != nullptr;
}

TEST(NvidiaExports, EveryFunctionIsExportedOrLeftOutWithAReason) {
  const std::map<std::string, std::string> without = left_out();
  for (const std::string& name : all_functions()) {
    const auto found = without.find(name);
    if (found == without.end()) {
      EXPECT_TRUE(is_exported(name)) << name << " is neither exported nor left out";
    } else {
      EXPECT_FALSE(is_exported(name)) << name << " is left out and exported";
      EXPECT_FALSE(found->second.empty()) << name;
    }
  }
}

TEST(NvidiaExports, WhatIsLeftOutIsOneOfTheProjectsFunctions) {
  const std::vector<std::string> all = all_functions();
  for (const auto& [name, reason] : left_out()) {
    EXPECT_NE(std::find(all.begin(), all.end(), name), all.end()) << name << ": " << reason;
  }
}

}  // namespace
}  // namespace nvidia
