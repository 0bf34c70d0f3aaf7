// A command buffer of a user as a strategy: version 2 of hip/patcher_abi.h. Each launch of an executable graph of the
// program is one step of the library, which gets every command with its complete parameters and launches what it made
// of them.
//
// The program's own executable graph only answers the program's queries, as under `command-buffer`: setters, updates
// and nodes that are enabled or disabled change it by recording it again, and reach the library as commands of the next
// step (a disabled node as an empty command). Not handed over, but recorded again and launched by the harness: graphs
// with memory nodes, edges to earlier nodes, or objects that two nodes share; programs with several devices;
// definitions. A launch into a capture becomes a child graph node of a fresh graph.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "hip/patcher_abi.h"
#include "verify/execute/strategy.h"

namespace verify {

// The functions of a loaded library of version 2, and the handle that keeps it loaded.
struct CommandLibrary {
  std::shared_ptr<void> handle;
  decltype(&hgcommands_create) create = nullptr;
  decltype(&hgcommands_begin) begin = nullptr;
  decltype(&hgcommands_update) update = nullptr;
  decltype(&hgcommands_launch) launch = nullptr;
  decltype(&hgcommands_destroy) destroy = nullptr;
};

[[nodiscard]] std::unique_ptr<Strategy> make_library_strategy(CommandLibrary library);

}  // namespace verify
