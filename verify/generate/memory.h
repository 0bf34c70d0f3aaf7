// Generator of graphs that allocate memory when they run, and of commands that use it. Internal to verify/generate.
//
// Such a graph is drawn as one family: nodes that allocate, the memsets that fill, nodes that use, copies that carry
// the results into buffers that are read, mostly nodes that free; its executable graph; a launch. Memory that no node
// frees is read, used by streams, freed by the program or by a node of another graph, or left for the next launch,
// which is then refused unless it frees by itself.
#pragma once

#include "verify/generate/virtual_memory.h"

namespace verify {

class GraphMemoryDraft : protected VirtualMemoryDraft {
 protected:
  using VirtualMemoryDraft::VirtualMemoryDraft;

  void memory_family();
  void use_what_is_there();
  // Mostly frees the memory that has to be free before a launch of `exec`.
  void before_launch(Id exec);
  bool add_ordered(AddNode node) { return order(node) && take(node); }  // after the nodes that it would race with
  // Adds a node that allocates the next buffer, and a memset that fills it.
  bool allocate(Id graph);

 private:
  [[nodiscard]] std::vector<Id> there(const GraphState* graph) const;
  void carry_out(Id graph, Id buffer);
  void instantiate_family(Id graph);
  void free(Id buffer);
  void free_elsewhere(Id buffer);
  void outlive_graph(Id buffer);
};

}  // namespace verify
