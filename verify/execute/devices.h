// Which device is current while the executor calls HIP, and waiting for all of a program's devices.
//
// Device 0 is current between calls, on every host thread, so work on device 0 needs no call of hipSetDevice.
#pragma once

#include <type_traits>

#include "hip/device_scope.h"
#include "hip/recording.h"
#include "verify/program/program.h"

namespace verify {

// Makes `device` current, calls `body`, which returns a hip::Status or hip::Result, and makes device 0 current again.
// If `device` cannot be made current, that error is returned, and `body` is not called. If device 0 cannot, that error
// is returned, unless `body` has one.
template <class Body>
[[nodiscard]] std::invoke_result_t<Body> on_device(const hip::Api& api, Id device, const Body& body) {
  if (device == 0) return body();
  const hip::ErrorSink returned = {[](void*, const hip::Error&) {}, nullptr};
  hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(api, static_cast<int>(device), returned);
  if (!scope) return scope.error();
  std::invoke_result_t<Body> result = body();
  const hip::Status left = scope.value().leave();
  if (result && !left) return left.error();
  return result;
}

// Calls hipDeviceSynchronize for each of the first `count` devices, until one call fails.
[[nodiscard]] hip::Status synchronize_devices(const hip::Api& api, Id count);

}  // namespace verify
