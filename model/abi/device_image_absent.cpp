// DeviceImage in a build without the gfx942 interpreter: load() fails and tells the reason.
#include "model/abi/device_image.h"

namespace model::abi {

struct DeviceImage::Loaded {};

DeviceImage::DeviceImage() = default;
DeviceImage::~DeviceImage() = default;

Status DeviceImage::load(AddressSpace&, int, std::span<const std::byte>, std::shared_ptr<HostcallService>,
                         std::shared_ptr<DeviceImage>*, std::string* why) {
  *why = "this build has no gfx942 interpreter (it was configured without LLVM)";
  return Status::kNotSupported;
}

void DeviceImage::unload(AddressSpace&) {}

std::optional<DeviceImage::Variable> DeviceImage::find_variable(std::string_view) const {
  return std::nullopt;
}

Semantics DeviceImage::semantics(const std::shared_ptr<DeviceImage>&, const std::string&) {
  return {};
}

Resources DeviceImage::resources(std::string_view) const {
  return {};
}

}  // namespace model::abi
