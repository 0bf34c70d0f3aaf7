// How a command is written as calls of a stand-alone HIP program (verify/export/reproducer.h).
//
// Each command has a specialisation of export_command() in verify/commands/<family>/export.cpp. For a
// command that has no stand-alone form, it says so. A command without a specialisation does not compile.
#pragma once

#include <variant>

#include "verify/commands/commands.h"

namespace verify {

class Exporter;

template <class C>
void export_command(Exporter& out, const C& command) = delete;

// Writes a command of the family, and does nothing with one of another family. A family's export.cpp instantiates it
// at its end, behind the specialisations: `template void export_family(EventsCommands, Exporter&, const Command&);`
template <class... C, class Variant>
void export_family(CommandList<C...> /*family*/, Exporter& out, const Variant& command) {
  const auto write = [&out](const auto* one) {
    if (one != nullptr) export_command(out, *one);
  };
  (write(std::get_if<C>(&command)), ...);
}

}  // namespace verify
