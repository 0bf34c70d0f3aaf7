// The family of commands about whole graphs: declaring and cloning graphs, changing their edges, asking about them, and
// destroying the objects that HIP destroys by handle.
#pragma once

#include "verify/commands/fields.h"

namespace verify {

struct DeclareGraph {
  Id graph = 0;
  static constexpr auto spec() {
    return describe_command("graph", "An empty graph.", kDrawnByHand, kNoDeviation,
                            NameField{&DeclareGraph::graph, 'g', kIsNew})
        .uncounted();
  }
  bool operator==(const DeclareGraph&) const = default;
};
// hipGraphClone makes `graph` from `from`; each node of the clone has the name of the original node.
struct CloneGraph {
  Id graph = 0;
  Id from = 0;
  static constexpr auto spec() {
    return describe_command("clone", "`hipGraphClone`. The nodes of the clone have the names of the original's.",
                            kDrawnByHand, kDescribedByFields, NameField{&CloneGraph::graph, 'g', kIsNew},
                            NameField{&CloneGraph::from, 'g', meets("clone", Leaves::kNothing)})
        .replaced_by([](const CloneGraph& c) { return DeclareGraph{c.graph}; });
  }
  bool operator==(const CloneGraph&) const = default;
};
// hipGraphNodeFindInClone: which node of `clone` was made from a node of `graph`; an observation.
struct FindInClone {
  Id clone = 0;
  Id graph = 0;
  Id node = 0;
  static constexpr auto spec() {
    return describe_command(
        "find",
        "`hipGraphNodeFindInClone`. The node that it finds, or that it finds none, is an observation. Not "
        "after either graph was set or patched: a strategy may have recorded it again.",
        drawn(Topic::kQueries, 25), kNoDeviation, NameField{&FindInClone::clone, 'g', kNotCovered},
        NodeNameField{&FindInClone::graph, &FindInClone::node, 'g', meets("find", Leaves::kNothing)});
  }
  bool operator==(const FindInClone&) const = default;
};
// Dependencies of `node` that are added or removed, all in one call. They may close a cycle only with `cycle`.
struct ChangeEdges {
  Id graph = 0;
  Id node = 0;
  std::vector<Id> after;
  bool add = true;
  bool cycle = false;
  static constexpr auto spec() {
    return describe_command(
        WordByFlag{&ChangeEdges::add, "edge", "unedge"},
        "Adds or removes dependencies of a node, in one call; a node may wait for later ones. Only `edge` "
        "takes `cycle`: edges that close a circle say it, others may not. Instantiating a graph with a "
        "circle is refused, which is an observation.",
        kDrawnByHand, kDescribedByFields,
        NodeNameField{&ChangeEdges::graph, &ChangeEdges::node, 'g', met_by_word(Leaves::kGraphChanged)},
        NodesKey{"after", &ChangeEdges::after, true}, FlagKey{"cycle", &ChangeEdges::cycle, {}, "closes_circle"});
  }
  bool operator==(const ChangeEdges&) const = default;
};
struct RemoveNode {
  Id graph = 0;
  Id node = 0;
  static constexpr auto spec() {
    return describe_command(
        "remove",
        "`hipGraphDestroyNode`: the node's edges go with it. Executable graphs keep theirs, but the node "
        "cannot be named there any more: a patch that concerns it records again.",
        kDrawnByHand, kDescribedByFields,
        NodeNameField{&RemoveNode::graph, &RemoveNode::node, 'g', meets("remove", Leaves::kGraphChanged)});
  }
  bool operator==(const RemoveNode&) const = default;
};
// Every query that HIP has for a graph or an executable graph.
struct Inspect {
  Target target = Target::kGraph;
  Id id = 0;
  static constexpr auto spec() {
    return describe_command(
        "inspect",
        "Every query that HIP has of a graph or an executable graph: nodes, roots, edges, dependencies, "
        "dependents, types, parameters, with arrays that are too short and too long; disabled nodes. The "
        "answers are observations, in symbolic words.",
        drawn(Topic::kQueries, 50), kDescribedByFields, field::target(&Inspect::target, &Inspect::id, "ge", "inspect"));
  }
  bool operator==(const Inspect&) const = default;
};
// The numbers of hipGraphDebugDotFlags.
inline constexpr std::array<std::pair<std::uint32_t, std::string_view>, 10> kDotFlags = {{{1U << 0, "verbose"},
                                                                                          {1U << 2, "kernel"},
                                                                                          {1U << 3, "memcpy"},
                                                                                          {1U << 4, "memset"},
                                                                                          {1U << 5, "host"},
                                                                                          {1U << 6, "event"},
                                                                                          {1U << 7, "signal"},
                                                                                          {1U << 8, "wait"},
                                                                                          {1U << 9, "attributes"},
                                                                                          {1U << 10, "handles"}}};
// hipGraphDebugDotPrint into a temporary file, which is read as a graph and compared with the graph that was recorded.
struct PrintDot {
  Id graph = 0;
  std::uint32_t flags = 0;
  static constexpr auto spec() {
    return describe_command(
        "dot",
        "`hipGraphDebugDotPrint` into a temporary file. The numbers of nodes and edges are observations, and so are "
        "a file that is not in Graphviz's language, edges that are not the graph's, and nodes about which the flags "
        "say nothing that they document. Not for graphs with child graphs.",
        drawn(Topic::kQueries, 10), kDescribedByHand, NameField{&PrintDot::graph, 'g', meets("dot", Leaves::kNothing)},
        FlagsKey{"flags", &PrintDot::flags, kDotFlags});
  }
  bool operator==(const PrintDot&) const = default;
};
bool describe_events(EventEmitter& out, const PrintDot& c);
struct Destroy {
  Target target = Target::kGraph;
  Id id = 0;
  static constexpr auto spec() {
    return describe_command(
        "destroy",
        "Destroys an object. Executable graphs outlive their graph: an update takes any other graph, "
        "a patch records again. Their nodes cannot be named any more.",
        kDrawnByHand, kDescribedByFields, field::target(&Destroy::target, &Destroy::id, "gesv", "destroy"));
  }
  bool operator==(const Destroy&) const = default;
};

using GraphsCommands =
    CommandList<DeclareGraph, CloneGraph, FindInClone, ChangeEdges, RemoveNode, Inspect, PrintDot, Destroy>;

}  // namespace verify
