#include "verify/execute/objects.h"

#include <algorithm>

namespace verify {

NodePlace place_of(const std::vector<NodePlace>& places, Id node) {
  const auto found = std::ranges::find(places, node, &NodePlace::id);
  return found == places.end() ? NodePlace{node, 0, 0} : *found;
}

}  // namespace verify
