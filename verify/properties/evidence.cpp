#include "verify/properties/evidence.h"

#include <fmt/format.h>

#include <cstring>

namespace verify {

std::string hex(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}

bool PatchEvidence::carried_along(std::uint64_t value, std::uint64_t now) const {
  for (hip::BufferIndex b = 0; b < old_addresses.size(); ++b) {
    // One past the end counts: an end pointer is an address of its buffer too.
    if (!moved(b) || old_addresses[b] == 0 || value - old_addresses[b] > buffer_bytes[b]) continue;
    if (value - old_addresses[b] + new_addresses[b] == now) return true;
  }
  return false;
}

bool PatchEvidence::places_overlap() const {
  for (hip::BufferIndex a = 0; a < old_addresses.size(); ++a) {
    if (!moved(a) || old_addresses[a] == 0) continue;
    for (hip::BufferIndex b = 0; b < old_addresses.size(); ++b) {
      if (!moved(b) || a == b) continue;
      const std::uint64_t end = old_addresses[a] + buffer_bytes[a];
      if (new_addresses[b] < end && old_addresses[a] < new_addresses[b] + buffer_bytes[b]) return true;
    }
  }
  return false;
}

static std::uint64_t word_at(const std::vector<std::byte>& bytes, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

std::vector<PointerField> pointer_fields(const NodeEvidence& node) {
  std::vector<PointerField> fields;
  for (const hip::Relocation& relocation : node.recorded->relocations) {
    PointerField field{"", &relocation, 0};
    if (const auto* kernel = std::get_if<model::KernelParams>(node.actual)) {
      if (relocation.offset + sizeof(std::uint64_t) > kernel->arguments.size()) continue;
      field.name = fmt::format("argument at {}", relocation.offset);
      field.observed = word_at(kernel->arguments, relocation.offset);
    } else if (const auto* copy = std::get_if<model::CopyParams>(node.actual)) {
      const bool destination = relocation.field == hip::Field::kCopyDestination;
      field.name = destination ? "dst" : "src";
      field.observed = destination ? copy->dst.base : copy->src.base;
    } else if (const auto* memset = std::get_if<model::MemsetParams>(node.actual)) {
      field.name = "dst";
      field.observed = memset->dst;
    } else if (const auto* batch = std::get_if<model::BatchParams>(node.actual)) {
      field.name = fmt::format("operation {}", relocation.offset);
      const bool there = relocation.offset < batch->operations.size();
      field.observed = there ? batch->operations[relocation.offset].address : 0;
    } else {
      continue;
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

ArgumentBytes argument_bytes(const NodeEvidence& node, const PatchEvidence& patch) {
  ArgumentBytes bytes;
  const auto* recorded = std::get_if<hip::KernelRecord>(&node.recorded->record);
  const auto* actual = std::get_if<model::KernelParams>(node.actual);
  if (recorded == nullptr || actual == nullptr) return bytes;
  bytes.expected = recorded->arguments;
  bytes.relocated.assign(bytes.expected.size(), 0);
  for (const hip::Relocation& relocation : node.recorded->relocations) {
    const std::uint64_t address =
        patch.new_addresses[relocation.buffer] + static_cast<std::uint64_t>(relocation.addend);
    std::memcpy(bytes.expected.data() + relocation.offset, &address, sizeof address);
    std::memset(bytes.relocated.data() + relocation.offset, 1, sizeof address);
  }
  bytes.observed = actual->arguments;
  bytes.observed.resize(bytes.expected.size());
  return bytes;
}

}  // namespace verify
