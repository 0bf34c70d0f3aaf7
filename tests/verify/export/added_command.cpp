// A family with a command that this file adds. It compiles only with ADDED_COMMAND_IS_EXPORTED, which adds the part of
// the command that exports it.
#include "verify/commands/export.h"

namespace verify {

struct AddedCommand {};

#ifdef ADDED_COMMAND_IS_EXPORTED
template <>
void export_command(Exporter& /*out*/, const AddedCommand& /*command*/) {}
#endif

template void export_family(CommandList<AddedCommand>, Exporter&, const std::variant<AddedCommand>&);

}  // namespace verify
