// How the commands about nodes are written as HIP calls (verify/commands/export.h).
#include "verify/commands/export.h"

#include <fmt/format.h>

#include "verify/export/exporter.h"

namespace verify {

template <>
void export_command(Exporter& out, const AddNode& c) {
  const GraphState& graph = *out.after().graph(c.graph);
  GraphNames& names = out.names().graphs[c.graph];
  if (!c.after.empty()) out.use_nodes_of(graph);
  // The graph's variable may have changed since its declaration, so the node is named after the graph's number.
  names.nodes.push_back(fmt::format("g{}_n{}", c.graph, c.node));
  const std::string fan = c.fan == 1 ? std::string() : fmt::format("[{}]", c.fan);
  out.needs().declare("hipGraphNode_t", names.nodes.back() + fan);
  if (const auto* memory = std::get_if<MemoryAllocParams>(&c.params)) {
    out.needs().declare("[[maybe_unused]] char", fmt::format("*b{}", memory->buffer));
  }
  out.nodes().add(out.after(), graph, graph.nodes.size() - 1, names, out.expected(), c.form);
  out.strategies().node_added(c.graph, graph.nodes.back());
}

template <>
void export_command(Exporter& out, const SetNode& c) {
  out.needs().use_captured_nodes();
  out.strategies().set(c);
}

template <>
void export_command(Exporter& out, const EnableNode& c) {
  out.needs().use_captured_nodes();
  const ExecNames& exec = out.names().execs[c.exec];
  for (const std::string& node : instance_names(out.before().exec(c.exec)->graph, exec.names, c.node)) {
    out.call(fmt::format("hipGraphNodeSetEnabled({}, {}, {})", exec.exec, node, c.enabled ? 1 : 0));
  }
}

template <>
void export_command(Exporter& out, const SetAttributes& c) {
  const GraphState& graph = *out.before().graph(c.graph);
  out.use_nodes_of(graph);
  const std::string& name = node_name(graph, out.names().graphs[c.graph], c.node);
  const std::uint32_t fan = graph.find(c.node)->fan;
  out.nodes().set_attributes(c.attributes, name, fan, out.expected());
  out.check_attributes(name, fan);
}

template <>
void export_command(Exporter& out, const CopyAttributes& c) {
  const GraphState &graph = *out.before().graph(c.graph), &from = *out.before().graph(c.from);
  out.use_nodes_of(graph);
  out.use_nodes_of(from);
  const GraphNames& names = out.names().graphs[c.graph];
  const std::string source = instance_names(from, out.names().graphs[c.from], c.source).front();
  for (const std::string& node : instance_names(graph, names, c.node)) {
    out.call(fmt::format("hipGraphKernelNodeCopyAttributes({}, {})", source, node));
  }
  out.check_attributes(node_name(graph, names, c.node), graph.find(c.node)->fan);
}

template void export_family(NodesCommands, Exporter&, const Command&);

}  // namespace verify
