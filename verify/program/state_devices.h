// What programs with several devices may do. Internal to verify::State.
//
// The rules are HIP's (multi-device management), which are CUDA's: a kernel and an event belong to a device, and so do
// the streams that they are given to; copies and waits do not. Peer access is for kernels: a copy between devices
// that do not reach each other is staged by the runtime.
#pragma once

#include <optional>
#include <string>

#include "verify/program/state.h"

namespace verify {

[[nodiscard]] std::optional<std::string> check_devices(const State& state, const Command& command);
// Enabling what is enabled, disabling what is not.
[[nodiscard]] bool peer_refused(const State& state, const Command& command);

// The device of all kernels and memsets of a graph, those of its children counted; 0 where they are of several or there
// are none.
[[nodiscard]] Id home_of(const GraphState& graph);
// Whether a kernel or a memset of the graph, at any depth, is of that device.
[[nodiscard]] bool runs_on(const GraphState& graph, Id device);

// How many devices a program asks for: one more than the highest number in it.
[[nodiscard]] Id devices_needed(const Program& program);

}  // namespace verify
