// Batches of memory operations in the language: one key `do`, with operations that commas separate. Each operation has
// colons between its parts: "write32:b0+0:7", "wait64:b0+8:eq:9".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "verify/commands/nodes/node_types.h"

namespace verify {

void parse_batch_keys(Attributes& attributes, BatchParams& batch);
[[nodiscard]] std::string print_batch(const BatchParams& batch);
// Calls emit for each simpler variant, the simplest first.
void simplify_batch(const BatchParams& batch, const std::function<void(const BatchParams&)>& emit);
[[nodiscard]] std::vector<std::string> batch_feature_names();
void count_batch_features(const BatchParams& batch, const CountFeature& add);

}  // namespace verify
