#include "verify/export/names.h"

#include <fmt/format.h>

#include <algorithm>

namespace verify {

std::string stream_name(Id id) {
  return id == kNullStream ? "nullptr" : fmt::format("s{}", id);
}

const std::string& node_name(const GraphState& graph, const GraphNames& names, Id node) {
  return names.nodes.at(static_cast<std::size_t>(graph.index_of(node)));
}

std::vector<std::string> instance_names(const GraphState& graph, const GraphNames& names, Id node) {
  const std::string& name = node_name(graph, names, node);
  const std::uint32_t fan = graph.find(node)->fan;
  if (fan == 1) return {name};
  std::vector<std::string> variables;
  for (std::uint32_t k = 0; k < fan; ++k) variables.push_back(fmt::format("{}[{}]", name, k));
  return variables;
}

std::string list_of(const std::vector<std::string>& variables) {
  std::string text;
  for (const std::string& each : variables) text += (text.empty() ? "" : ", ") + each;
  return text;
}

void NeedsOfFile::declare(const std::string& type, const std::string& variable) {
  std::vector<std::string>& declared = variables_[type];
  if (std::ranges::find(declared, variable) == declared.end()) declared.push_back(variable);
}

}  // namespace verify
