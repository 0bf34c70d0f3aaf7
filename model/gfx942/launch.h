// The initial state of a wave, and the workgroups of a dispatch.
#pragma once

#include "model/gfx942/run.h"

namespace gfx942 {

// The part of the grid that one workgroup covers. It is smaller at the edge if the grid is no multiple of it.
struct WorkgroupShape {
  std::array<u32, 3> id{};
  std::array<u32, 3> size{};
  [[nodiscard]] u32 items() const { return size[0] * size[1] * size[2]; }
  [[nodiscard]] u32 waves() const { return (items() + kLanes - 1) / kLanes; }
};

[[nodiscard]] std::array<u32, 3> workgroup_counts(const Dispatch& dispatch);
[[nodiscard]] WorkgroupShape workgroup_shape(const Dispatch& dispatch, u64 index);

// Sets all registers of `wave`, the `number`th of the workgroup. Scratch is cleared.
void start_wave(const Dispatch& dispatch, const WorkgroupShape& shape, u32 number, Wave& wave);

// Why the dispatch cannot be run; empty when it can.
[[nodiscard]] std::string refuse(const Program& program, const Dispatch& dispatch);

}  // namespace gfx942
