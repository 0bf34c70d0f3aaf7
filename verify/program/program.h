// verify::Program: a list of HIP graph operations over symbolic buffers, graphs and streams, as plain data.
//
// Ids are fixed up front: dropping a command never renames another object. A program says nothing about addresses; the
// executor chooses a placement. The text form (verify/program/text.h) holds the same program, one command a line.
// docs/commands.md describes each command.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/commands/commands.h"
#include "verify/program/environment.h"

namespace verify {

// The place of a step in a block that repeats (verify/program/blocks.h) or in a block of threads
// (verify/program/threads.h).
struct InBlock {
  std::uint32_t block = 0;  // neighbouring blocks have different numbers; 0: in no block
  std::uint32_t rounds = 1;
  std::uint32_t round = 0;
  Id thread = 0;  // 0: no block of threads
};

struct Step {
  Command command;
  std::uint32_t repeat = 1;
  std::uint32_t line = 0;  // line of the text that the step came from; 0 when it was generated
  InBlock in = {};
  // Does not compare `line` and `in`: the place in the text does not change the meaning of a step.
  bool operator==(const Step& other) const;
};

// What holds for a whole program.
struct Setting {
  Placement placement = Placement::kArena;
  Environment environment;
  bool operator==(const Setting&) const = default;
};

// The functions that copy, compare and destroy a program are in program.cpp, not here: otherwise each source that uses
// them would compile all of it again.
struct Program {
  Program();
  Program(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(const Program&);
  Program& operator=(Program&&) noexcept;
  ~Program();

  Setting setting;
  std::vector<Step> steps;
  bool operator==(const Program&) const;
};

// How many commands a person has to read: declarations of buffers, graphs, streams and events, reads, and the later
// rounds of blocks are left out.
[[nodiscard]] std::uint64_t counted_commands(const Program& program);

// The foreign kernels (verify/language/foreign_kernels.h) of a command, and of a program, each listed once.
[[nodiscard]] std::vector<const KernelSpec*> foreign_kernels_of(const Command& command);
[[nodiscard]] std::vector<const KernelSpec*> foreign_kernels_of(const Program& program);
// The code objects of its foreign kernels and variables, each once.
[[nodiscard]] std::vector<const CodeObject*> code_objects_of(const Program& program);

}  // namespace verify
