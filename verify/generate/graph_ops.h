// Draws the commands that change or ask graphs and executable graphs as wholes: clones, dependencies, removed and
// disabled nodes, queries, uploads, the forms of instantiation. Internal to verify/generate; each kind has a switch in
// the swarm.
#pragma once

#include <optional>
#include <vector>

#include "verify/generate/choices.h"
#include "verify/generate/params.h"
#include "verify/program/state.h"

namespace verify {

// Whether `command` takes dependencies away, and whether nodes that were ordered before may race then.
[[nodiscard]] bool takes_order(const Command& command);
[[nodiscard]] bool races_after(const State& state, const Command& command);

class GraphOpsGenerator {
 public:
  GraphOpsGenerator(Choices& choices, const Swarm& swarm, const State& state)
      : choices_(choices), swarm_(swarm), state_(state) {}

  // Commands that belong together, to be taken until one may not stand; none when nothing fitted. A graph or executable
  // graph that they make gets the id given.
  [[nodiscard]] std::vector<Command> any(Id next_graph, Id next_exec);
  [[nodiscard]] Instantiate instantiate(Id exec, Id graph);

 private:
  std::vector<Command> edit(Id next_graph, Id next_exec);
  std::vector<Command> edge(Id graph);
  std::vector<Command> unedge(Id graph);
  std::vector<Command> remove(Id graph);
  std::vector<Command> attributes();
  std::vector<Command> circle(Id graph, Id next_exec);
  std::vector<Command> toggle();
  std::vector<Command> ask();
  std::vector<Command> objects();
  std::vector<Command> let_go();
  [[nodiscard]] std::vector<Id> graphs() const;
  [[nodiscard]] std::vector<Id> execs() const;
  [[nodiscard]] Id pick(const std::vector<Id>& ids) { return ids[choices_.below(ids.size())]; }

  Choices& choices_;
  const Swarm& swarm_;
  const State& state_;
};

}  // namespace verify
