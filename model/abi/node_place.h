// The arguments that all hipGraphAdd*Node share: the place of the node. For the implementation of model/abi only.
#pragma once

#include "model/abi/context.h"

namespace model::abi {

struct Where {
  hipGraphNode_t* out;
  hipGraph_t graph;
  const hipGraphNode_t* dependencies;
  std::size_t count;
};

[[nodiscard]] Status add(State& state, const Where& where, NodeParams params);

}  // namespace model::abi
