// The family of commands about graphs as wholes: declaring, cloning, changing their edges, asking about them;
// destroying what HIP destroys by handle.
#pragma once

#include "verify/program/node_params.h"

namespace verify {

struct DeclareGraph {
  Id graph = 0;
  bool operator==(const DeclareGraph&) const = default;
};
// g1 is hipGraphClone's; its nodes have the names of the original's.
struct CloneGraph {
  Id graph = 0;
  Id from = 0;
  bool operator==(const CloneGraph&) const = default;
};
// hipGraphNodeFindInClone: which node of `clone` was made from a node of `graph`; an observation.
struct FindInClone {
  Id clone = 0;
  Id graph = 0;
  Id node = 0;
  bool operator==(const FindInClone&) const = default;
};
// Dependencies of `node` that are added or removed, all in one call. Only with `cycle` they may close a circle.
struct ChangeEdges {
  Id graph = 0;
  Id node = 0;
  std::vector<Id> after;
  bool add = true;
  bool cycle = false;
  bool operator==(const ChangeEdges&) const = default;
};
struct RemoveNode {
  Id graph = 0;
  Id node = 0;
  bool operator==(const RemoveNode&) const = default;
};
// Every query that HIP has of a graph or an executable graph.
struct Inspect {
  Target target = Target::kGraph;
  Id id = 0;
  bool operator==(const Inspect&) const = default;
};
// hipGraphDebugDotPrint into a file that passes; nodes and edges are counted.
struct PrintDot {
  Id graph = 0;
  bool operator==(const PrintDot&) const = default;
};
struct Destroy {
  Target target = Target::kGraph;
  Id id = 0;
  bool operator==(const Destroy&) const = default;
};

using GraphsCommands =
    CommandList<DeclareGraph, CloneGraph, FindInClone, ChangeEdges, RemoveNode, Inspect, PrintDot, Destroy>;

}  // namespace verify
