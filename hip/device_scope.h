// hip::DeviceScope: a device made current on this thread, and the one before it made current again at the end.
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
  // An error changes nothing.
  [[nodiscard]] static Result<DeviceScope> enter(const Api& api, int device, ErrorSink errors = {});
  // None: the current device stays current, without a call.
  [[nodiscard]] static Result<DeviceScope> enter_if(const Api& api, std::optional<int> device, ErrorSink errors = {});

  DeviceScope(DeviceScope&& other) noexcept : api_(other.api_), before_(other.before_), errors_(other.errors_) {
    other.api_ = nullptr;
  }
  DeviceScope& operator=(DeviceScope&&) = delete;
  // An error of leave() goes to the error sink; a failure is tried once more.
  ~DeviceScope();

  // Makes the device before current again. When that fails the scope stays, and its destructor tries again.
  Status leave();
  // The device stays current.
  void keep() { api_ = nullptr; }

 private:
  DeviceScope(const Api* api, int before, ErrorSink errors) : api_(api), before_(before), errors_(errors) {}

  const Api* api_;  // null: nothing to put back
  int before_;
  ErrorSink errors_;
};

// Waits for all work of a device. That the caller's device could not be made current again goes to the sink.
[[nodiscard]] Status synchronize_device(const Api& api, int device, ErrorSink errors = {});

}  // namespace hip
