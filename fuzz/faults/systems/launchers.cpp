// F38 and F39: launchers that allocate for each launch, as the first versions did, right in all but one point each.
//
//   F38  copies its arrays in on the default stream: its author's active stream was always the default stream. The
//        kernel, on another stream, does not wait for the copy.
//   F39  waits for its transfers, but counts only arrays as transfers: the result of a launch without arrays is read
//        before the kernel has run.
#include <algorithm>
#include <cstring>
#include <vector>

#include "fuzz/faults/lists.h"
#include "hip/device_scope.h"

namespace fuzz {
namespace {

struct Habits {
  bool default_stream_in = false;  // F38
  bool only_arrays_wait = false;   // F39
};

class PatchedLauncher final : public verify::LauncherPart {
 public:
  PatchedLauncher(const hip::Api& api, hip::ErrorSink errors, const Habits& habits)
      : api_(api), errors_(errors), habits_(habits) {}
  ~PatchedLauncher() override {
    const hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(api_, 0, errors_);
    errors_(hip::call<&hip::Api::hipDeviceSynchronize>(api_));
    free_all();
  }

  hip::Status launch(const hip::KernelLaunch& launch) override {
    const hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(api_, 0, errors_);
    if (!scope) return scope.error();
    const hip::StreamRef stream = hip::CurrentStream::get().value_or(hip::StreamRef::of_default(api_));
    std::vector<std::byte> arguments(launch.arguments.begin(), launch.arguments.end());
    std::vector<Place> places;
    for (const hip::Transfer& transfer : launch.transfers) {
      if (hip::Status status = prepare(transfer, stream, &places, arguments.data()); !status) return status;
    }
    std::size_t size = arguments.size();
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     HIP_LAUNCH_PARAM_END};
    hip::Status status = hip::call<&hip::Api::hipModuleLaunchKernel>(
        api_, launch.function, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y,
        launch.block.z, launch.shared_bytes, stream.handle(), nullptr, extra);
    for (std::size_t i = 0; i < places.size() && status; ++i) {
      if (launch.transfers[i].direction == hip::Direction::kIn) continue;
      status = hip::call<&hip::Api::hipMemcpyAsync>(api_, places[i].host, places[i].device, launch.transfers[i].bytes,
                                                    hipMemcpyDeviceToHost, stream.handle());
    }
    return status ? read_back(launch, stream, places) : status;
  }

 private:
  struct Place {
    void* device = nullptr;
    void* host = nullptr;
  };

  hip::Status prepare(const hip::Transfer& transfer, const hip::StreamRef& stream, std::vector<Place>* places,
                      std::byte* arguments) {
    Place place;
    if (hip::Status status = hip::call<&hip::Api::hipMalloc>(api_, &place.device, transfer.bytes); !status) {
      return status;
    }
    device_.push_back(place.device);
    if (hip::Status status = hip::call<&hip::Api::hipHostMalloc>(api_, &place.host, transfer.bytes, 0); !status) {
      return status;
    }
    host_.push_back(place.host);
    places->push_back(place);
    std::memcpy(arguments + transfer.argument_offset, &place.device, sizeof place.device);
    if (transfer.direction == hip::Direction::kOut) return {};
    std::memcpy(place.host, transfer.host, transfer.bytes);
    return hip::call<&hip::Api::hipMemcpyAsync>(api_, place.device, place.host, transfer.bytes, hipMemcpyHostToDevice,
                                                habits_.default_stream_in ? nullptr : stream.handle());
  }

  hip::Status read_back(const hip::KernelLaunch& launch, const hip::StreamRef& stream,
                        const std::vector<Place>& places) {
    const auto is = [&](hip::Direction direction) {
      return std::ranges::any_of(launch.transfers,
                                 [direction](const hip::Transfer& each) { return each.direction == direction; });
    };
    const bool brings_back = is(hip::Direction::kOut) || is(hip::Direction::kInOut);
    const bool has_arrays = is(hip::Direction::kIn) || is(hip::Direction::kInOut);
    if (brings_back && (has_arrays || !habits_.only_arrays_wait)) {
      if (hip::Status status = stream.synchronize(); !status) return status;
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      const hip::Transfer& transfer = launch.transfers[i];
      if (transfer.direction != hip::Direction::kIn) std::memcpy(transfer.host, places[i].host, transfer.bytes);
    }
    return {};
  }

  // Called at the end, because work may be in flight until then.
  void free_all() {
    for (void* memory : device_) errors_(hip::call<&hip::Api::hipFree>(api_, memory));
    for (void* memory : host_) {
      for (int attempt = 0; attempt < 2; ++attempt) {
        const hip::Status status = hip::call<&hip::Api::hipHostFree>(api_, memory);
        errors_(status);
        if (status) break;
      }
    }
  }

  const hip::Api& api_;
  hip::ErrorSink errors_;
  const Habits habits_;
  std::vector<void*> device_, host_;
};

verify::Parts with(const Habits& habits) {
  verify::Parts parts = verify::real_parts();
  parts.launcher = [habits](const hip::Api& api, hip::ErrorSink errors) {
    return std::make_unique<PatchedLauncher>(api, errors, habits);
  };
  return parts;
}

}  // namespace

std::vector<Fault> launcher_faults() {
  using enum verify::PropertyId;
  using enum verify::System;
  return {system_fault("F38", "launcher", "copies external arrays in on the default stream instead of the active one",
                       kS1, kLauncher, with({.default_stream_in = true})),
          system_fault("F39", "launcher",
                       "reads a result without the one synchronisation that it needs when there are no transfers", kS3,
                       kLauncher, with({.only_arrays_wait = true}))};
}

}  // namespace fuzz
