// How the commands about the systems of hip/ are written as HIP calls (verify/commands/export.h).
#include "verify/commands/export.h"

#include "verify/export/exporter.h"

namespace verify {

// An action works on classes of hip/, which a stand-alone file does not have.
template <>
void export_command(Exporter& out, const SystemAction& /*command*/) {
  out.refuse_command();
}

template void export_family(SystemsCommands, Exporter&, const Command&);

}  // namespace verify
