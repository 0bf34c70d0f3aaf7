// The family of commands about executable graphs: instantiating, launching, patching and updating them.
#pragma once

#include "verify/program/node_params.h"

namespace verify {

// Which of HIP's functions makes an executable graph, and with which of its flags.
enum class InstantiateForm : std::uint8_t { kPlain, kFlags, kParams };
inline constexpr std::uint32_t kAutoFreeOnLaunch = 1, kUploadAtOnce = 2, kUseNodePriority = 8;  // HIP's numbers
struct Instantiate {
  Id exec = 0;
  Id graph = 0;
  InstantiateForm form = InstantiateForm::kPlain;
  std::uint32_t flags = 0;  // none with kPlain
  bool operator==(const Instantiate&) const = default;
};
struct Launch {
  Id exec = 0;
  Id stream = 0;
  bool operator==(const Launch&) const = default;
};
struct Patch {
  Target target = Target::kExec;
  Id id = 0;
  bool operator==(const Patch&) const = default;
};
struct Update {
  Id exec = 0;
  Id graph = 0;
  bool operator==(const Update&) const = default;
};
struct Upload {
  Id exec = 0;
  Id stream = 0;
  bool operator==(const Upload&) const = default;
};

using ExecsCommands = CommandList<Instantiate, Launch, Patch, Update, Upload>;

}  // namespace verify
