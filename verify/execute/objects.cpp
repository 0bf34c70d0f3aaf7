#include "verify/execute/objects.h"

#include <algorithm>

namespace verify {

NodePlace place_of(const std::vector<NodePlace>& places, Id node) {
  const auto found = std::find_if(places.begin(), places.end(), [&](const NodePlace& p) { return p.id == node; });
  return found == places.end() ? NodePlace{node, 0, 0} : *found;
}

}  // namespace verify
