// hip::DeviceScope: makes a device current on this thread, and makes the former one current again at the end.
//
// HIP's calls act on the calling thread's current device; a scope makes another one current. Costs one
// call where the device is current already, and three otherwise.
#pragma once

#include <optional>

#include "hip/api/api.h"
#include "hip/errors.h"

namespace hip {

class DeviceScope {
 public:
  // After an error the current device is the former one.
  [[nodiscard]] static Result<DeviceScope> enter(const Api& api, int device, ErrorSink errors = {});
  // Without a device, the current device stays current, and no call is made.
  [[nodiscard]] static Result<DeviceScope> enter_if(const Api& api, std::optional<int> device, ErrorSink errors = {});

  DeviceScope(DeviceScope&& other) noexcept : api_(other.api_), before_(other.before_), errors_(other.errors_) {
    other.api_ = nullptr;
  }
  DeviceScope& operator=(DeviceScope&&) = delete;
  // An error of leave() goes to the error sink; a failure is tried once more.
  ~DeviceScope();

  // Makes the former device current again. If that fails, the scope goes on, and its destructor tries again.
  Status leave();
  // The scope's device stays current after the scope.
  void keep() { api_ = nullptr; }

 private:
  DeviceScope(const Api* api, int before, ErrorSink errors) : api_(api), before_(before), errors_(errors) {}

  const Api* api_;  // null: there is no device to restore
  int before_;
  ErrorSink errors_;
};

// Waits for all work of a device. A failure to make the caller's device current again goes to the error sink.
[[nodiscard]] Status synchronize_device(const Api& api, int device, ErrorSink errors = {});

}  // namespace hip
