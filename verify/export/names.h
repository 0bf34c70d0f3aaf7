// The names that graphs, their nodes and executable graphs have in a reproducer, and the list of variables that the
// file declares.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "verify/export/reproducer.h"
#include "verify/program/state.h"

namespace verify {

// A graph of the file: its variable and its nodes' variables (an array where a node has a fan) in the program's order.
struct GraphNames {
  std::string graph;
  std::vector<std::string> nodes;
  bool operator==(const GraphNames&) const = default;
};
// An executable graph of the file, and the graph that it was made from.
struct ExecNames {
  std::string exec;
  GraphNames names;
  bool owns_graph = false;  // that graph was recorded for this executable graph alone
  InstantiateForm form = InstantiateForm::kPlain;
  std::uint32_t flags = 0;
  bool operator==(const ExecNames&) const = default;
};

// The graphs and executable graphs of the program as they are named now.
struct NamesOfFile {
  std::map<Id, GraphNames> graphs;
  std::map<Id, ExecNames> execs;
};

[[nodiscard]] std::string stream_name(Id id);
// The variable of a node of `graph`.
[[nodiscard]] const std::string& node_name(const GraphState& graph, const GraphNames& names, Id node);
// The variables of the node's fan instances.
[[nodiscard]] std::vector<std::string> instance_names(const GraphState& graph, const GraphNames& names, Id node);
// "a, b, c"
[[nodiscard]] std::string list_of(const std::vector<std::string>& variables);

// Everything that has to be known about the whole program before its first command is written. The exporter writes the
// program twice, the first time to find this out.
class NeedsOfFile {
 public:
  // Has a variable of that type declared at the top of the body, once.
  void declare(const std::string& type, const std::string& variable);
  void use_arena(std::size_t arena) { arenas_[arena] = true; }
  // Notes that a command names nodes by handles that a capture made.
  void use_captured_nodes() { captured_nodes_ = true; }

  [[nodiscard]] const std::map<std::string, std::vector<std::string>>& variables() const { return variables_; }
  [[nodiscard]] bool uses_arena(std::size_t arena) const { return arenas_[arena]; }
  [[nodiscard]] bool uses_captured_nodes() const { return captured_nodes_; }

 private:
  std::map<std::string, std::vector<std::string>> variables_;  // by type
  std::array<bool, kArenas> arenas_{};
  bool captured_nodes_ = false;
};

}  // namespace verify
