// The reference page of the program language, from the declarations of commands, nodes and systems (docs/commands.md).
#pragma once

#include <string>

namespace verify {

// Markdown: a list of commands, a list of the types of nodes, a list of the actions on systems.
[[nodiscard]] std::string print_reference();

}  // namespace verify
