// The buffers that the parameters of nodes refer to, and the bytes that nodes touch.
//
// Ranges are exact for linear shapes and the hull for strided shapes. The nodes of child graphs are not examined.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "verify/language/node_params.h"

namespace verify {

// Bytes [lo, hi) of a buffer that a node touches. For strided shapes this is the hull.
struct ByteRange {
  Id buffer = 0;
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  bool write = false;
};

// A bound past the last byte of a buffer of any size.
inline constexpr std::int64_t kToTheEnd = std::int64_t{1} << 62;

// Visits every reference to a buffer that a node's parameters hold, except the frozen scalars.
void for_each_ref(const NodeParams& params, const std::function<void(const BufferRef&)>& visit);
// Visits the references of the frozen scalars.
void for_each_frozen(const NodeParams& params, const std::function<void(const BufferRef&)>& visit);
// Visits the name of every object that a node's parameters hold; `is_made`: the node makes the object.
using VisitName = std::function<void(char letter, Id& id, bool is_made)>;
void for_each_name(NodeParams& params, const VisitName& visit);
// Appends the ranges that a node with `fan` instances touches, without the nodes of children.
void append_ranges(const NodeParams& params, std::uint32_t fan, std::vector<ByteRange>& ranges);
// The parameters of the k-th of a node's fan instances.
[[nodiscard]] NodeParams fan_instance(const NodeParams& params, std::uint32_t k);
[[nodiscard]] bool conflict(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b);

}  // namespace verify
