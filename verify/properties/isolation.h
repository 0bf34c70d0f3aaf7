// P2's evidence: a fingerprint of every graph and executable graph that an operation must leave alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/graph.h"
#include "verify/properties/evidence.h"

namespace verify {

using Prints = std::map<std::string, std::uint64_t>;  // by name

// Equal for graphs that hold the same nodes, parameters and edges, with the same nodes enabled.
[[nodiscard]] std::uint64_t fingerprint(const std::vector<model::NodeView>& nodes);

[[nodiscard]] std::uint64_t fingerprint(const model::NodeView& node);

struct IsolationEvidence {
  std::size_t step = 0;
  const Prints& before;
  const Prints& after;
};
bool detect_p2(const IsolationEvidence& evidence, Violations& found);

}  // namespace verify
