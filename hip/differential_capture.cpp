#include "hip/differential_capture.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "hip/kernel_attributes.h"

namespace hip {
namespace {

constexpr std::size_t kWord = sizeof(DeviceAddress);

DeviceAddress word_at(const std::vector<std::byte>& block, std::size_t offset) {
  DeviceAddress word = 0;
  std::memcpy(&word, block.data() + offset, kWord);
  return word;
}

Error opaque(std::string why) {
  return {hipErrorNotSupported, std::move(why)};
}

// Whether the word at `offset` is, in every block, the buffer's address plus the same addend, which is within the
// buffer.
bool moves_with(std::span<const std::vector<std::byte>> blocks, std::size_t offset, const Shadows& shadows,
                BufferIndex buffer, std::uint64_t* addend) {
  *addend = word_at(blocks[0], offset) - shadows.tables[0][buffer];
  if (*addend > shadows.bytes[buffer]) return false;
  for (std::size_t k = 1; k < blocks.size(); ++k) {
    if (word_at(blocks[k], offset) - shadows.tables[k][buffer] != *addend) return false;
  }
  return true;
}

std::vector<bool> differing(std::span<const std::vector<std::byte>> blocks) {
  std::vector<bool> differs(blocks[0].size(), false);
  for (const std::vector<std::byte>& block : blocks) {
    for (std::size_t i = 0; i < differs.size(); ++i) differs[i] = differs[i] || block[i] != blocks[0][i];
  }
  return differs;
}

// Whether the distances by which two buffers move from the first table to the others are the same when one is shifted
// by whole bytes.
bool look_alike(const Shadows& shadows, BufferIndex one, BufferIndex other) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    if (shift == 0 && one == other) continue;
    const auto alike = [&](const AddressTable& table) {
      return (table[one] - shadows.tables[0][one]) << shift == table[other] - shadows.tables[0][other];
    };
    if (std::all_of(shadows.tables.begin() + 1, shadows.tables.end(), alike)) return true;
  }
  return false;
}

// The relocations with bytes in the slot. `found` is sorted by offset and has no overlaps.
std::span<const Relocation> touching_slot(std::span<const Relocation> found, const ArgumentSlot& slot) {
  const auto first = std::partition_point(found.begin(), found.end(), [&](const Relocation& relocation) {
    return relocation.offset + kWord <= slot.offset;
  });
  const auto last = std::partition_point(first, found.end(), [&](const Relocation& relocation) {
    return relocation.offset < std::uint64_t{slot.offset} + slot.size;
  });
  return found.subspan(static_cast<std::size_t>(first - found.begin()), static_cast<std::size_t>(last - first));
}

// Returns why the relocations contradict the argument's layout and kind, or null.
const char* contradiction(const ArgumentSlot& slot, std::span<const Relocation> touching) {
  for (const Relocation& relocation : touching) {
    const bool within = relocation.offset >= slot.offset && relocation.offset + kWord <= slot.offset + slot.size;
    if (!within) return "an address is no part of one argument";
    const bool whole = relocation.offset == slot.offset && slot.size == kWord;
    if (slot.kind == ArgumentKind::kPointer && !whole) return "an address lies in a pointer and is another";
  }
  return nullptr;
}

// Whether a pointer, the same in every capture, lies in a buffer of a table. The library's own memory does not.
bool frozen_in_shadow(const ArgumentSlot& slot, const std::vector<std::byte>& block, const Shadows& shadows) {
  if (slot.kind != ArgumentKind::kPointer || slot.size != kWord) return false;
  const DeviceAddress address = word_at(block, slot.offset);
  return std::ranges::any_of(shadows.tables, [&](const AddressTable& table) {
    return std::ranges::any_of(shadows.buffers,
                               [&](BufferIndex buffer) { return address - table[buffer] <= shadows.bytes[buffer]; });
  });
}

bool found_twice(const Shadows& shadows) {
  for (const BufferIndex one : shadows.buffers) {
    for (const BufferIndex other : shadows.buffers) {
      for (std::size_t k = 0; k < shadows.tables.size(); ++k) {
        for (std::size_t l = 0; l < shadows.tables.size(); ++l) {
          if (k == l && one == other) continue;
          const DeviceAddress begin = shadows.tables[k][one], there = shadows.tables[l][other];
          if (begin < there + shadows.bytes[other] + 1 && there < begin + shadows.bytes[one] + 1) return true;
        }
      }
    }
  }
  return false;
}

// ---- the content of a captured graph, node by node

// A node of a captured graph. `block` has the bytes that may move; the rest has to be the same in every capture.
struct SeenNode {
  NodeRecord record;
  std::vector<std::byte> block;
  std::vector<NodeIndex> dependencies;
};

std::vector<std::byte> bytes_of(std::initializer_list<const void*> pointers) {
  std::vector<std::byte> bytes(pointers.size() * kWord);
  std::size_t at = 0;
  for (const void* pointer : pointers) std::memcpy(bytes.data() + kWord * at++, &pointer, kWord);
  return bytes;
}

std::vector<std::byte> block_of(const NodeRecord& record) {
  if (const auto* kernel = std::get_if<KernelRecord>(&record)) return kernel->arguments;
  if (const auto* memset = std::get_if<MemsetRecord>(&record)) return bytes_of({memset->params.dst});
  const auto* copy = std::get_if<CopyRecord>(&record);
  return copy == nullptr ? std::vector<std::byte>() : bytes_of({copy->params.dstPtr.ptr, copy->params.srcPtr.ptr});
}

// The argument block that a launch passed as `extra`; empty if there is none, or if `extra` is not the list that HIP
// defines.
struct ExtraBlock {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
};
ExtraBlock extra_of(void* const* extra) {
  constexpr std::size_t kEntries = 2;
  ExtraBlock block;
  if (extra == nullptr) return block;
  for (std::size_t i = 0; i < kEntries; ++i, extra += 2) {
    if (extra[0] == HIP_LAUNCH_PARAM_BUFFER_POINTER) {
      block.begin = static_cast<const std::byte*>(extra[1]);
    } else if (extra[0] == HIP_LAUNCH_PARAM_BUFFER_SIZE && extra[1] != nullptr) {
      block.bytes = *static_cast<const std::size_t*>(extra[1]);
    } else {
      return {};
    }
  }
  return extra[0] == HIP_LAUNCH_PARAM_END && block.begin != nullptr ? block : ExtraBlock{};
}

class Reader {
 public:
  Reader(const Api& api, const KernelLayouts& layouts, const ReleaseQuirks& quirks)
      : api_(api), layouts_(layouts), quirks_(quirks) {}

  // Reads the nodes of a graph. If a part of the graph is not understood, returns no nodes and the reason in `why`.
  [[nodiscard]] Result<std::vector<SeenNode>> read(hipGraph_t graph, std::string* why) {
    std::size_t count = 0;
    if (Status s = call<&Api::hipGraphGetNodes>(api_, graph, nullptr, &count); !s) return s.error();
    std::vector<hipGraphNode_t> handles(count);
    if (Status s = call<&Api::hipGraphGetNodes>(api_, graph, handles.data(), &count); !s) {
      return s.error();
    }
    std::vector<SeenNode> nodes(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (Status s = look(handles[i], nodes[i], why); !s) return s.error();
      const ReleaseQuirk* quirk = why->empty() ? quirks_.of_read({nodes[i].record, {}, {}}) : nullptr;
      if (quirk != nullptr) *why = "a node of which this release tells something else (" + std::string(quirk->id) + ")";
      if (!why->empty()) return std::vector<SeenNode>();
      nodes[i].block = block_of(nodes[i].record);
    }
    if (Status s = edges(graph, handles, nodes); !s) return s.error();
    return nodes;
  }

 private:
  Status look(hipGraphNode_t handle, SeenNode& node, std::string* why) {
    hipGraphNodeType type{};
    if (Status s = call<&Api::hipGraphNodeGetType>(api_, handle, &type); !s) return s;
    switch (type) {
      case hipGraphNodeTypeKernel:
        return kernel(handle, node, why);
      case hipGraphNodeTypeMemcpy:
        return copy(handle, node, why);
      case hipGraphNodeTypeMemset: {
        MemsetRecord record;
        Status s = call<&Api::hipGraphMemsetNodeGetParams>(api_, handle, &record.params);
        if (record.params.dst == nullptr) *why = "a memset of which the runtime does not tell where";
        node.record = record;
        return s;
      }
      case hipGraphNodeTypeEmpty:
        node.record = EmptyRecord{};
        return {};
      default:
        *why = "a node of a type that holds what no getter shows";
        return {};
    }
  }
  // Reads the memory that the getter points at while the graph exists. The node owns this memory, as CUDA documents
  // (cudaGraphKernelNodeGetParams) and as on AMD's 6.4 and 7.2: the launch's own arguments may be gone
  // (tests/hip/captured_kernels_on_amd.cpp). On AMD's, a node of a launch with `extra` has a null kernelParams.
  Status kernel(hipGraphNode_t handle, SeenNode& node, std::string* why) {
    hipKernelNodeParams params{};
    if (Status s = call<&Api::hipGraphKernelNodeGetParams>(api_, handle, &params); !s) {
      return s;
    }
    const auto function = reinterpret_cast<hipFunction_t>(params.func);
    const std::optional<std::vector<ArgumentSlot>> slots = layouts_(function);
    if (!slots) {
      *why = "a kernel whose arguments nobody has described";
      return {};
    }
    KernelRecord record;
    record.function = function;
    record.grid = params.gridDim;
    record.block = params.blockDim;
    record.shared_bytes = params.sharedMemBytes;
    record.slots = *slots;
    const ExtraBlock extra = params.kernelParams == nullptr ? extra_of(params.extra) : ExtraBlock{};
    for (std::size_t i = 0; i < slots->size(); ++i) {
      const ArgumentSlot slot = (*slots)[i];
      const std::size_t end = std::size_t{slot.offset} + slot.size;
      const void* value = params.kernelParams != nullptr ? params.kernelParams[i]
                          : end <= extra.bytes           ? extra.begin + slot.offset
                                                         : nullptr;
      if (value == nullptr) {
        *why = "a kernel whose arguments the runtime does not give back";
        return {};
      }
      record.arguments.resize(std::max(record.arguments.size(), end));
      std::memcpy(record.arguments.data() + slot.offset, value, slot.size);
    }
    Status status = read_attributes(handle, record.attributes);
    // The runtime refuses an attribute that it does not have; any other error is a failure.
    if (!status && (status.error().code == hipErrorNotSupported || status.error().code == hipErrorInvalidValue)) {
      *why = "a kernel whose attributes the runtime does not tell";
      status = {};
    }
    node.record = std::move(record);
    return status;
  }
  // The attributes that differ from the defaults of a kernel node.
  [[nodiscard]] Status read_attributes(hipGraphNode_t handle, KernelAttributes& attributes) const {
    const Result<KernelAttributes> cooperative =
        attributes_of(api_, handle, {.priority = {}, .cooperative = false, .window = {}});
    if (!cooperative) return cooperative.error();
    if (cooperative.value().cooperative.value_or(false)) attributes.cooperative = true;
    if (missing_for_attributes(api_, {.priority = 0, .cooperative = {}, .window = {}}) != nullptr)
      return {};  // not on this runtime
    const Result<KernelAttributes> priority =
        attributes_of(api_, handle, {.priority = 0, .cooperative = {}, .window = {}});
    if (!priority) return priority.error();
    if (priority.value().priority.value_or(0) != 0) attributes.priority = priority.value().priority;
    return {};
  }
  Status copy(hipGraphNode_t handle, SeenNode& node, std::string* why) {
    CopyRecord record;
    hipMemcpy3DParms& params = record.params;
    if (Status s = call<&Api::hipGraphMemcpyNodeGetParams>(api_, handle, &params); !s) {
      return s;
    }
    if (params.srcArray != nullptr || params.dstArray != nullptr) *why = "a copy of an array";
    const bool ends = params.srcPtr.ptr != nullptr && params.dstPtr.ptr != nullptr;
    const bool bytes = params.extent.width != 0 && params.extent.height != 0 && params.extent.depth != 0;
    if (why->empty() && !(ends && bytes))
      *why = "a copy of which the runtime does not tell from where, to where or what";
    const auto at_begin = [](const hipPos& pos) { return pos.x == 0 && pos.y == 0 && pos.z == 0; };
    record.linear =
        params.extent.height <= 1 && params.extent.depth <= 1 && at_begin(params.srcPos) && at_begin(params.dstPos);
    node.record = record;
    return {};
  }
  Status edges(hipGraph_t graph, const std::vector<hipGraphNode_t>& handles, std::vector<SeenNode>& nodes) {
    std::size_t count = 0;
    if (Status s = call<&Api::hipGraphGetEdges>(api_, graph, nullptr, nullptr, &count); !s) return s;
    std::vector<hipGraphNode_t> from(count), to(count);
    if (count == 0) return {};
    if (Status s = call<&Api::hipGraphGetEdges>(api_, graph, from.data(), to.data(), &count); !s) {
      return s;
    }
    std::map<hipGraphNode_t, NodeIndex> index;
    for (std::size_t i = 0; i < handles.size(); ++i) index[handles[i]] = static_cast<NodeIndex>(i);
    for (std::size_t i = 0; i < count; ++i) nodes[index[to[i]]].dependencies.push_back(index[from[i]]);
    for (SeenNode& node : nodes) std::ranges::sort(node.dependencies);
    return {};
  }

  const Api& api_;
  const KernelLayouts& layouts_;
  const ReleaseQuirks& quirks_;
};

// ---- whether two captures are of the same work

bool same(const dim3& a, const dim3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}
bool same(const hipPos& a, const hipPos& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}
bool same_shape(const KernelRecord& a, const KernelRecord& b) {
  return a.function == b.function && same(a.grid, b.grid) && same(a.block, b.block) &&
         a.shared_bytes == b.shared_bytes && a.arguments.size() == b.arguments.size() &&
         a.attributes.cooperative == b.attributes.cooperative && a.attributes.priority == b.attributes.priority;
}
bool same_shape(const MemsetRecord& a, const MemsetRecord& b) {
  return a.params.elementSize == b.params.elementSize && a.params.height == b.params.height &&
         a.params.pitch == b.params.pitch && a.params.value == b.params.value && a.params.width == b.params.width;
}
bool same_shape(const CopyRecord& a, const CopyRecord& b) {
  const auto &p = a.params, &q = b.params;
  return a.linear == b.linear && same(p.srcPos, q.srcPos) && same(p.dstPos, q.dstPos) && p.kind == q.kind &&
         p.extent.width == q.extent.width && p.extent.height == q.extent.height && p.extent.depth == q.extent.depth &&
         p.srcPtr.pitch == q.srcPtr.pitch && p.dstPtr.pitch == q.dstPtr.pitch && p.srcPtr.ysize == q.srcPtr.ysize &&
         p.dstPtr.ysize == q.dstPtr.ysize;
}
bool same_work(const SeenNode& a, const SeenNode& b) {
  if (a.record.index() != b.record.index() || a.dependencies != b.dependencies) return false;
  if (const auto* kernel = std::get_if<KernelRecord>(&a.record)) {
    return same_shape(*kernel, std::get<KernelRecord>(b.record));
  }
  if (const auto* memset = std::get_if<MemsetRecord>(&a.record)) {
    return same_shape(*memset, std::get<MemsetRecord>(b.record));
  }
  if (const auto* copy = std::get_if<CopyRecord>(&a.record)) return same_shape(*copy, std::get<CopyRecord>(b.record));
  return true;
}

// Sets the fields of relocations in a block that was made of a memset's or a copy's pointers.
void name_fields(const NodeRecord& record, std::vector<Relocation>& found) {
  for (Relocation& relocation : found) {
    if (std::holds_alternative<MemsetRecord>(record)) relocation.field = Field::kMemsetDestination;
    if (std::holds_alternative<CopyRecord>(record)) {
      relocation.field = relocation.offset == 0 ? Field::kCopyDestination : Field::kCopySource;
    }
    if (!std::holds_alternative<KernelRecord>(record)) relocation.offset = 0;
  }
}

// The command as a child graph; an error says why it is opaque.
Result<RecordedNode> child_of(std::vector<std::vector<SeenNode>>& captures, const Shadows& shadows) {
  Recording recording;
  std::vector<SeenNode>& first = captures.front();
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::vector<std::vector<std::byte>> blocks;
    for (const std::vector<SeenNode>& capture : captures) {
      if (capture.size() != first.size() || !same_work(capture[i], first[i])) {
        return opaque("the work is another at other addresses");
      }
      blocks.push_back(capture[i].block);
    }
    const auto* kernel = std::get_if<KernelRecord>(&first[i].record);
    Result<std::vector<Relocation>> found =
        kernel == nullptr ? attribute(blocks, shadows) : attribute(blocks, shadows, kernel->slots);
    if (!found) return found.error();
    name_fields(first[i].record, found.value());
    RecordedNode node{std::move(first[i].record), std::move(first[i].dependencies), std::move(found).value()};
    if (flaw_of(node, i) != nullptr)
      return opaque("its nodes are not listed in an order in which they can be recorded");
    recording.add(std::move(node));
  }
  return RecordedNode{ChildRecord{std::make_shared<const Recording>(std::move(recording))}, {}, {}};
}

}  // namespace

const char* flaw_of(const Shadows& shadows) {
  if (shadows.tables.size() < 2) return "one table of addresses shows no difference";
  for (const BufferIndex buffer : shadows.buffers) {
    if (buffer >= shadows.bytes.size()) return "a buffer has no size";
    const auto short_of = [buffer](const AddressTable& table) { return buffer >= table.size(); };
    if (std::ranges::any_of(shadows.tables, short_of)) return "a table lacks a buffer";
  }
  const auto keeps_lowest_byte = [&](BufferIndex buffer) {
    return std::ranges::all_of(shadows.tables, [&](const AddressTable& table) {
      return (table[buffer] ^ shadows.tables[0][buffer]) % 256 == 0;
    });
  };
  if (std::ranges::any_of(shadows.buffers, keeps_lowest_byte)) {
    return "a buffer's lowest byte is the same in every table: put it multiples of 64 bytes further on in one";
  }
  if (found_twice(shadows)) return "an address is that of two buffers, or of one in two tables";
  for (const BufferIndex one : shadows.buffers) {
    for (const BufferIndex other : shadows.buffers) {
      if (look_alike(shadows, one, other)) return "two buffers are moved alike";
    }
  }
  return nullptr;
}

Result<std::vector<Relocation>> attribute(std::span<const std::vector<std::byte>> blocks, const Shadows& shadows) {
  assert(flaw_of(shadows) == nullptr && blocks.size() == shadows.tables.size());
  const std::size_t size = blocks[0].size();
  if (std::ranges::any_of(blocks, [&](const auto& block) { return block.size() != size; })) {
    return opaque("its size depends on addresses");
  }
  const std::vector<bool> differs = differing(blocks);
  std::vector<Relocation> found;
  std::size_t covered = 0;  // the end of the last address that was found
  for (std::size_t i = 0; i < size; ++i) {
    if (!differs[i]) continue;
    // Tries every word that holds this byte. Exactly one has to be an address, and it must not overlap another address.
    std::size_t candidates = 0;
    Relocation candidate;
    const std::size_t first = i + 1 < kWord ? 0 : i + 1 - kWord;
    for (std::size_t offset = first; offset <= i && offset + kWord <= size; ++offset) {
      for (const BufferIndex buffer : shadows.buffers) {
        std::uint64_t addend = 0;
        if (!moves_with(blocks, offset, shadows, buffer, &addend)) continue;
        ++candidates;
        candidate = {Field::kKernelArgument, static_cast<std::uint32_t>(offset), buffer,
                     static_cast<std::int64_t>(addend)};
      }
    }
    if (candidates == 0) return opaque("a byte depends on addresses and is part of none");
    if (candidates > 1) return opaque("a byte may be part of two addresses");
    if (!found.empty() && found.back() == candidate) continue;
    if (candidate.offset < covered) return opaque("two addresses overlap");
    covered = candidate.offset + kWord;
    found.push_back(candidate);
  }
  return found;
}

Result<std::vector<Relocation>> attribute(std::span<const std::vector<std::byte>> blocks, const Shadows& shadows,
                                          std::span<const ArgumentSlot> slots) {
  Result<std::vector<Relocation>> found = attribute(blocks, shadows);
  if (!found) return found;
  std::size_t inside = 0;
  for (const ArgumentSlot& slot : slots) {
    if (std::uint64_t{slot.offset} + slot.size > blocks[0].size())
      return opaque("an argument lies outside of the block");
    const std::span<const Relocation> touching = touching_slot(found.value(), slot);
    if (const char* why = contradiction(slot, touching)) return opaque(why);
    if (touching.empty() && frozen_in_shadow(slot, blocks[0], shadows)) {
      return opaque("a pointer does not move and lies in a shadow: it may be of a capture before");
    }
    inside += touching.size();
  }
  if (inside != found.value().size()) return opaque("an address lies beside the arguments");
  return found;
}

Result<RecordedNode> differential_command(const Api& api, hipStream_t stream, const EnqueueAt& work,
                                          const Shadows& shadows, const KernelLayouts& layouts, ErrorSink errors,
                                          const ReleaseQuirks& quirks) {
  RecordedNode fallback = captured_command(stream, shadows.buffers, work, errors);
  const auto because = [&fallback](std::string why) {
    std::get<OpaqueRecord>(fallback.record).reason = std::move(why);
    return fallback;
  };
  if (const char* flaw = flaw_of(shadows)) return Error{hipErrorInvalidValue, flaw};
  std::vector<std::vector<SeenNode>> captures;
  for (const AddressTable& table : shadows.tables) {
    const Result<CapturedGraph> captured =
        CapturedGraph::capture(api, stream, [&](hipStream_t on) { return work(on, table); }, errors);
    if (!captured) return captured.error();
    std::string why;
    Result<std::vector<SeenNode>> nodes = Reader(api, layouts, quirks).read(captured.value().graph(), &why);
    if (!nodes) return nodes.error();
    if (!why.empty()) return because(std::move(why));
    captures.push_back(std::move(nodes).value());
  }
  // HIP does not document child graphs without nodes.
  const bool empty = std::ranges::all_of(captures, [](const auto& nodes) { return nodes.empty(); });
  if (empty) return RecordedNode{EmptyRecord{}, {}, {}};
  Result<RecordedNode> child = child_of(captures, shadows);
  if (!child) return because(child.error().message);
  return child;
}

Result<bool> does_as_known(const Api& api, hipStream_t stream, const EnqueueAt& work, const Recording& known,
                           std::span<const DeviceAddress> addresses, const KernelLayouts& layouts, ErrorSink errors,
                           const ReleaseQuirks& quirks) {
  const Result<CapturedGraph> captured =
      CapturedGraph::capture(api, stream, [&](hipStream_t on) { return work(on, addresses); }, errors);
  if (!captured) return captured.error();
  std::string why;
  const Result<std::vector<SeenNode>> nodes = Reader(api, layouts, quirks).read(captured.value().graph(), &why);
  if (!nodes) return nodes.error();
  if (!why.empty() || nodes.value().size() != known.nodes().size()) return false;
  for (std::size_t i = 0; i < nodes.value().size(); ++i) {
    const RecordedNode& node = known.nodes()[i];
    SeenNode expected{relocated(node, addresses), {}, node.dependencies};
    expected.block = block_of(expected.record);
    if (!same_work(expected, nodes.value()[i]) || expected.block != nodes.value()[i].block) return false;
  }
  return true;
}

}  // namespace hip
