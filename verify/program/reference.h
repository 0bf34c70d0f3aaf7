// The reference page of the program language, from the declarations of commands, nodes and systems (docs/commands.md).
#pragma once

#include <string>

namespace verify {

// Markdown: a table of commands, one of the types of nodes, one of the actions on systems.
[[nodiscard]] std::string print_reference();

}  // namespace verify
