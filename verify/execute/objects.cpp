#include "verify/execute/objects.h"

#include <fmt/format.h>

#include <algorithm>

namespace verify {

NodePlace place_of(const std::vector<NodePlace>& places, Id node) {
  // Names mostly equal positions; look there first.
  if (node < places.size() && places[node].id == node) return places[node];
  const auto found = std::ranges::find(places, node, &NodePlace::id);
  return found == places.end() ? NodePlace{node, 0, 0} : *found;
}

hip::Error lacking(StrategyContext& context, const char* function) {
  if (context.unsupported.empty()) context.unsupported = function;
  return {hipErrorNotSupported, fmt::format("the runtime has no {}", function)};
}

}  // namespace verify
