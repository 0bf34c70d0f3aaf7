// The runtime of system tests: a host model of their own, or AMD's runtime, which the process has once (in the program
// that is built with HGCHECK_ON_RUNTIME, for the capsule's loader). Both have two devices.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#ifdef HGCHECK_ON_RUNTIME
#include "verify/execute/library_platform.h"
#else
#include "verify/execute/model_platform.h"
#endif

class TestRuntime {
 public:
  static constexpr int kDevices = 2;

#ifdef HGCHECK_ON_RUNTIME
  static constexpr bool kIsModel = false;
  TestRuntime() = default;
  verify::Platform& platform() {
    static const std::unique_ptr<verify::LibraryPlatform> library = [] {
      auto opened = verify::LibraryPlatform::open("libamdhip64.so.7", kDevices);
      if (!opened) {
        std::fprintf(stderr, "%s\n", opened.error().message.c_str());
        std::exit(2);
      }
      opened.value()->begin(0);
      return std::move(opened).value();
    }();
    return *library;
  }
#else
  static constexpr bool kIsModel = true;
  TestRuntime() {
    model_.enter();
    EXPECT_TRUE(model_.need_devices(kDevices));
    model_.begin(0);
  }
  ~TestRuntime() {
    EXPECT_EQ(model_.leaks(), "");
    model_.leave();
  }
  verify::Platform& platform() { return model_; }

 private:
  verify::ModelPlatform model_{{.devices = kDevices, .identity = true}};

 public:
#endif
  TestRuntime(const TestRuntime&) = delete;
  TestRuntime& operator=(const TestRuntime&) = delete;
};
