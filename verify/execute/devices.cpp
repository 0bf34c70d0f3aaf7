#include "verify/execute/devices.h"

#include <fmt/format.h>

#include <set>
#include <variant>

namespace verify {

namespace {

void add_devices(const hip::Recording& recording, std::set<int>& devices) {
  for (const hip::RecordedNode& node : recording.nodes()) {
    const bool has_one = std::holds_alternative<hip::KernelRecord>(node.record) ||
                         std::holds_alternative<hip::MemsetRecord>(node.record);
    if (has_one) devices.insert(hip::device_of(node.record));
    if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) add_devices(*child->graph, devices);
  }
}

}  // namespace

Id home_of(const hip::Recording& recording) {
  std::set<int> devices;
  add_devices(recording, devices);
  return devices.size() == 1 ? static_cast<Id>(*devices.begin()) : 0;
}

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
