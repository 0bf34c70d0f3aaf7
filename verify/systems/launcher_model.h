// The sequential model of hip::Launcher: the promises of a launcher.
//
// A launch changes its arrays as the kernel's host function does, which runs here, at once, on the host. A launch with
// output to bring back synchronises with its stream once, any other launch never. The arrays that were passed may be
// overwritten as soon as the call has returned.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <string_view>

#include "hip/kernels/host_kernels.h"

namespace verify {

// Runs a kernel of the project on the host; pointers in the block are host addresses.
inline void run_on_host(std::string_view kernel, std::span<const std::byte> block) {
  for (const hg::HostKernel& each : hg::host_kernels()) {
    if (each.name != kernel) continue;
    hg::ThisProcess memory;
    each.run(block, memory);
    return;
  }
  assert(!"no such kernel");
}

[[nodiscard]] constexpr unsigned expected_synchronizations(bool brings_back) {
  return brings_back ? 1 : 0;
}

}  // namespace verify
