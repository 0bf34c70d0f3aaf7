// hip::PatchTree: a recording and its child graphs as one flat list of nodes with a relocation table over it.
//
// It holds a GraphPatcher's data about its graph and makes no HIP call: every node's parameters at the current
// addresses (owned), the handle for its setter, and which fields hold which buffer. Nodes are in preorder (see
// TreeIndex). Child graphs that are nested deeper than kMaxChildDepth, or that would take the tree past kMaxTreeNodes,
// are not opened: such a node counts as opaque for every buffer that its recording could name, so no buffer is missed.
//
// Does not check that the nodes' handles belong to the graph; the runtime does.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hip/recording.h"
#include "hip/relocation.h"

namespace hip {

struct TreeNode {
  NodeRecord record;  // at the current addresses
  std::vector<Relocation> relocations;
  hipGraphNode_t handle = nullptr;   // of an inner node: null until its child graph is prepared
  TreeIndex top = 0;                 // the top-level node that it belongs to (itself, if it is one)
  TreeIndex end = 0;                 // one past the last node below it
  bool sealed = false;               // a child graph that is not opened, see above
  NodeForm form = NodeForm::kTyped;  // as it was added
  // For top-level child graph nodes: whether the nodes below have their handles, and the graph recorded for them.
  bool prepared = false;
  hipGraph_t private_graph = nullptr;
};

class PatchTree {
 public:
  // `handles` are the handles of the recording's own nodes; nodes of child graphs get their handles later.
  PatchTree(const Recording& recording, std::span<const hipGraphNode_t> handles,
            std::span<const DeviceAddress> addresses);

  [[nodiscard]] TreeNode& operator[](TreeIndex node) { return nodes_[node]; }
  [[nodiscard]] const TreeNode& operator[](TreeIndex node) const { return nodes_[node]; }
  [[nodiscard]] TreeIndex size() const { return static_cast<TreeIndex>(nodes_.size()); }
  [[nodiscard]] bool is_inner(TreeIndex node) const { return nodes_[node].top != node; }
  [[nodiscard]] const RelocationTable& table() const { return table_; }
  // Tree indices of the recording's own nodes.
  [[nodiscard]] std::span<const TreeIndex> top_level() const { return top_level_; }
  // Whether any node in [first, last) has a relocation.
  [[nodiscard]] bool holds_relocations(TreeIndex first, TreeIndex last) const;
  // "node 3/0/2 (kernel)": the indices from the top-level node down, for messages.
  [[nodiscard]] std::string name_of(TreeIndex node) const;

  // Replaces a top-level node; its handle stays, its child's nodes are new and not prepared. Takes time linear in the
  // node if its relocations stay and it is neither opaque nor a child graph, otherwise linear in the tree.
  void replace(NodeIndex node, NodeRecord record, std::vector<Relocation> relocations,
               std::span<const DeviceAddress> addresses);

 private:
  void rebuild_table(std::size_t buffer_count);

  std::vector<TreeNode> nodes_;
  std::vector<TreeIndex> top_level_;
  RelocationTable table_;
};

}  // namespace hip
