// How the commands about whole graphs are written as HIP calls (verify/commands/export.h).
#include "verify/commands/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "verify/commands/nodes/node_types.h"
#include "verify/export/exporter.h"

namespace verify {
namespace {

// The parts of an inspection's answer, which semicolons separate.
std::vector<std::string> parts_of(const std::string& seen) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from < seen.size();) {
    const std::size_t end = std::min(seen.find("; ", from), seen.size());
    parts.push_back(seen.substr(from, end - from));
    from = end + 2;
  }
  return parts;
}

// Whether the first part that differs is about that node.
bool getter_differs(const ExpectedStatus& expected, Id node) {
  const std::vector<std::string> should = parts_of(expected.seen), did = parts_of(expected.saw);
  for (std::size_t i = 0; i < std::min(should.size(), did.size()); ++i) {
    if (should[i] != did[i]) return should[i].starts_with(fmt::format("n{} ", node));
  }
  return false;
}

// The number of nodes that the flags are to say more about. The word of a flag begins the words of its nodes.
std::size_t nodes_about(std::uint32_t flags, const GraphState& graph) {
  const auto is_about = [flags](const NodeState& node) {
    return std::ranges::any_of(kDotFlags, [&](const auto& flag) {
      const auto& [bit, word] = flag;
      const std::string_view about = word == "attributes" ? "kernel" : word;
      return (flags & bit) != 0 &&
             (word == "verbose" || word == "handles" || node_word(node.params).starts_with(about));
    });
  };
  std::size_t count = 0;
  for (const NodeState& node : graph.nodes) count += is_about(node) ? node.fan : 0;
  return count;
}

// Asks a node for its parameters, and checks them.
struct CheckGetter {
  Exporter& out;
  const std::string& name;  // the name of the node's variable
  std::string got = fmt::format("got{}", out.text().number(LocalKind::kCall));

  void place(const char* what, const BufferRef& ref, const char* member) const {
    const std::string wanted = fmt::format("b{} + {}", ref.buffer, ref.offset);
    out.text().equal(fmt::format("the {} of {}", what, name), fmt::format("\"{}\"", wanted),
                     fmt::format("std::string({}{} == {} ? \"{}\" : \"elsewhere\")", got, member, wanted, wanted));
  }
  void number(const char* what, std::uint64_t wanted, const char* member) const {
    out.text().equal(fmt::format("the {} of {}", what, name), fmt::format("\"{}\"", wanted),
                     fmt::format("std::to_string({}{})", got, member));
  }
  void check(const CopyParams& copy) const {
    out.text().line(fmt::format("hipMemcpy3DParms {}{{}};", got));
    out.text().must(fmt::format("hipGraphMemcpyNodeGetParams({}, &{})", name, got));
    number("width", copy.width, ".extent.width");
    number("height", copy.height, ".extent.height");
    number("depth", copy.depth, ".extent.depth");
    place("destination", copy.dst.ref, ".dstPtr.ptr");
    place("source", copy.src.ref, ".srcPtr.ptr");
    out.answered();
  }
  void check(const MemsetParams& set) const {
    out.text().line(fmt::format("hipMemsetParams {}{{}};", got));
    out.text().must(fmt::format("hipGraphMemsetNodeGetParams({}, &{})", name, got));
    number("value", set.value, ".value");
    number("element size", set.element, ".elementSize");
    number("width", set.width, ".width");
    number("height", set.height, ".height");
    place("destination", set.dst, ".dst");
    out.answered();
  }
};

}  // namespace

template <>
void export_command(Exporter& out, const DeclareGraph& c) {
  GraphNames names{fmt::format("g{}", c.graph), {}};
  out.needs().declare("hipGraph_t", names.graph);
  out.call(fmt::format("hipGraphCreate(&{}, 0)", names.graph));
  out.names().graphs[c.graph] = std::move(names);
  out.strategies().graph_made(c.graph);
}

template <>
void export_command(Exporter& out, const CloneGraph& c) {
  const GraphState& graph = *out.after().graph(c.graph);
  GraphNames names{fmt::format("g{}", c.graph), {}};
  out.needs().declare("hipGraph_t", names.graph);
  for (const NodeState& node : graph.nodes) names.nodes.push_back(fmt::format("{}_n{}", names.graph, node.id));
  out.nodes().declare(graph, names);
  out.use_nodes_of(graph);
  const GraphNames& from = out.names().graphs[c.from];
  out.call(fmt::format("hipGraphClone(&{}, {})", names.graph, from.graph));
  for (const NodeState& node : graph.nodes) {
    const std::vector<std::string> originals = instance_names(graph, from, node.id);
    const std::vector<std::string> clones = instance_names(graph, names, node.id);
    for (std::size_t k = 0; k < clones.size(); ++k) {
      out.call(fmt::format("hipGraphNodeFindInClone(&{}, {}, {})", clones[k], originals[k], names.graph));
    }
  }
  out.names().graphs[c.graph] = std::move(names);
  out.strategies().graph_cloned(c.graph, c.from);
}

template <>
void export_command(Exporter& out, const FindInClone& /*command*/) {
  out.refuse_command();
}

template <>
void export_command(Exporter& out, const ChangeEdges& c) {
  out.needs().use_captured_nodes();
  const GraphState& graph = *out.before().graph(c.graph);
  const GraphNames& names = out.names().graphs[c.graph];
  std::vector<std::string> from, to;
  for (const Id id : c.after) {
    for (const std::string& first : instance_names(graph, names, id)) {
      for (const std::string& then : instance_names(graph, names, c.node)) {
        from.push_back(first);
        to.push_back(then);
      }
    }
  }
  const unsigned number = out.text().number(LocalKind::kCall);
  out.text().line(
      fmt::format("hipGraphNode_t from{0}[] = {{{1}}}, to{0}[] = {{{2}}};", number, list_of(from), list_of(to)));
  out.call(fmt::format("hipGraph{0}Dependencies({1}, from{2}, to{2}, {3})", c.add ? "Add" : "Remove", names.graph,
                       number, from.size()));
}

template <>
void export_command(Exporter& out, const RemoveNode& c) {
  out.needs().use_captured_nodes();
  const GraphState& graph = *out.before().graph(c.graph);
  GraphNames& names = out.names().graphs[c.graph];
  for (const std::string& node : instance_names(graph, names, c.node)) {
    out.call(fmt::format("hipGraphDestroyNode({})", node));
  }
  names.nodes.erase(names.nodes.begin() + graph.index_of(c.node));
}

// Getters change nothing, so the export writes only the getters with an answer that differs.
template <>
void export_command(Exporter& out, const Inspect& c) {
  out.needs().use_captured_nodes();
  if (c.target != Target::kGraph || !out.expected().only_seen_differs) return;
  const GraphState& graph = *out.before().graph(c.id);
  for (const NodeState& node : graph.nodes) {
    if (node.fan != 1 || !getter_differs(out.expected(), node.id)) continue;
    const CheckGetter getter{out, node_name(graph, out.names().graphs[c.id], node.id)};
    if (const auto* copy = std::get_if<CopyParams>(&node.params)) getter.check(*copy);
    if (const auto* set = std::get_if<MemsetParams>(&node.params)) getter.check(*set);
  }
}

// Printing changes nothing, so the export writes only the files that differ. It cannot show a file of another graph.
template <>
void export_command(Exporter& out, const PrintDot& c) {
  const std::string_view saw = out.expected().saw;
  if (!out.expected().only_seen_differs) return;
  if (saw.find("another graph") != saw.npos || saw.ends_with(" edges")) return;
  ReproducerText& text = out.text();
  text.need(HelperFunction::kDot);
  const GraphNames& names = out.names().graphs[c.graph];
  text.equal(
      fmt::format("the flaw of the DOT file of {}", names.graph), "\"nothing\"",
      fmt::format("dot_flaw({}, {}, {})", names.graph, c.flags, nodes_about(c.flags, *out.before().graph(c.graph))));
  out.answered();
}

template <>
void export_command(Exporter& out, const Destroy& c) {
  if (out.before().captures().empty()) out.text().wait();
  switch (c.target) {
    case Target::kGraph:
      return out.call(fmt::format("hipGraphDestroy({})", out.names().graphs[c.id].graph));
    case Target::kExec:
      return out.call(fmt::format("hipGraphExecDestroy({})", out.names().execs[c.id].exec));
    case Target::kStream:
      return out.call(fmt::format("hipStreamDestroy(s{})", c.id));
    case Target::kEvent:
      return out.call(fmt::format("hipEventDestroy(v{})", c.id));
    case Target::kDevice:
      return;  // no program destroys a device
  }
}

template void export_family(GraphsCommands, Exporter&, const Command&);

}  // namespace verify
