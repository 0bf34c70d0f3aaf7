// Texts of Graphviz as graphs; the contract is in the header.
#include "verify/execute/dot_graph.h"

#include <fmt/format.h>
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace verify {

namespace {

// Source: "The DOT Language" (graphviz.org/doc/info/lang.html).
class DotReader {
 public:
  explicit DotReader(std::string_view text) : text_(text) {}

  std::optional<DotGraph> read() {
    take("strict");
    if (!take("digraph")) return std::nullopt;
    if (!at("{")) name();
    block(0);
    skip();
    if (failed_ || !text_.empty()) return std::nullopt;
    return std::move(graph_);
  }

 private:
  static constexpr int kMostLevels = 128;  // of subgraphs

  void skip() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front())) != 0) text_.remove_prefix(1);
  }
  bool at(std::string_view token) {
    skip();
    return text_.starts_with(token);
  }
  bool take(std::string_view token) {
    const bool there = at(token);
    if (there) text_.remove_prefix(token.size());
    return there;
  }
  void expect(std::string_view token) { failed_ |= !take(token); }

  static bool is_plain(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

  std::string name() {
    if (take("\"")) return quoted();
    std::size_t length = 0;
    while (length < text_.size() && is_plain(text_[length])) ++length;
    failed_ |= length == 0;
    std::string found(text_.substr(0, length));
    text_.remove_prefix(length);
    return found;
  }
  std::string quoted() {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == '"') {
        std::string found(text_.substr(0, i));
        text_.remove_prefix(i + 1);
        return found;
      }
    }
    failed_ = true;
    return {};
  }

  void block(int level) {
    expect("{");
    failed_ |= level > kMostLevels;
    while (!failed_ && !take("}")) statement(level);
  }

  void statement(int level) {
    const bool quoted_first = at("\"");
    const std::string first = name();
    if (failed_) return;
    if (first == "subgraph" && !quoted_first) {
      if (!at("{")) name();
      return block(level + 1);
    }
    if (take("=")) {
      name();
    } else if (!quoted_first && (first == "graph" || first == "node" || first == "edge")) {
      attributes();
    } else {
      nodes(first);
    }
    take(";");
  }

  void nodes(const std::string& first) {
    std::size_t from = index(first);
    bool edge = false;
    while (!failed_ && take("->")) {
      const std::size_t to = index(name());
      graph_.edges.emplace_back(from, to);
      from = to;
      edge = true;
    }
    const std::size_t text = attributes();
    if (!edge) graph_.nodes[from].text += text;
  }

  // Reads lists of attributes, and returns the number of characters in their values.
  std::size_t attributes() {
    std::size_t characters = 0;
    while (!failed_ && take("[")) {
      while (!failed_ && !take("]")) {
        name();
        expect("=");
        characters += failed_ ? 0 : name().size();
        if (!take(",")) take(";");
      }
    }
    return characters;
  }

  std::size_t index(const std::string& name) {
    const auto [found, is_new] = indices_.emplace(name, graph_.nodes.size());
    if (is_new) graph_.nodes.push_back({name, 0});
    return found->second;
  }

  std::string_view text_;  // what is left of it
  DotGraph graph_;
  std::map<std::string, std::size_t> indices_;
  bool failed_ = false;
};

using Colours = std::vector<std::size_t>;

// A node's colour with the colours of the nodes before it and behind it.
using Surroundings = std::pair<std::size_t, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>>;

std::vector<Surroundings> look_around(const Colours& colours, const DotEdges& edges) {
  std::vector<Surroundings> around(colours.size());
  for (std::size_t i = 0; i < colours.size(); ++i) around[i].first = colours[i];
  for (const auto& [from, to] : edges) {
    around[to].second.first.push_back(colours[from]);
    around[from].second.second.push_back(colours[to]);
  }
  for (Surroundings& each : around) {
    std::ranges::sort(each.second.first);
    std::ranges::sort(each.second.second);
  }
  return around;
}

Colours sorted(Colours colours) {
  std::ranges::sort(colours);
  return colours;
}

// Whether the flags are to say more about such a node, by the comments in HIP's header.
bool is_about(std::uint32_t flags, const hip::NodeRecord& record) {
  if ((flags & (hipGraphDebugDotFlagsVerbose | hipGraphDebugDotFlagsHandles)) != 0) return true;
  const auto has = [flags](unsigned some) { return (flags & some) != 0; };
  if (std::holds_alternative<hip::KernelRecord>(record))
    return has(hipGraphDebugDotFlagsKernelNodeParams | hipGraphDebugDotFlagsKernelNodeAttributes);
  if (std::holds_alternative<hip::CopyRecord>(record)) return has(hipGraphDebugDotFlagsMemcpyNodeParams);
  if (std::holds_alternative<hip::MemsetRecord>(record)) return has(hipGraphDebugDotFlagsMemsetNodeParams);
  if (std::holds_alternative<hip::HostRecord>(record)) return has(hipGraphDebugDotFlagsHostNodeParams);
  if (std::holds_alternative<hip::EventSignalRecord>(record) || std::holds_alternative<hip::EventWaitRecord>(record))
    return has(hipGraphDebugDotFlagsEventNodeParams);
  return false;
}

// The nodes of `flagged` with more text than the node of that name has in `plain`.
std::size_t longer_nodes(const DotGraph& plain, const DotGraph& flagged) {
  std::map<std::string, std::size_t> before;
  for (const DotGraph::Node& node : plain.nodes) before[node.name] = node.text;
  return static_cast<std::size_t>(std::ranges::count_if(flagged.nodes, [&](const DotGraph::Node& node) {
    const auto found = before.find(node.name);
    return found != before.end() && node.text > found->second;
  }));
}

}  // namespace

std::optional<DotGraph> read_dot(std::string_view text) {
  return DotReader(text).read();
}

bool same_structure(std::size_t nodes, const DotEdges& a, const DotEdges& b) {
  if (a.size() != b.size()) return false;
  Colours of_a(nodes, 0), of_b(nodes, 0);
  // Each round splits a colour at least, or is the last one.
  for (std::size_t colours = 1;;) {
    const std::vector<Surroundings> around_a = look_around(of_a, a), around_b = look_around(of_b, b);
    std::map<Surroundings, std::size_t> numbers;
    for (std::size_t i = 0; i < nodes; ++i) of_a[i] = numbers.emplace(around_a[i], numbers.size()).first->second;
    for (std::size_t i = 0; i < nodes; ++i) of_b[i] = numbers.emplace(around_b[i], numbers.size()).first->second;
    if (sorted(of_a) != sorted(of_b)) return false;
    if (numbers.size() <= colours) return true;
    colours = numbers.size();
  }
}

std::string describe_dot(const hip::Recording& recording, std::string_view plain, std::string_view flagged,
                         std::uint32_t flags) {
  const std::optional<DotGraph> first = read_dot(plain), graph = read_dot(flagged);
  if (!first || !graph) return "not in Graphviz's language";
  std::string said = fmt::format("{} nodes, {} edges", graph->nodes.size(), graph->edges.size());
  DotEdges edges;
  std::size_t about = 0;
  for (std::size_t to = 0; to < recording.nodes().size(); ++to) {
    const hip::RecordedNode& node = recording.nodes()[to];
    for (const hip::NodeIndex from : node.dependencies) edges.emplace_back(from, to);
    about += is_about(flags, node.record) ? 1 : 0;
  }
  const std::size_t nodes = recording.nodes().size();
  if (nodes != graph->nodes.size() || !same_structure(nodes, edges, graph->edges)) said += ", another graph";
  const std::size_t longer = longer_nodes(*first, *graph);
  if (longer < about) said += fmt::format(", the flags say nothing about {} nodes", about - longer);
  return said;
}

}  // namespace verify
