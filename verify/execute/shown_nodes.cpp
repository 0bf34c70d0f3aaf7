#include "verify/execute/shown_nodes.h"

#include "verify/execute/interposer.h"

namespace verify {

HipFinder::HipFinder(const hip::Api& table) : api(table) {
  base.find = [](const hgpatcher_hip* self, const char* name) -> hgpatcher_function {
    const auto& finder = *reinterpret_cast<const HipFinder*>(self);
    const hip::Api& hip = finder.api;
    hgpatcher_function found = nullptr;
#define HIP_FUNCTION(function, ...) \
  if (std::strcmp(name, #function) == 0) found = reinterpret_cast<hgpatcher_function>(hip.function);
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
    if (found == nullptr) finder.missing = name;
    return found;
  };
}

hgpatcher_node ShownNodes::show(const hip::RecordedNode& recorded) {
  const hip::NodeRecord now = hip::relocated(recorded, addresses_);
  hgpatcher_node node{};
  std::visit([&](const auto& record) { fill(node, record); }, now);
  const auto* named = std::get_if<hip::CopyRecord>(&now);
  const bool symbol = named != nullptr && named->symbol.symbol != nullptr;
  if (symbol || std::holds_alternative<hip::BatchRecord>(now)) show_as_opaque(node, recorded);
  node.dependencies = copy(recorded.dependencies);
  node.dependency_count = recorded.dependencies.size();
  return node;
}

void ShownNodes::overwrite() {
  for (std::vector<std::byte>& bytes : blocks_) std::memset(bytes.data(), static_cast<int>(kPoison), bytes.size());
}

void ShownNodes::show_as_opaque(hgpatcher_node& node, const hip::RecordedNode& recorded) {
  std::vector<hip::BufferIndex> buffers;
  for (const hip::Relocation& r : recorded.relocations) buffers.push_back(r.buffer);
  node.kind = HGPATCHER_OPAQUE;
  node.buffers = copy(buffers);
  node.buffer_count = buffers.size();
}

void ShownNodes::fill(hgpatcher_node& node, const hip::KernelRecord& r) {
  node.kind = HGPATCHER_KERNEL;
  std::vector<std::uint32_t> offsets, sizes;
  for (const hip::ArgumentSlot& slot : r.slots) {
    offsets.push_back(slot.offset);
    sizes.push_back(slot.size);
  }
  node.kernel = {r.function,         r.grid,        r.block,     r.shared_bytes, copy(r.arguments),
                 r.arguments.size(), copy(offsets), copy(sizes), sizes.size()};
}

void ShownNodes::fill(hgpatcher_node& node, const hip::CopyRecord& r) {
  node.kind = HGPATCHER_COPY;
  node.copy = r.params;
  node.linear = r.linear ? 1 : 0;
}

void ShownNodes::fill(hgpatcher_node& node, const hip::OpaqueRecord& r) {
  node.kind = HGPATCHER_OPAQUE;
  node.buffers = copy(r.buffers);
  node.buffer_count = r.buffers.size();
}

}  // namespace verify
