// Flattens a recording, and replaces one top-level node.
#include "hip/patch_tree.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <utility>

namespace hip {
namespace {

// Appends a node and all nodes below it to `out`. The first element of `out` has the tree index `base`. Recursion is as
// deep as child graphs are opened: kMaxChildDepth.
struct Flattener {
  TreeIndex base;
  std::span<const DeviceAddress> addresses;
  std::vector<TreeNode>& out;

  void append(const RecordedNode& node, TreeIndex top, std::uint32_t depth) {
    const std::size_t at = out.size();
    TreeNode& flat = out.emplace_back();
    flat.record = relocated(node, addresses);
    flat.form = form_of(node);
    flat.relocations = node.relocations;
    flat.top = top;
    if (const auto* child = std::get_if<ChildRecord>(&node.record)) {
      flat.sealed = !may_open(*child->graph, depth);
      if (!flat.sealed) append_all(*child->graph, top, depth + 1);
    }
    out[at].end = base + static_cast<TreeIndex>(out.size());
  }

 private:
  void append_all(const Recording& recording, TreeIndex top, std::uint32_t depth) {
    for (const RecordedNode& node : recording.nodes()) append(node, top, depth);
  }
  [[nodiscard]] bool may_open(const Recording& child, std::uint32_t depth) const {
    return depth + child.child_depth() < kMaxChildDepth &&
           std::uint64_t{base} + out.size() + child.tree_size() <= kMaxTreeNodes;
  }
};

// Adds every buffer that `node` may hold in a field that is not known.
void append_opaque_uses(const TreeNode& node, TreeIndex at, std::vector<OpaqueUse>& uses) {
  if (const auto* opaque = std::get_if<OpaqueRecord>(&node.record)) {
    for (const BufferIndex buffer : opaque->buffers) uses.push_back({at, buffer});
  } else if (node.sealed) {
    const BufferIndex count = std::get<ChildRecord>(node.record).graph->buffer_count();
    for (BufferIndex buffer = 0; buffer < count; ++buffer) uses.push_back({at, buffer});
  }
}

bool is_plain(const NodeRecord& record) {
  return !std::holds_alternative<ChildRecord>(record) && !std::holds_alternative<OpaqueRecord>(record);
}

}  // namespace

PatchTree::PatchTree(const Recording& recording, std::span<const hipGraphNode_t> handles,
                     std::span<const DeviceAddress> addresses) {
  assert(handles.size() == recording.nodes().size() && "one handle a node");
  assert(recording.buffer_count() <= addresses.size() && "one address a buffer");
  nodes_.reserve(recording.within_bounds() ? recording.tree_size() : recording.nodes().size());
  Flattener flattener{0, addresses, nodes_};
  for (std::size_t i = 0; i < handles.size(); ++i) {
    const TreeIndex at = size();
    top_level_.push_back(at);
    flattener.append(recording.nodes()[i], at, 0);
    nodes_[at].handle = handles[i];
  }
  rebuild_table(addresses.size());
}

bool PatchTree::holds_relocations(TreeIndex first, TreeIndex last) const {
  return std::any_of(nodes_.begin() + first, nodes_.begin() + last,
                     [](const TreeNode& node) { return !node.relocations.empty(); });
}

std::string PatchTree::name_of(TreeIndex node) const {
  const auto top = std::lower_bound(top_level_.begin(), top_level_.end(), nodes_[node].top);
  std::string name = "node " + std::to_string(top - top_level_.begin());
  for (TreeIndex parent = nodes_[node].top; parent != node;) {
    TreeIndex child = parent + 1;
    std::uint32_t place = 0;
    for (; nodes_[child].end <= node; child = nodes_[child].end) ++place;
    name += "/" + std::to_string(place);
    parent = child;
  }
  return name + " (" + kind_of(nodes_[node].record) + ")";
}

void PatchTree::replace(NodeIndex node, NodeRecord record, std::vector<Relocation> relocations,
                        std::span<const DeviceAddress> addresses) {
  assert(node < top_level_.size());
  const TreeIndex at = top_level_[node];
  TreeNode& old = nodes_[at];
  assert(may_follow(old.record, record) && "a node keeps its type");
  const RecordedNode replacement{std::move(record), {}, std::move(relocations)};
  assert(flaw_of(replacement, 0) == nullptr);
  if (is_plain(old.record) && is_plain(replacement.record) && old.relocations == replacement.relocations) {
    old.record = relocated(replacement, addresses);
    return;
  }
  std::vector<TreeNode> fresh;
  Flattener{at, addresses, fresh}.append(replacement, at, 0);
  fresh.front().handle = old.handle;
  fresh.front().form = old.form;
  const TreeIndex old_size = old.end - at;
  const TreeIndex shift = static_cast<TreeIndex>(fresh.size()) - old_size;  // modulo 2^32: may be 'negative'
  const auto gap = nodes_.erase(nodes_.begin() + at, nodes_.begin() + at + old_size);
  const auto after = nodes_.insert(gap, std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end())) +
                     static_cast<std::ptrdiff_t>(fresh.size());
  for (auto later = after; later != nodes_.end(); ++later) {
    later->top += shift;
    later->end += shift;
  }
  for (std::size_t i = node + std::size_t{1}; i < top_level_.size(); ++i) top_level_[i] += shift;
  rebuild_table(addresses.size());
}

void PatchTree::rebuild_table(std::size_t buffer_count) {
  std::vector<RelocationSite> sites;
  std::vector<OpaqueUse> uses;
  for (TreeIndex at = 0; at < size(); ++at) {
    for (const Relocation& relocation : nodes_[at].relocations) sites.push_back({at, relocation});
    append_opaque_uses(nodes_[at], at, uses);
  }
  table_ = RelocationTable(sites, uses, static_cast<BufferIndex>(buffer_count));
}

}  // namespace hip
