// A command buffer of a user as a strategy: version 2 of hip/patcher_abi.h. Each launch of an executable graph of the
// program is one step of the library, which gets every command with its complete parameters and launches what it made
// of them.
//
// The program's own executable graph answers the program's queries and stands in for steps that the library refuses:
// patches, setters and updates record it again; enabling a node is HIP's call on it. The library sees all of these as
// commands of the next step: a disabled node is an empty command. Not handed over: graphs with memory nodes or with an
// edge from a later node to an earlier one, and programs with several devices unless the library asks for them. The
// harness launches those itself.
// Definitions are recorded again. A launch into a capture is no step: the capture gets a fresh graph as a child.
// A step that the library does without recording again is judged as a patch is (Detectors::stepped), where the commands
// have changed in addresses only since it recorded last.
// Not checked: whether the library did what it says (hgcommands_did).
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
  bool several_devices = false;  // it asks for HGCOMMANDS_SEVERAL_DEVICES
};

// The word for the way of a step ("launched"); null for a number that is none.
[[nodiscard]] const char* step_way(std::uint32_t way);
// A library's reason as one line of printable ASCII, cut to a length that reports can show.
[[nodiscard]] std::string shown_reason(const char* text);

[[nodiscard]] std::unique_ptr<Strategy> make_library_strategy(CommandLibrary library);

}  // namespace verify
