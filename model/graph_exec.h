// model::GraphExec: an executable graph.
//
// Instantiation copies everything (P1, P2). Its nodes are addressed by the nodes of the graph that it came from (their
// ids; the graph itself may be changed or gone). A change affects later launches only; a pending launch keeps the
// parameters of its launch. A failing call changes nothing (P4).
//
// The parameters of hipGraphExec*NodeSetParams may change. A kernel node may get another function (HIP and
// CUDA from 11.2 allow it); a copy keeps its kind, and its 1D form does not turn into a 2D or 3D shape or back; a 2D
// memset keeps width and height. A nested child's nodes are reached through set_child only, as in HIP.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/clock.h"
#include "model/graph.h"
#include "model/plan.h"

namespace model {

struct UpdateOutcome {
  Status status = Status::kSuccess;
  UpdateResult result = UpdateResult::kSuccess;
  const Node* error_node = nullptr;  // of the graph given, or null
};

inline constexpr std::uint64_t kAutoFreeOnLaunch = 1;  // hipGraphInstantiateFlagAutoFreeOnLaunch

class GraphExec {
 public:
  // kInvalidValue when the graph, or a child of it, has a cycle.
  static Status instantiate(ObjectTable& objects, const AddressSpace& space, const Graph& graph,
                            std::unique_ptr<GraphExec>* out, std::uint64_t flags = 0);
  GraphExec(const GraphExec&) = delete;
  GraphExec& operator=(const GraphExec&) = delete;
  ~GraphExec();

  [[nodiscard]] ObjectId id() const { return id_; }
  [[nodiscard]] std::uint64_t flags() const { return flags_; }  // hipGraphInstantiateFlags, as given

  // kInvalidValue: no such node at the top level, another type or a forbidden change (memory nodes: kNotSupported).
  Status set_params(ObjectId node, NodeParams params);
  // The child must match in number, types and edges of nodes, at any depth, and every node's change must be allowed:
  // else kUnknown (topology, as HIP answers) or kInvalidValue (parameters).
  Status set_child(ObjectId node, const Graph& child);
  Status set_enabled(ObjectId node, bool enabled);  // kernel, copy and memset nodes only
  Status enabled(ObjectId node, bool* out) const;

  // hipGraphExecUpdate: nodes are paired in order of insertion; see the .cpp for the rules and their sources.
  [[nodiscard]] UpdateOutcome update(const Graph& graph);

  // Type and parameters as instantiated or set since; null when there is no such node at the top level.
  [[nodiscard]] const NodeParams* params(ObjectId node) const;

  // The plan that a launch made now runs. The plan never changes.
  [[nodiscard]] std::shared_ptr<const Plan> plan() const { return plan_; }

  [[nodiscard]] ObjectId source() const { return source_; }  // the graph it was instantiated from
  // A launch first frees memory that earlier launches allocated and that was not freed since.
  [[nodiscard]] bool auto_free() const { return (flags_ & kAutoFreeOnLaunch) != 0; }

  // Launches of one executable graph are ordered: the next launch comes after this clock.
  [[nodiscard]] const Clock& last_launch() const { return last_launch_; }
  void set_last_launch(Clock point) { last_launch_ = std::move(point); }

  [[nodiscard]] std::vector<NodeView> inspect(std::size_t most = kAllNodes) const;

 private:
  // The nodes of one level, in order of insertion.
  struct ExecNode {
    ObjectId origin = 0;
    NodeType type = NodeType::kEmpty;
    StepIndex entry = 0, exit = 0;            // the same step, except for a child node
    std::vector<std::uint32_t> dependencies;  // sorted
    std::vector<ExecNode> children;
  };
  struct Change {
    StepIndex step = 0;
    const Node* to = nullptr;
  };

  GraphExec(ObjectTable& objects, const AddressSpace& space);
  [[nodiscard]] std::vector<ExecNode> flatten(const Graph& graph, PlanStructure* structure);
  [[nodiscard]] const ExecNode* find(ObjectId node) const;
  [[nodiscard]] StepIndex add_step(NodeParams params, ObjectId origin, PlanStructure* structure);
  void give(Step& step, NodeParams params) const;
  [[nodiscard]] Status change_allowed(const Step& step, const NodeParams& to) const;
  [[nodiscard]] UpdateOutcome compare(const std::vector<ExecNode>& level, const Graph& graph,
                                      std::vector<Change>* changes) const;
  void apply(const std::vector<Change>& changes);
  void hold_user_objects(const Graph& graph);
  [[nodiscard]] std::vector<NodeView> inspect(std::span<const ExecNode> level) const;
  Plan& writable();

  ObjectTable& objects_;
  const AddressSpace& space_;
  ObjectId id_;
  std::uint64_t flags_ = 0;
  ObjectId source_ = 0;
  std::vector<ExecNode> nodes_;
  std::shared_ptr<Plan> plan_;
  Clock last_launch_;
};

}  // namespace model
