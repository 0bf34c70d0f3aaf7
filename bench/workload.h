// The graph of the patch benchmarks: a chain of kernel nodes over as many buffers, four buffers a kernel.
//
// Every kernel holds four different buffers and every buffer is held four times, spread over the graph by fixed
// shuffles, so a moved buffer touches about four nodes that lie far apart. The argument block is that of a matrix
// product with a bias (four pointers, four scalars, 48 bytes), packed as for `extra`. Each node follows the one before
// it, as in a captured stream. The same sizes give the same workload on every machine.
//
// No scalar equals an address: scanning by value gives the right answer here, so the benchmarks compare cost alone.
#pragma once

#include <cstdint>
#include <vector>

#include "hip/recording.h"
#include "hip/relocation.h"

namespace bench {

inline constexpr std::uint32_t kBuffersOfKernel = 4;
inline constexpr std::uint32_t kArgumentBytes = 48;
inline constexpr std::uint64_t kBufferBytes = 3840;
inline constexpr std::uint64_t kBufferSpacing = 4096;  // buffers do not touch: F02 refuses a word that two could own

struct Workload {
  hip::Recording recording;
  hip::AddressTable here;   // where the graph is recorded
  hip::AddressTable there;  // where buffers go that move; everything else stays
  std::vector<std::uint64_t> buffer_bytes;
  std::vector<hip::Move> away, back;    // one patch each: to `there`, and to `here` again
  std::uint32_t nodes_that_change = 0;  // nodes with a relocation of a moved buffer
};

// `percent` of the buffers move, rounded, at least one.
[[nodiscard]] Workload make_workload(hipFunction_t kernel, std::uint32_t nodes, std::uint32_t percent);

}  // namespace bench
