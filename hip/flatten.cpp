#include "hip/flatten.h"

#include <utility>
#include <vector>

#include "hip/node_order.h"

namespace hip {
namespace {

using Nodes = std::vector<NodeIndex>;

// Whether the dependencies of the recording form no circle.
bool has_order(const Recording& recording) {
  return node_order(recording).size() == recording.nodes().size();
}

class Flattener {
 public:
  explicit Flattener(const Spelling& spelling) : spelling_(spelling) {}
  // Adds the nodes of `from` behind `entry`, and returns the last ones. The depth is bounded by the recording's.
  Nodes expand(const Recording& from, const Nodes& entry, Places* places = nullptr) {
    const auto nodes = from.nodes();
    std::vector<Nodes> exits(nodes.size());  // for each node, the flat nodes that its dependents depend on
    std::vector<bool> last(nodes.size(), true);
    if (places != nullptr) places->assign(nodes.size(), {});
    for (const NodeIndex i : node_order(from)) {
      Nodes behind;
      for (const NodeIndex index : nodes[i].dependencies) {
        last[index] = false;
        behind.insert(behind.end(), exits[index].begin(), exits[index].end());
      }
      if (nodes[i].dependencies.empty()) behind = entry;
      const auto before = static_cast<NodeIndex>(flat_.nodes().size());
      exits[i] = add(nodes[i], std::move(behind));
      if (places == nullptr || expands(nodes[i])) continue;
      for (NodeIndex each = before; each < flat_.nodes().size(); ++each) (*places)[i].push_back(each);
    }
    Nodes all;
    for (NodeIndex i = 0; i < nodes.size(); ++i) {
      if (last[i]) all.insert(all.end(), exits[i].begin(), exits[i].end());
    }
    return all;
  }
  [[nodiscard]] Recording take() { return std::move(flat_); }

 private:
  static bool expands(const RecordedNode& node) {
    const auto* child = std::get_if<ChildRecord>(&node.record);
    return child != nullptr && has_order(*child->graph);
  }
  Nodes add(const RecordedNode& node, Nodes behind) {
    if (!expands(node)) {
      std::vector<RecordedNode> standing = spelling_ ? spelling_(node) : std::vector<RecordedNode>();
      if (standing.empty()) standing.push_back(node);
      for (RecordedNode& each : standing) {
        each.dependencies = std::move(behind);
        behind = {flat_.add(std::move(each))};
      }
      return behind;
    }
    const auto* child = std::get_if<ChildRecord>(&node.record);
    // Joins several nodes at either end by an empty node, so that the number of edges is not multiplied.
    if (behind.size() > 1) behind = {join(std::move(behind))};
    if (child->graph->nodes().empty()) return {join(std::move(behind))};
    Nodes ends = expand(*child->graph, behind);
    return ends.size() > 1 ? Nodes{join(std::move(ends))} : ends;
  }
  NodeIndex join(Nodes behind) { return flat_.add({EmptyRecord{}, std::move(behind), {}}); }

  const Spelling& spelling_;
  Recording flat_;
};

}  // namespace

Recording flattened(const Recording& recording) {
  Places places;
  return flattened(recording, places);
}

Recording flattened(const Recording& recording, Places& places) {
  return flattened(recording, places, {});
}

Recording flattened(const Recording& recording, Places& places, const Spelling& spelling) {
  places.clear();
  if (!recording.within_bounds() || !has_order(recording)) {
    for (NodeIndex i = 0; i < recording.nodes().size(); ++i) places.push_back({i});
    return recording;
  }
  Flattener flattener(spelling);
  static_cast<void>(flattener.expand(recording, {}, &places));
  return flattener.take();
}

}  // namespace hip
