#include "verify/program/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "verify/program/text.h"

namespace verify {

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
      if (node->fan > 1) label += fmt::format(" x{}", node->fan);
      const bool marked = std::find(at_fault.begin(), at_fault.end(), name) != at_fault.end();
      picture.nodes.push_back({fmt::format("n{}", node->node), label, marked});
      for (const Id dependency : node->after) {
        picture.edges.push_back({fmt::format("n{}", dependency), fmt::format("n{}", node->node)});
      }
    }
  }
  std::vector<GraphPicture> list;
  for (auto& [id, picture] : pictures) list.push_back(std::move(picture));
  return list;
}

}  // namespace verify
