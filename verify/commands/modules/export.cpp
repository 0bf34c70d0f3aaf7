// How the commands about modules are written as HIP calls (verify/commands/export.h): the file loads its own device
// code once more. A kernel of a module is found in it by name: the file's kernels then have the names of C.
#include "verify/commands/export.h"

#include <fmt/format.h>

#include "verify/export/exporter.h"

namespace verify {

template <>
void export_command(Exporter& out, const LoadModule& c) {
  out.needs().declare("hipModule_t", fmt::format("module{}", c.module));
  out.text().need_header("link.h");
  out.text().need(HelperFunction::kOwnCode);
  out.text().need_kernel("count_only");  // without a kernel there would be no device code
  out.call(out.text().on_thread(c.thread, fmt::format("hipModuleLoadData(&module{}, own_code())", c.module)));
}

template <>
void export_command(Exporter& out, const UnloadModule& c) {
  if (out.before().captures().empty()) out.text().wait();
  out.call(out.text().on_thread(c.thread, fmt::format("hipModuleUnload(module{})", c.module)));
}

template void export_family(ModulesCommands, Exporter&, const Command&);

}  // namespace verify
