// verify::Command: one command of any family.
#pragma once

#include <variant>

#include "verify/commands/buffers/buffers.h"
#include "verify/commands/captures/captures.h"
#include "verify/commands/devices/devices.h"
#include "verify/commands/events/events.h"
#include "verify/commands/execs/execs.h"
#include "verify/commands/failures/failures.h"
#include "verify/commands/graphs/graphs.h"
#include "verify/commands/modules/modules.h"
#include "verify/commands/nodes/nodes.h"
#include "verify/commands/stream_memory/stream_memory.h"
#include "verify/commands/streams/streams.h"
#include "verify/commands/systems/systems.h"
#include "verify/commands/user_objects/user_objects.h"
#include "verify/commands/virtual_memory/virtual_memory.h"

namespace verify {

template <class... Lists>
struct JoinCommands;
template <class... Commands>
struct JoinCommands<CommandList<Commands...>> {
  using Variant = std::variant<Commands...>;
};
template <class... First, class... Second, class... Rest>
struct JoinCommands<CommandList<First...>, CommandList<Second...>, Rest...>
    : JoinCommands<CommandList<First..., Second...>, Rest...> {};

// A template of the lists of all families, in their order in Command.
template <template <class... Families> class Of>
using ForFamilies = Of<BuffersCommands, GraphsCommands, NodesCommands, ExecsCommands, StreamsCommands, EventsCommands,
                       CapturesCommands, StreamMemoryCommands, VirtualMemoryCommands, ModulesCommands, DevicesCommands,
                       UserObjectsCommands, FailuresCommands, SystemsCommands>;

using Command = ForFamilies<JoinCommands>::Variant;

}  // namespace verify
