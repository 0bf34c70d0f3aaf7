// hip::in_rows: a memset or a copy of several rows as linear nodes that write the same bytes, for releases that execute
// nodes of several rows wrongly (hip/release_quirks.h).
//
// One node for each row, or a single one where the rows follow one another without gaps. Their order does not matter.
#pragma once

#include <vector>

#include "hip/recording.h"

namespace hip {

// The nodes, without dependencies; empty for any other node, for a memset of one row and for a linear copy.
[[nodiscard]] std::vector<RecordedNode> in_rows(const RecordedNode& node);

}  // namespace hip
