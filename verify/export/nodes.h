// Nodes of a program as HIP calls: adding one, setting one, and recording a whole graph again.
#pragma once

#include <string>

#include "verify/export/names.h"
#include "verify/export/node_calls.h"
#include "verify/export/text.h"
#include "verify/program/state.h"

namespace verify {

class ReproducerNodes {
 public:
  ReproducerNodes(ReproducerText& text, const NamesOfFile& names) : text_(text), names_(names) {}

  // Why the parameters cannot be exported to a stream, or nothing.
  [[nodiscard]] static std::string stream_flaw_of(const NodeParams& params);

  // Adds the last node of `graph` to `names`. The node variables are declared. `expected`: the status of each call.
  void add(const State& state, const GraphState& graph, std::size_t node, const GraphNames& names,
           const ExpectedStatus& expected, NodeForm form = NodeForm::kTyped);
  // Sets a node, in an executable graph or (exec empty) in a graph.
  void set(const State& state, const NodeState& node, const std::string& exec, const std::string& handle,
           const ExpectedStatus& expected, NodeForm form = NodeForm::kTyped);
  // Gives the work of such a node to a stream.
  void enqueue(const State& state, const NodeParams& params, const StreamCall& how, const ExpectedStatus& expected);
  // Sets the given attributes of all instances of a kernel node; `node` is its variable.
  void set_attributes(const NodeAttributes& attributes, const std::string& node, std::uint32_t fan,
                      const ExpectedStatus& expected);
  // Checks the attributes that the runtime reports for a kernel node; `seen` spells them as an observation does.
  void check_attributes(const std::string& seen, const std::string& node, std::uint32_t fan);
  // Records `graph` anew, into new variables.
  GraphNames record(const State& state, const GraphState& graph, const ExpectedStatus& expected);
  // Records the graph of a child node inside `nest` - 1 graphs that hold nothing else; returns the outermost.
  std::string record_child(const State& state, const NodeState& node, const ExpectedStatus& expected);
  // Declares a graph's node variables.
  void declare(const GraphState& graph, const GraphNames& names);

 private:
  void add_there(const State& state, const GraphState& graph, std::size_t node, const GraphNames& names,
                 const ExpectedStatus& expected, NodeForm form);
  void set_there(const State& state, const NodeState& node, const std::string& exec, const std::string& handle,
                 const ExpectedStatus& expected, NodeForm form);
  std::string prepare(const State& state, const NodeState& node, const ExpectedStatus& expected);
  std::string dependencies(const GraphState& graph, const NodeState& node, const GraphNames& names);

  ReproducerText& text_;
  const NamesOfFile& names_;  // a child node can use a graph of the file that is unchanged
};

}  // namespace verify
