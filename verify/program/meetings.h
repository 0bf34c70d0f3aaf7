// Which objects a command meets, and as which operation, from the fields that commands declare
// (verify/commands/fields.h).
#pragma once

#include <string>
#include <vector>

#include "verify/program/program.h"

namespace verify {

// The kinds of objects that have states (verify/program/coverage.h).
enum class Object : std::uint8_t { kGraph, kExec, kStream, kEvent, kBuffer, kRange, kPhysical };

// An operation, and the object that it meets.
struct Meeting {
  std::string operation;  // empty: the command only leaves a fact behind
  Object object = Object::kGraph;
  Id id = 0;
  Leaves leaves = Leaves::kNothing;
};

// The meetings of one command, in the order of its fields.
[[nodiscard]] std::vector<Meeting> meetings_of(const Command& command);
// Every operation that some command can stand for, each listed once, in the order of their objects. The ids are 0.
[[nodiscard]] std::vector<Meeting> operations();

}  // namespace verify
