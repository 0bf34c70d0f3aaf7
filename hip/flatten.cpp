#include "hip/flatten.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace hip {
namespace {

using Nodes = std::vector<NodeIndex>;

bool in_order(const Recording& recording) {
  const auto nodes = recording.nodes();
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    const Nodes& behind = nodes[i].dependencies;
    if (std::any_of(behind.begin(), behind.end(), [i](NodeIndex index) { return index >= i; })) return false;
  }
  return true;
}

class Flattener {
 public:
  // Adds the nodes of `from` behind `entry`, and says which of them come last. Depth is bounded by the recording's.
  Nodes expand(const Recording& from, const Nodes& entry) {
    const auto nodes = from.nodes();
    std::vector<Nodes> exits(nodes.size());  // what stands for each node to those behind it
    std::vector<bool> last(nodes.size(), true);
    for (NodeIndex i = 0; i < nodes.size(); ++i) {
      Nodes behind;
      for (const NodeIndex index : nodes[i].dependencies) {
        last[index] = false;
        behind.insert(behind.end(), exits[index].begin(), exits[index].end());
      }
      if (nodes[i].dependencies.empty()) behind = entry;
      exits[i] = add(nodes[i], std::move(behind));
    }
    Nodes all;
    for (NodeIndex i = 0; i < nodes.size(); ++i) {
      if (last[i]) all.insert(all.end(), exits[i].begin(), exits[i].end());
    }
    return all;
  }
  [[nodiscard]] Recording take() { return std::move(flat_); }

 private:
  Nodes add(const RecordedNode& node, Nodes behind) {
    const auto* child = std::get_if<ChildRecord>(&node.record);
    if (child == nullptr || !in_order(*child->graph)) {
      RecordedNode copy = node;
      copy.dependencies = std::move(behind);
      return {flat_.add(std::move(copy))};
    }
    // One node at either end, so that no edge is multiplied.
    if (behind.size() > 1) behind = {join(std::move(behind))};
    if (child->graph->nodes().empty()) return {join(std::move(behind))};
    Nodes ends = expand(*child->graph, behind);
    return ends.size() > 1 ? Nodes{join(std::move(ends))} : ends;
  }
  NodeIndex join(Nodes behind) { return flat_.add({EmptyRecord{}, std::move(behind), {}}); }

  Recording flat_;
};

}  // namespace

Recording flattened(const Recording& recording) {
  if (!recording.within_bounds() || !in_order(recording)) return recording;
  Flattener flattener;
  static_cast<void>(flattener.expand(recording, {}));
  return flattener.take();
}

}  // namespace hip
