// hip::Relocation: this field of this node, at this offset, holds buffer B plus addend A.
//
// The recorder states relocations when it records a node, because it knows the meaning of the node's arguments. No code
// finds them by looking at values: a scalar that happens to equal an address is not a relocation. hip::RelocationTable
// answers the one question that a patch asks: which fields, in the whole tree of a graph and its child graphs, hold
// buffer B?
//
// Does not check that a relocation is sensible for its node; flaw_of (hip/recording.h) does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hip {

using DeviceAddress = std::uint64_t;

// A caller's name for a buffer: a dense index into its table of buffers. An address that is freed and reused belongs
// to another buffer; the index is the identity.
using BufferIndex = std::uint32_t;

// A node of a recording: a dense index in the order in which nodes were added.
using NodeIndex = std::uint32_t;

// A node anywhere in the tree that a recording and its child graphs make: a dense index in preorder (a child graph node
// comes right before the nodes of its graph), so that ascending indices are node order and a subtree is one range.
using TreeIndex = std::uint32_t;

// Which field of a node's parameters holds the address.
enum class Field : std::uint8_t {
  kKernelArgument,  // 8 bytes at `offset` in the packed argument block
  kCopyDestination,
  kCopySource,
  kMemsetDestination,
  kMemoryOperation,  // of the operation number `offset` of a batch
};

struct Relocation {
  Field field = Field::kKernelArgument;
  std::uint32_t offset = 0;  // bytes into the argument block, or number of the operation; 0 for every other field
  BufferIndex buffer = 0;
  std::int64_t addend = 0;  // bytes; one past the end of the buffer is legal

  friend bool operator==(const Relocation&, const Relocation&) = default;
};

// A buffer that has another address now. All moves of one patch happen at once, so swaps and cycles are plain data.
struct Move {
  BufferIndex buffer = 0;
  DeviceAddress from = 0;  // the address in the executable graph, as the caller believes; checked, never searched for
  DeviceAddress to = 0;
};

// The address of each buffer, by BufferIndex.
using AddressTable = std::vector<DeviceAddress>;

// A relocation and the node of the tree that it belongs to.
struct RelocationSite {
  TreeIndex node = 0;
  Relocation relocation;
};

// A node of the tree that may hold `buffer` in a field that is not known.
struct OpaqueUse {
  TreeIndex node = 0;
  BufferIndex buffer = 0;
};

// The relocations and opaque uses of each buffer over the whole tree, as compressed rows. One look-up finds a buffer's
// row, so the cost of a patch depends on the moved buffers, not on the graph. Built in linear time, immutable.
class RelocationTable {
 public:
  RelocationTable() = default;
  // Both lists in node order, naming buffers below `buffer_count` only (asserted).
  RelocationTable(std::span<const RelocationSite> sites, std::span<const OpaqueUse> uses, BufferIndex buffer_count);

  // In node order. A node occurs once for each relocation of the buffer that it has.
  [[nodiscard]] std::span<const RelocationSite> relocations_of(BufferIndex buffer) const;
  [[nodiscard]] std::span<const OpaqueUse> opaque_uses_of(BufferIndex buffer) const;
  [[nodiscard]] BufferIndex buffer_count() const { return buffer_count_; }

 private:
  BufferIndex buffer_count_ = 0;
  std::vector<std::uint32_t> site_rows_;  // buffer b has sites_[site_rows_[b] .. site_rows_[b + 1])
  std::vector<RelocationSite> sites_;
  std::vector<std::uint32_t> use_rows_;
  std::vector<OpaqueUse> uses_;
};

}  // namespace hip
