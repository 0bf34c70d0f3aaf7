#include "hip/node_order.h"

#include <set>

namespace hip {

std::vector<NodeIndex> node_order(const Recording& recording) {
  const auto nodes = recording.nodes();
  std::vector<std::size_t> waits;
  std::vector<std::vector<NodeIndex>> behind(nodes.size());
  std::set<NodeIndex> ready;
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    waits.push_back(nodes[i].dependencies.size());
    if (waits[i] == 0) ready.insert(i);
    for (const NodeIndex before : nodes[i].dependencies) behind[before].push_back(i);
  }
  std::vector<NodeIndex> order;
  while (!ready.empty()) {
    order.push_back(*ready.begin());
    ready.erase(ready.begin());
    for (const NodeIndex each : behind[order.back()]) {
      if (--waits[each] == 0) ready.insert(each);
    }
  }
  return order;
}

}  // namespace hip
