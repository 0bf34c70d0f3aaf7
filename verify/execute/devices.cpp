#include "verify/execute/devices.h"

#include <fmt/format.h>

namespace verify {

hip::Status synchronize_devices(const hip::Api& api, Id count) {
  for (Id device = 0; device < count; ++device) {
    hip::Status status = on_device(api, device, [&]() -> hip::Status {
      const hipError_t code = api.hipDeviceSynchronize();
      if (code == hipSuccess) return {};
      return hip::Error{code, fmt::format("hipDeviceSynchronize answered {}", hip::status_name(code))};
    });
    if (!status) return status;
  }
  return {};
}

}  // namespace verify
