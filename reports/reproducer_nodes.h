// Nodes of a program as HIP calls: what adds one, what sets one, and what records a whole graph again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/reproducer_text.h"
#include "verify/program/state.h"

namespace reports {

// A graph of the file: its variable, and those of its nodes (an array where a node has a fan) in the program's order.
struct GraphNames {
  std::string graph;
  std::vector<std::string> nodes;
};

class ReproducerNodes {
 public:
  explicit ReproducerNodes(ReproducerText& text) : text_(text) {}

  // Why the parameters cannot be exported to a stream, or nothing.
  [[nodiscard]] static std::string stream_flaw_of(const verify::NodeParams& params);

  // Adds the last node of `graph` to `names`, whose node variables are declared. `expected`: of each call.
  void add(const verify::State& state, const verify::GraphState& graph, std::size_t node, const GraphNames& names,
           const ExpectedStatus& expected, verify::NodeForm form = verify::NodeForm::kTyped);
  // Sets it, in an executable graph or (exec empty) in a graph.
  void set(const verify::State& state, const verify::NodeState& node, const std::string& exec,
           const std::string& handle, const ExpectedStatus& expected, verify::NodeForm form = verify::NodeForm::kTyped);
  // Gives the work of such a node to a stream, by a thread of the host.
  void enqueue(const verify::State& state, const verify::NodeParams& params, const std::string& stream,
               verify::Id thread, const ExpectedStatus& expected);
  // Gives the instances of a kernel node, by the variable of it, the attributes that are named.
  void set_attributes(const verify::NodeAttributes& attributes, const std::string& node, std::uint32_t fan,
                      const ExpectedStatus& expected);
  // Checks what a kernel node answers to be asked for its attributes: `seen` in the words of an observation.
  void check_attributes(const std::string& seen, const std::string& node, std::uint32_t fan);
  // Records `graph` anew into variables of its own.
  GraphNames record(const verify::State& state, const verify::GraphState& graph, const ExpectedStatus& expected);
  // The same inside `nest` - 1 graphs that hold nothing else; the variable of the outermost.
  std::string record_child(const verify::State& state, const verify::NodeState& node, const ExpectedStatus& expected);
  // The declaration of a graph's node variables.
  void declare(const verify::GraphState& graph, const GraphNames& names);

  // Graphs that stand in the file as the program made them, so that children need no copy of their own.
  std::map<verify::Id, std::string>& graphs() { return graphs_; }

 private:
  void add_there(const verify::State& state, const verify::GraphState& graph, std::size_t node, const GraphNames& names,
                 const ExpectedStatus& expected, verify::NodeForm form);
  void set_there(const verify::State& state, const verify::NodeState& node, const std::string& exec,
                 const std::string& handle, const ExpectedStatus& expected, verify::NodeForm form);
  std::string prepare(const verify::State& state, const verify::NodeState& node, const ExpectedStatus& expected);
  std::string dependencies(const verify::GraphState& graph, const verify::NodeState& node, const GraphNames& names);

  ReproducerText& text_;
  std::map<verify::Id, std::string> graphs_;
  unsigned fresh_ = 0;   // graphs recorded again
  unsigned locals_ = 0;  // structs of parameters
};

}  // namespace reports
