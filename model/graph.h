// model::Graph: a graph as HIP's API builds it: nodes in the order of insertion, edges, child graphs.
//
// A node owns its parameters (P1). A child graph is cloned when its node is added (hipGraphAddChildGraphNode) and
// belongs to the node. Edges can form a cycle, which HIP reports at instantiation; no function here follows it.
// Boost.Graph holds topology (graph.cpp alone includes it). A node keeps its vertex; removing a node renumbers the
// nodes behind it: hold nodes by pointer or id, not by index.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/object.h"
#include "model/params.h"
#include "model/user_object.h"

namespace model {

class Graph;

inline constexpr int kMaxChildDepth = 64;  // child graphs within child graphs

class Node {
 public:
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  [[nodiscard]] ObjectId id() const { return id_; }
  [[nodiscard]] NodeType type() const { return type_of(params_); }
  [[nodiscard]] const NodeParams& params() const { return params_; }
  [[nodiscard]] Graph& graph() const { return *graph_; }
  [[nodiscard]] std::uint32_t index() const { return index_; }  // position in graph().nodes(), now
  [[nodiscard]] ObjectId cloned_from() const { return cloned_from_; }
  // The child graph of a child node; null for every other type.
  [[nodiscard]] Graph* child() const { return child_.get(); }
  // Data that a getter has returned; it lives until the parameters change or the node dies.
  [[nodiscard]] const std::shared_ptr<void>& attachment() const { return attachment_; }
  void attach(std::shared_ptr<void> attachment) { attachment_ = std::move(attachment); }

 private:
  friend class Graph;
  Node() = default;
  ObjectId id_ = 0;
  NodeParams params_;
  std::unique_ptr<Graph> child_;
  Graph* graph_ = nullptr;
  std::uint32_t index_ = 0;
  std::uint32_t vertex_ = 0;  // of the topology
  ObjectId cloned_from_ = 0;
  std::shared_ptr<void> attachment_;
};

struct Topology;

class Graph {
 public:
  // `objects` and `space` outlive the graph. Every graph registers itself as kGraph, a child graph too.
  Graph(ObjectTable& objects, const AddressSpace& space, Node* parent = nullptr);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  [[nodiscard]] ObjectId id() const { return id_; }
  [[nodiscard]] Node* parent_node() const { return parent_; }  // of a child graph, else null
  [[nodiscard]] ObjectId cloned_from() const { return cloned_from_; }

  // Adds a node behind `dependencies`: nodes of this graph, each once, else kInvalidValue. Parameters are validated
  // (validate()); a failure changes nothing.
  Status add(NodeParams params, std::span<Node* const> dependencies, Node** out);
  // The child graph is cloned as it is now, so a graph may even be added to itself. Deeper nesting than kMaxChildDepth
  // is kInvalidValue.
  Status add_child(const Graph& child, std::span<Node* const> dependencies, Node** out);
  Status set_params(Node& node, NodeParams params);                     // same type, valid, else kInvalidValue
  void set_attributes(Node& node, const KernelAttributes& attributes);  // of a kernel node
  // Removes the node and its edges (hipGraphDestroyNode).
  void remove(Node& node);

  // All or nothing: both ends in this graph, distinct, no edge there already, no pair twice, else kInvalidValue.
  Status add_edges(std::span<Node* const> from, std::span<Node* const> to);
  // All or nothing: every edge exists and is named once.
  Status remove_edges(std::span<Node* const> from, std::span<Node* const> to);

  [[nodiscard]] std::span<const std::unique_ptr<Node>> nodes() const { return nodes_; }
  [[nodiscard]] std::vector<std::pair<Node*, Node*>> edges() const;  // by source, each source's in order of addition
  [[nodiscard]] std::vector<Node*> dependencies(const Node& node) const;  // in order of addition
  [[nodiscard]] std::vector<Node*> dependents(const Node& node) const;
  [[nodiscard]] std::vector<Node*> roots() const;
  [[nodiscard]] bool acyclic() const;  // this level
  // HIP forbids cloning such a graph, making it a child, removing its nodes or edges, and having two executable graphs
  // of it at a time. The callers of clone() and remove() have to refuse.
  [[nodiscard]] bool has_memory_nodes() const;
  [[nodiscard]] int height() const;  // 0 without child graphs
  [[nodiscard]] int depth() const;   // 0 for a graph that is no child

  // User objects that the graph keeps alive as long as it lives.
  [[nodiscard]] UserReferences& user_references() { return user_references_; }
  [[nodiscard]] const UserReferences& user_references() const { return user_references_; }

  // A copy of everything, child graphs too; each node of the copy knows its original.
  [[nodiscard]] std::unique_ptr<Graph> clone(Node* parent = nullptr) const;
  // The node of this graph (not of its children) that was cloned from `original`, or null.
  [[nodiscard]] Node* find_clone_of(ObjectId original) const;

 private:
  [[nodiscard]] Status check_dependencies(std::span<Node* const> dependencies) const;
  [[nodiscard]] Status check_pairs(std::span<Node* const> from, std::span<Node* const> to, bool exist) const;
  [[nodiscard]] bool has_edge(const Node& from, const Node& to) const;
  Node& append(NodeParams params, std::span<Node* const> dependencies);
  Node& append(NodeParams params);  // without a vertex
  void forget_removed_vertices();

  ObjectTable& objects_;
  const AddressSpace& space_;
  Node* parent_;
  ObjectId id_;
  ObjectId cloned_from_ = 0;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unique_ptr<Topology> topology_;
  UserReferences user_references_;
};

// White box, for properties: the nodes of a graph or an executable graph, in order of insertion.
struct NodeView {
  NodeType type = NodeType::kEmpty;
  const NodeParams* params = nullptr;       // valid until the graph or executable graph changes
  std::vector<std::uint32_t> dependencies;  // sorted indices of this level
  std::vector<NodeView> children;           // of a child node
  ObjectId id = 0;                          // of the node, or of the node that it was instantiated from
  bool enabled = true;
};
inline constexpr std::size_t kAllNodes = ~std::size_t{0};
// The first `most` nodes of the graph, with all nodes of their children.
[[nodiscard]] std::vector<NodeView> inspect(const Graph& graph, std::size_t most = kAllNodes);

}  // namespace model
