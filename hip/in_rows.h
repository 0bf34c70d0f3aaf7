// hip::in_rows: a memset or a copy of several rows as linear nodes that write the same bytes, for releases that do
// nodes of rows wrongly (hip/release_quirks.h).
//
// One node for each row, or a single one where the rows follow one another without gaps. Their order is of no matter.
#pragma once

#include <vector>

#include "hip/recording.h"

namespace hip {

// The nodes, without dependencies; none for any other node, and for a memset of one row or a copy that is linear.
[[nodiscard]] std::vector<RecordedNode> in_rows(const RecordedNode& node);

}  // namespace hip
