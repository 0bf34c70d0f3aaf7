// The strategy `command-buffer`: each executable graph of a program is launched as a hip::CommandBuffer.
//
// The command buffer is given the nodes of the executable graph (a disabled node as an empty one), the program's
// addresses at each launch, and the quirks of the runtime's release; it decides whether to patch, to update or to
// record again. Executable graphs with odd numbers are flattened. The program's own executable graph only answers the
// program's queries: it is kept as `careful` keeps it, but is not brought to other addresses and never launched. A
// launch into a capture becomes a child graph node, of a graph that is recorded for that launch.
//
// A command buffer may record a graph again at any time and so does not support graphs that allocate memory. The
// strategy `careful` handles such graphs, and the definitions of all graphs.
#pragma once

#include <memory>

#include "verify/execute/strategy.h"

namespace verify {

[[nodiscard]] std::unique_ptr<Strategy> make_command_buffer_strategy();

}  // namespace verify
