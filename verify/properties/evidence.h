// Evidence of one patch: the expected, the earlier and the actual contents of every node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hip/recording.h"
#include "model/graph.h"
#include "verify/execute/observation.h"

namespace verify {

// One node of the patched graph or executable graph, at any depth.
struct NodeEvidence {
  std::string name;  // "g0.n3", "g0.n3/n1"
  const hip::RecordedNode* recorded = nullptr;
  const model::NodeParams* actual = nullptr;
  // The same node of the graph it came from, where the patch called setters of graphs; else null.
  const model::NodeParams* definition = nullptr;
  bool touched = false;  // one of its relocations names a buffer that moved
};

struct PatchEvidence {
  std::size_t step = 0;
  const hip::AddressTable& old_addresses;
  const hip::AddressTable& new_addresses;
  const std::vector<std::uint64_t>& buffer_bytes;
  std::vector<NodeEvidence> nodes;
  std::uint64_t top_level_touched = 0;  // top-level nodes with a changed relocation, children's included
  bool opaque_touched = false;
  std::uint64_t exec_setters = 0, calls = 0, rerecorded = 0;  // HIP calls that the patch made
  bool of_definition = false;                                 // the patch was of a definition, not an executable graph

  [[nodiscard]] bool moved(hip::BufferIndex buffer) const { return old_addresses[buffer] != new_addresses[buffer]; }
  // The patch went to an executable graph where a definition was meant: that breaks P3, whatever else it looks like.
  [[nodiscard]] bool went_elsewhere() const { return of_definition && exec_setters != 0; }
  // Whether `value` is an address inside a moved buffer's old place, and `now` the same address in its new place. A
  // value may be an address of several buffers: one past the end of one is the base of the next, and places are reused.
  [[nodiscard]] bool carried_along(std::uint64_t value, std::uint64_t now) const;
  // Some buffer's new place overlaps some buffer's old place.
  [[nodiscard]] bool places_overlap() const;
};

// A field that holds an address, of any node type.
struct PointerField {
  std::string name;  // "argument at 8", "dst"
  const hip::Relocation* relocation = nullptr;
  std::uint64_t observed = 0;
};
[[nodiscard]] std::vector<PointerField> pointer_fields(const NodeEvidence& node);

// The kernel's argument bytes: expected now, and observed. Empty when the node is no kernel.
struct ArgumentBytes {
  std::vector<std::byte> expected;
  std::vector<std::byte> observed;
  std::vector<char> relocated;  // byte for byte: part of a pointer
};
[[nodiscard]] ArgumentBytes argument_bytes(const NodeEvidence& node, const PatchEvidence& patch);

using Violations = std::vector<Violation>;

// Memory that host and device both reach, read in both ways after synchronising.
struct VisibilityEvidence {
  std::size_t step = 0;
  Id buffer = 0;
  const std::vector<std::byte>& by_host;
  const std::vector<std::byte>& by_runtime;
};
bool detect_p12(const VisibilityEvidence& seen, Violations& found);

// One detector for each property. It appends its findings and returns whether the evidence exercised the property.
bool detect_a1(const PatchEvidence& patch, Violations& found);
bool detect_a2(const PatchEvidence& patch, Violations& found);
bool detect_a3(const PatchEvidence& patch, Violations& found);
bool detect_a4(const PatchEvidence& patch, Violations& found);
bool detect_a5(const PatchEvidence& patch, Violations& found);
bool detect_a6(const PatchEvidence& patch, Violations& found);
bool detect_a7(const PatchEvidence& patch, Violations& found);
bool detect_p3(const PatchEvidence& patch, Violations& found);

[[nodiscard]] std::string hex(std::uint64_t value);

}  // namespace verify
