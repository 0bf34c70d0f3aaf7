// How the commands about user objects are written as HIP calls (verify/commands/export.h).
#include "verify/commands/export.h"

#include <fmt/format.h>

#include "verify/export/exporter.h"

namespace verify {

template <>
void export_command(Exporter& out, const DeclareUserObject& c) {
  out.needs().declare("hipUserObject_t", fmt::format("u{}", c.object));
  out.text().need_header("atomic");
  out.text().line(fmt::format("static std::atomic<int> u{}_went;", c.object));
  out.text().line(fmt::format("u{}_went = 0;", c.object));
  out.call(fmt::format(
      "hipUserObjectCreate(&u{0}, &u{0}_went, [](void* went) {{ ++*static_cast<std::atomic<int>*>(went); }}, "
      "1, hipUserObjectNoDestructorSync)",
      c.object));
}

template <>
void export_command(Exporter& out, const RetainUserObject& c) {
  out.call(fmt::format("hipGraphRetainUserObject({}, u{}, 1, {})", out.names().graphs[c.graph].graph, c.object,
                       c.move ? "hipGraphUserObjectMove" : "0"));
}

template <>
void export_command(Exporter& out, const ReleaseUserObject& c) {
  const std::uint32_t count = c.beyond ? kReferencesBeyond : 1;
  if (!c.graph) return out.call(fmt::format("hipUserObjectRelease(u{}, {})", c.object, count));
  out.call(fmt::format("hipGraphReleaseUserObject({}, u{}, {})", out.names().graphs[*c.graph].graph, c.object, count));
}

template void export_family(UserObjectsCommands, Exporter&, const Command&);

}  // namespace verify
