// The objects that commands name: each name is a letter and a number.
//
// Nodes are left out, because their names belong to their graph.
#pragma once

#include "verify/program/program.h"
#include "verify/program/ranges.h"

namespace verify {

// Visits every name in a command.
void for_each_name(Command& command, const VisitName& visit);

// The numbers that the next objects of a program get, a counter for each letter.
struct NextNames {
  Id buffer = 0, graph = 0, exec = 0, stream = 1, event = 0, pool = 0, object = 0, module = 0, range = 0,
     memory = 0;  // s0 is the null stream

  [[nodiscard]] Id& of(char letter);
  // Moves every counter past the objects that `command` makes.
  void use(const Command& command);
};

}  // namespace verify
