#include "verify/program/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "verify/commands/nodes/node_types.h"
#include "verify/program/state.h"

namespace verify {

namespace {

void change_edges(GraphPicture& picture, const ChangeEdges& command) {
  const std::string to = fmt::format("n{}", command.node);
  for (const Id id : command.after) {
    const std::string from = fmt::format("n{}", id);
    if (command.add) {
      picture.edges.push_back({from, to});
    } else {
      std::erase_if(picture.edges, [&](const auto& edge) { return edge.from == from && edge.to == to; });
    }
  }
}

// Draws the nodes that captures added, one by one, as State knows them.
void draw_captures(const Program& program, const std::vector<std::string>& at_fault,
                   std::map<Id, GraphPicture>& pictures) {
  const bool captures = std::ranges::any_of(
      program.steps, [](const Step& step) { return std::holds_alternative<EndCapture>(step.command); });
  if (!captures || validate(program)) return;
  State state;
  for (const Step& step : program.steps) {
    const auto* end = std::get_if<EndCapture>(&step.command);
    const bool ended = end != nullptr && state.answer(*end).status == 0;
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state.apply(step.command);
    if (!ended) continue;
    GraphPicture& picture = pictures[end->graph];
    picture.name = fmt::format("g{}", end->graph);
    const std::vector<NodeState>& nodes = state.graph(end->graph)->nodes;
    for (std::size_t i = picture.nodes.size(); i < nodes.size(); ++i) {
      const NodeState& node = nodes[i];
      const std::string id = fmt::format("n{}", node.id);
      std::string label(node_word(node.params));
      if (const auto* kernel = std::get_if<KernelParams>(&node.params)) label = kernel->kernel->name;
      const bool marked = std::ranges::find(at_fault, picture.name + "." + id) != at_fault.end();
      picture.nodes.push_back({id, label, marked});
      for (const std::uint32_t before : node.after) picture.edges.push_back({fmt::format("n{}", nodes[before].id), id});
    }
  }
}

}  // namespace

std::vector<GraphPicture> draw_graphs(const Program& program, const std::vector<std::string>& at_fault) {
  std::map<Id, GraphPicture> pictures;
  for (const Step& step : program.steps) {
    if (const auto* graph = std::get_if<DeclareGraph>(&step.command)) {
      pictures[graph->graph].name = fmt::format("g{}", graph->graph);
    } else if (const auto* node = std::get_if<AddNode>(&step.command)) {
      GraphPicture& picture = pictures[node->graph];
      const std::string name = fmt::format("g{}.n{}", node->graph, node->node);
      std::string label(node_word(node->params));
      if (const auto* kernel = std::get_if<KernelParams>(&node->params)) label = kernel->kernel->name;
      if (const auto* child = std::get_if<ChildParams>(&node->params)) label = fmt::format("child g{}", child->graph);
      if (const auto* record = std::get_if<EventRecordParams>(&node->params))
        label = fmt::format("record v{}", record->event);
      if (const auto* wait = std::get_if<EventWaitParams>(&node->params)) label = fmt::format("wait v{}", wait->event);
      if (const auto* memory = std::get_if<MemoryAllocParams>(&node->params))
        label = fmt::format("alloc b{}", memory->buffer);
      if (const auto* memory = std::get_if<MemoryFreeParams>(&node->params))
        label = fmt::format("free b{}", memory->buffer);
      if (node->fan > 1) label += fmt::format(" x{}", node->fan);
      const bool marked = std::ranges::find(at_fault, name) != at_fault.end();
      picture.nodes.push_back({fmt::format("n{}", node->node), label, marked});
      for (const Id dependency : node->after) {
        picture.edges.push_back({fmt::format("n{}", dependency), fmt::format("n{}", node->node)});
      }
    } else if (const auto* clone = std::get_if<CloneGraph>(&step.command)) {
      GraphPicture copy = pictures[clone->from];
      copy.name = fmt::format("g{}", clone->graph);
      pictures[clone->graph] = std::move(copy);
    } else if (const auto* edges = std::get_if<ChangeEdges>(&step.command)) {
      change_edges(pictures[edges->graph], *edges);
    } else if (const auto* removed = std::get_if<RemoveNode>(&step.command)) {
      GraphPicture& picture = pictures[removed->graph];
      const std::string name = fmt::format("n{}", removed->node);
      std::erase_if(picture.nodes, [&](const auto& drawn) { return drawn.name == name; });
      std::erase_if(picture.edges, [&](const auto& edge) { return edge.from == name || edge.to == name; });
    }
  }
  draw_captures(program, at_fault, pictures);
  std::vector<GraphPicture> list;
  for (auto& [id, picture] : pictures) list.push_back(std::move(picture));
  return list;
}

}  // namespace verify
