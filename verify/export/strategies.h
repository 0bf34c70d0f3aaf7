// How the strategies bring graphs and executable graphs of a reproducer to new parameters and new addresses: by setters
// (patch), by recording again (rebuild), or by hipGraphExecUpdate of a fresh recording (update).
#pragma once

#include <map>
#include <string>

#include "verify/export/names.h"
#include "verify/export/nodes.h"

namespace verify {

class Exporter;

class ReproducerStrategies {
 public:
  ReproducerStrategies(Exporter& out, ReproducerStrategy strategy) : out_(out), strategy_(strategy) {}

  // Notes that a graph is new in the file and has its buffers at their present addresses.
  void graph_made(Id graph);
  void graph_cloned(Id graph, Id from);
  void node_added(Id graph, const NodeState& node);
  void exec_made(Id exec, Id graph);

  void set(const SetNode& command);
  void patch(const Patch& command);
  void update(const Update& command);
  // The moved buffers for which patch() would write calls now.
  [[nodiscard]] std::vector<Id> due(const Patch& command) const;

  // Writes the call that makes an executable graph.
  void instantiate(const std::string& exec, const std::string& graph, InstantiateForm form, std::uint32_t flags);

 private:
  using Versions = std::map<Id, std::uint32_t>;  // by buffer: how often it had moved

  [[nodiscard]] bool patches() const { return strategy_ == ReproducerStrategy::kPatch; }
  [[nodiscard]] Versions versions() const;
  void note(Versions& versions, const NodeState& node) const;
  void set_all_stale(const Patch& command, const GraphState& graph, const std::vector<Id>& stale);
  void record_again(Target target, Id id, const GraphState& graph);
  void rebuild_exec(Id id, const GraphState& graph);
  void rebuild_graph(Id id);
  void update_to(Id id, const GraphState& graph);
  // Returns the suffix of the variables that hold the answer.
  std::string call_update(Id id, const std::string& graph);
  void check_error_node(Id graph, const std::string& suffix);

  Exporter& out_;
  ReproducerStrategy strategy_;
  // The versions of the buffers when each graph or executable graph was last brought up to date.
  std::map<Id, Versions> graph_versions_, exec_versions_;
};

}  // namespace verify
