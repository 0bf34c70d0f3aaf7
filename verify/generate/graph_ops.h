// Draws the commands that change or ask graphs and executable graphs as wholes: clones, dependencies, removed and
// disabled nodes, the forms of instantiation. Draws commands for queries, attributes and user objects by their fields.
// Internal to verify/generate; each kind has a switch in the swarm.
#pragma once

#include <vector>

#include "verify/generate/choices.h"
#include "verify/generate/params.h"
#include "verify/program/names.h"
#include "verify/program/state.h"

namespace verify {

// Whether `command` takes dependencies away, and whether nodes that were ordered before may race then.
[[nodiscard]] bool takes_order(const Command& command);
[[nodiscard]] bool races_after(const State& state, const Command& command);

class GraphOpsGenerator {
 public:
  GraphOpsGenerator(Choices& choices, const Swarm& swarm, const State& state, const NextNames& names)
      : choices_(choices), swarm_(swarm), state_(state), names_(names) {}

  // Commands that belong together, to be taken until one is not valid; empty when nothing fitted.
  [[nodiscard]] std::vector<Command> any();
  [[nodiscard]] Instantiate instantiate(Id exec, Id graph);

 private:
  std::vector<Command> by_fields(Topic topic);
  std::vector<Command> object();
  std::vector<Command> edit();
  std::vector<Command> edge(Id graph);
  std::vector<Command> unedge(Id graph);
  std::vector<Command> remove(Id graph);
  std::vector<Command> circle(Id graph);
  std::vector<Command> toggle();
  [[nodiscard]] std::vector<Id> graphs() const;
  [[nodiscard]] std::vector<Id> execs() const;
  [[nodiscard]] Id pick(const std::vector<Id>& ids) { return ids[choices_.below(ids.size())]; }

  Choices& choices_;
  const Swarm& swarm_;
  const State& state_;
  const NextNames& names_;  // the numbers of the objects that the commands make
};

}  // namespace verify
