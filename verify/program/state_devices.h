// The devices of whole graphs and programs. The rules of the commands for several devices follow HIP's multi-device
// management, which is CUDA's. A kernel and an event belong to a device, and so do the streams that they are given to;
// copies and waits do not. Peer access is for kernels: the runtime stages a copy between devices that have no access to
// each other.
#pragma once

#include "verify/program/state.h"

namespace verify {

// The device of all kernels and memsets of a graph and of its children; 0 where they belong to several devices or there
// are none.
[[nodiscard]] Id home_of(const GraphState& graph);
// Whether a kernel or a memset of the graph, at any depth, is of that device.
[[nodiscard]] bool runs_on(const GraphState& graph, Id device);

// The device of a view's memory; 0 for other buffers. It is current while the host copies the bytes, because another
// device may have no right to them.
[[nodiscard]] Id device_of_view(const State& state, Id buffer);

// How many devices a program asks for: one more than the highest number in it.
[[nodiscard]] Id devices_needed(const Program& program);

}  // namespace verify
