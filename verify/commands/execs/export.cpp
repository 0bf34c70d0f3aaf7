// How the commands about executable graphs are written as HIP calls (verify/commands/export.h).
#include "verify/commands/export.h"

#include <fmt/format.h>

#include "verify/export/exporter.h"
#include "verify/program/state_devices.h"

namespace verify {

template <>
void export_command(Exporter& out, const Instantiate& c) {
  const GraphNames& graph = out.names().graphs[c.graph];
  const std::string exec = fmt::format("e{}", c.exec);
  out.needs().declare("hipGraphExec_t", exec);
  out.names().execs[c.exec] = {exec, graph, false, c.form, c.flags};
  out.strategies().exec_made(c.exec, c.graph);
  out.text().on_device(home_of(*out.before().graph(c.graph)),
                       [&] { out.strategies().instantiate(exec, graph.graph, c.form, c.flags); });
}

template <>
void export_command(Exporter& out, const Launch& c) {
  out.text().on_device(out.before().device_of_stream(c.stream), [&] {
    out.call(fmt::format("hipGraphLaunch({}, {})", out.names().execs[c.exec].exec, stream_name(c.stream)));
  });
  out.captures().captured(out.before(), out.after(), c.stream);
}

template <>
void export_command(Exporter& out, const Patch& c) {
  out.write_out_repetitions();
  out.needs().use_captured_nodes();
  out.strategies().patch(c);
}

template <>
void export_command(Exporter& out, const Update& c) {
  out.needs().use_captured_nodes();
  out.strategies().update(c);
}

template <>
void export_command(Exporter& out, const Upload& c) {
  out.call(fmt::format("hipGraphUpload({}, {})", out.names().execs[c.exec].exec, stream_name(c.stream)));
}

template <>
void export_command(Exporter& out, const AskFlags& c) {
  const std::string& exec = out.names().execs[c.exec].exec;
  const std::string flags = fmt::format("flags{}", out.text().number(LocalKind::kCall));
  out.text().line(fmt::format("unsigned long long {} = 0;", flags));
  out.call(fmt::format("hipGraphExecGetFlags({}, &{})", exec, flags));
  out.text().equal(fmt::format("the flags of {}", exec), fmt::format("\"{}\"", out.expected().seen),
                   fmt::format("std::to_string({})", flags));
  out.answered();
}

template void export_family(ExecsCommands, Exporter&, const Command&);

}  // namespace verify
