// verify::Program: a list of HIP graph operations over symbolic buffers, graphs and streams, as plain data.
//
// Ids are fixed up front: dropping a command never renames another. A program says nothing about addresses; whoever
// executes it chooses a placement. The text form (verify/program/text.h) is the same thing, one command a line; what
// each command means is in docs/commands.md.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/commands/commands.h"

namespace verify {

struct Step {
  Command command;
  std::uint32_t repeat = 1;
  std::uint32_t line = 0;  // of the text it came from; 0 when it was generated
  // Where it was written is no part of what it means.
  bool operator==(const Step& other) const;
};

// What copies, compares and destroys it is in program.cpp, not here: each source that did would compile all of it
// again.
struct Program {
  Program();
  Program(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(const Program&);
  Program& operator=(Program&&) noexcept;
  ~Program();

  Placement placement = Placement::kArena;
  std::vector<Step> steps;
  bool operator==(const Program&) const;
};

// How many commands a person has to read: declarations of buffers, graphs, streams and events, and reads, are left out.
[[nodiscard]] std::uint64_t counted_commands(const Program& program);

}  // namespace verify
