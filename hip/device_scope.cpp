#include "hip/device_scope.h"

namespace hip {

Result<DeviceScope> DeviceScope::enter(const Api& api, int device, ErrorSink errors) {
  int before = 0;
  if (Status status = call<&Api::hipGetDevice>(api, &before); !status) return status.error();
  if (before == device) return DeviceScope(nullptr, before, errors);
  if (Status status = call<&Api::hipSetDevice>(api, device); !status) return status.error();
  return DeviceScope(&api, before, errors);
}

Result<DeviceScope> DeviceScope::enter_if(const Api& api, std::optional<int> device, ErrorSink errors) {
  return device ? enter(api, *device, errors) : DeviceScope(nullptr, 0, errors);
}

DeviceScope::~DeviceScope() {
  for (int attempt = 0; api_ != nullptr && attempt < 2; ++attempt) errors_(leave());
}

Status DeviceScope::leave() {
  if (api_ == nullptr) return {};
  Status status = call<&Api::hipSetDevice>(*api_, before_);
  if (status) api_ = nullptr;
  return status;
}

Status synchronize_device(const Api& api, int device, ErrorSink errors) {
  const Result<DeviceScope> scope = DeviceScope::enter(api, device, errors);
  return scope ? call<&Api::hipDeviceSynchronize>(api) : Status(scope.error());
}

}  // namespace hip
