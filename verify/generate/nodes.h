// Draws graphs and their nodes, other parameters for nodes of graphs and executable graphs, and patches and updates.
// Internal to verify/generate.
#pragma once

#include <optional>

#include "verify/generate/draft.h"

namespace verify {

class NodesDraft : protected Draft {
 protected:
  using Draft::Draft;

  void build_graph();
  bool build_shape(Id graph);
  Id device_for(const GraphState& graph);
  void add_node(Id graph);
  // Draws another one of HIP's functions for the same command, where there is one.
  template <class NodeCommand>
  void draw_form(NodeCommand& command) {
    if (!swarm_.forms || !choices_.percent(50)) return;
    command.form = choices_.percent(50) ? NodeForm::kDriver : NodeForm::kGeneric;
    if (state_.check(command)) command.form = NodeForm::kGeneric;
    if (state_.check(command)) command.form = NodeForm::kTyped;
  }
  bool draw_params(AddNode& command);
  bool draw_child(AddNode& command);
  // A child node of any graph; there is one.
  [[nodiscard]] NodeParams any_child();
  bool order(AddNode& command);
  void patch_exec(Id exec);
  bool set_node(Target target, Id id);
  static std::optional<NodeParams> another_of_its_type(ParamsGenerator& generator, const NodeParams& params);
  bool set_child(Id exec);
  void set_exec();
  void set_exec_child();
  void set_graph();
  void patch_stale();
  void patch_fresh();
  void update();
};

}  // namespace verify
