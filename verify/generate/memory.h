// Generator of graphs that allocate memory when they run, and of commands that use it. Internal to verify/generate.
//
// Such a graph is drawn as one family: nodes that allocate, the memsets that fill, nodes that use, copies that carry
// the results into buffers that are read, mostly nodes that free; its executable graph; a launch. Memory that no node
// frees is read, used by streams, freed, or left for the next launch, which is then refused unless it frees by itself.
#pragma once

#include <functional>
#include <vector>

#include "verify/generate/choices.h"
#include "verify/program/state.h"

namespace verify {

class MemoryGenerator {
 public:
  // The program generator's functions and counters that this generator uses.
  struct Hands {
    std::function<bool(const Command&)> take;
    std::function<bool(AddNode)> add;  // ordered after the nodes that it would race with
    std::function<void(Id graph)> add_any_node;
    std::function<void(Id exec)> launch;
    Id &graph, &exec, &buffer;  // the numbers that the next objects are going to have
  };
  MemoryGenerator(Choices& choices, const State& state, Hands hands)
      : choices_(choices), state_(state), hands_(std::move(hands)) {}

  void family();
  void use_what_is_there();
  // Mostly frees the memory that has to be free before a launch of `exec`.
  void before_launch(Id exec);

 private:
  [[nodiscard]] Id pick(const std::vector<Id>& ids) { return ids[choices_.below(ids.size())]; }
  [[nodiscard]] std::vector<Id> there(const GraphState* graph) const;
  bool allocate(Id graph);
  void carry_out(Id graph, Id buffer);
  void instantiate(Id graph);
  void free(Id buffer);

  Choices& choices_;
  const State& state_;
  Hands hands_;
};

}  // namespace verify
