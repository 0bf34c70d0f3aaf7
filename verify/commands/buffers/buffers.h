// The family of commands about buffers: memory that the program declares, moves, reads, writes and frees.
#pragma once

#include "verify/program/node_params.h"

namespace verify {

struct DeclareBuffer {
  Id buffer = 0;
  std::uint64_t bytes = 0;
  MemoryKind memory = MemoryKind::kDevice;
  // A variable of the device code, by number: it is where it is, for as long as the program runs.
  std::optional<std::uint32_t> symbol = {};
  Id device = 0;  // whose memory it is; of device memory alone
  bool operator==(const DeclareBuffer&) const = default;
};
struct BufferMove {
  Id buffer = 0;
  std::optional<Id> onto;  // @b1: to where b1 is now (b1 has to move away in the same command)
  bool operator==(const BufferMove&) const = default;
};
struct MoveBuffers {
  std::vector<BufferMove> moves;
  bool operator==(const MoveBuffers&) const = default;
};
struct Read {
  Id buffer = 0;
  bool operator==(const Read&) const = default;
};
// A pattern over all of it, or bytes as they are (of a recorded program) from an offset on.
struct Write {
  Id buffer = 0;
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  std::vector<std::uint8_t> data{};  // empty: the pattern
  bool operator==(const Write&) const = default;
};
struct Free {
  Id buffer = 0;
  bool operator==(const Free&) const = default;
};

using BuffersCommands = CommandList<DeclareBuffer, MoveBuffers, Read, Write, Free>;

}  // namespace verify
