// The devices of whole graphs and programs. What programs with several devices may do is in the rules of the commands:
// HIP's multi-device management, which is CUDA's. A kernel and an event belong to a device, and so do the streams that
// they are given to; copies and waits do not. Peer access is for kernels: a copy between devices that do not reach each
// other is staged by the runtime.
#pragma once

#include "verify/program/state.h"

namespace verify {

// The device of all kernels and memsets of a graph, those of its children counted; 0 where they are of several or there
// are none.
[[nodiscard]] Id home_of(const GraphState& graph);
// Whether a kernel or a memset of the graph, at any depth, is of that device.
[[nodiscard]] bool runs_on(const GraphState& graph, Id device);

// How many devices a program asks for: one more than the highest number in it.
[[nodiscard]] Id devices_needed(const Program& program);

}  // namespace verify
