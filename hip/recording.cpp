// Recordings: well-formedness, relocation of one node, and the devices that nodes run on.
#include "hip/recording.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace hip {
namespace {

constexpr std::uint32_t kPointerBytes = 8;
constexpr BufferIndex kNoBuffer = std::numeric_limits<BufferIndex>::max();  // not an index: one more would overflow

void* pointer(DeviceAddress address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

// Whether any two of these ranges share a byte. Empty ranges share none: an empty struct has no bytes.
bool overlap(std::vector<ArgumentSlot> ranges) {
  std::erase_if(ranges, [](const ArgumentSlot& range) { return range.size == 0; });
  std::ranges::sort(ranges, {}, &ArgumentSlot::offset);
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (std::uint64_t{ranges[i - 1].offset} + ranges[i - 1].size > ranges[i].offset) return true;
  }
  return false;
}

bool outside(const std::vector<ArgumentSlot>& ranges, std::size_t block) {
  return std::ranges::any_of(
      ranges, [&](const ArgumentSlot& range) { return std::uint64_t{range.offset} + range.size > block; });
}

const char* flaw_of_dependencies(const std::vector<NodeIndex>& dependencies, std::size_t earlier_nodes) {
  std::vector<NodeIndex> sorted = dependencies;
  std::ranges::sort(sorted);
  if (!sorted.empty() && sorted.back() >= earlier_nodes) return "a dependency is not an earlier node";
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return "a dependency is named twice";
  return nullptr;
}

const char* flaw_of_kernel(const KernelRecord& kernel, const std::vector<Relocation>& relocations) {
  if (outside(kernel.slots, kernel.arguments.size())) return "a slot lies outside the argument block";
  if (kernel.style == ArgumentStyle::kParams && kernel.slots.empty() && !kernel.arguments.empty()) {
    return "a kernel recorded through kernelParams needs slots";
  }
  std::vector<ArgumentSlot> ranges;
  ranges.reserve(relocations.size());
  for (const Relocation& relocation : relocations) {
    if (relocation.field != Field::kKernelArgument) return "a relocation names a field that a kernel does not have";
    ranges.push_back({relocation.offset, kPointerBytes});
  }
  if (outside(ranges, kernel.arguments.size())) return "a relocation lies outside the argument block";
  if (overlap(std::move(ranges))) return "two relocations overlap";
  return nullptr;
}

const char* flaw_of_fields(const std::vector<Relocation>& relocations, std::initializer_list<Field> fields) {
  for (std::size_t i = 0; i < relocations.size(); ++i) {
    if (std::ranges::find(fields, relocations[i].field) == fields.end()) {
      return "a relocation names a field that the node does not have";
    }
    if (relocations[i].offset != 0) return "only relocations of kernel arguments have an offset";
    for (std::size_t j = 0; j < i; ++j) {
      if (relocations[j].field == relocations[i].field) return "two relocations overlap";
    }
  }
  return nullptr;
}

const char* flaw_of_batch(const BatchRecord& batch, const std::vector<Relocation>& relocations) {
  if (batch.operations.empty()) return "a batch has at least one operation";
  if (std::ranges::any_of(batch.operations, [](const auto& one) { return one.bytes != 4 && one.bytes != 8; })) {
    return "an operation of a batch is of 4 or 8 bytes";
  }
  std::vector<std::uint32_t> numbers;
  for (const Relocation& relocation : relocations) {
    if (relocation.field != Field::kMemoryOperation) return "a relocation names a field that the node does not have";
    if (relocation.offset >= batch.operations.size()) return "a relocation names an operation that does not exist";
    numbers.push_back(relocation.offset);
  }
  std::ranges::sort(numbers);
  return std::ranges::adjacent_find(numbers) == numbers.end() ? nullptr : "two relocations overlap";
}

struct FlawOfRecord {
  const std::vector<Relocation>& relocations;

  const char* operator()(const KernelRecord& kernel) const { return flaw_of_kernel(kernel, relocations); }
  const char* operator()(const CopyRecord& copy) const {
    if (copy.symbol.symbol == nullptr) {
      return flaw_of_fields(relocations, {Field::kCopyDestination, Field::kCopySource});
    }
    if (!copy.linear) return "a copy to or from a symbol is linear";
    return flaw_of_fields(relocations, {copy.symbol.to ? Field::kCopySource : Field::kCopyDestination});
  }
  const char* operator()(const MemsetRecord&) const { return flaw_of_fields(relocations, {Field::kMemsetDestination}); }
  const char* operator()(const BatchRecord& batch) const { return flaw_of_batch(batch, relocations); }
  const char* operator()(const SemaphoreRecord& record) const {
    if (record.semaphores.empty()) return "a node of semaphores has at least one";
    if (record.semaphores.size() != record.values.size()) return "each semaphore has one value";
    return flaw_of_fields(relocations, {});
  }
  const char* operator()(const HostRecord&) const { return flaw_of_fields(relocations, {}); }
  const char* operator()(const EmptyRecord&) const { return flaw_of_fields(relocations, {}); }
  const char* operator()(const EventSignalRecord& record) const { return flaw_of_event(record.event); }
  const char* operator()(const EventWaitRecord& wait) const { return flaw_of_event(wait.event); }
  const char* operator()(const MemoryAllocRecord& memory) const {
    if (memory.bytes == 0) return "an allocation node allocates at least one byte";
    return memory.buffer == kNoBuffer ? "a memory node names no buffer" : flaw_of_fields(relocations, {});
  }
  const char* operator()(const MemoryFreeRecord& memory) const {
    return memory.buffer == kNoBuffer ? "a memory node names no buffer" : flaw_of_fields(relocations, {});
  }
  const char* operator()(const ChildRecord& child) const {
    if (!child.graph) return "a child graph node needs a recording";
    return flaw_of_fields(relocations, {});
  }
  const char* operator()(const OpaqueRecord& opaque) const {
    if (!opaque.record) return "an opaque node needs a function that records it";
    if (std::ranges::find(opaque.buffers, kNoBuffer) != opaque.buffers.end()) {
      return "an opaque node names no buffer";
    }
    return flaw_of_fields(relocations, {});
  }

 private:
  [[nodiscard]] const char* flaw_of_event(hipEvent_t event) const {
    return event == nullptr ? "an event node needs an event" : flaw_of_fields(relocations, {});
  }
};

std::uint32_t saturating_add(std::uint32_t a, std::uint32_t b) {
  return a > std::numeric_limits<std::uint32_t>::max() - b ? std::numeric_limits<std::uint32_t>::max() : a + b;
}

}  // namespace

KernelRecord KernelRecord::from_arguments(hipFunction_t function, std::vector<ArgumentSlot> slots,
                                          std::span<const std::span<const std::byte>> values) {
  assert(slots.size() == values.size() && "one value a slot");
  assert(!overlap(slots) && "slots overlap");
  KernelRecord kernel;
  kernel.function = function;
  std::size_t size = 0;
  for (const ArgumentSlot& slot : slots) size = std::max(size, std::size_t{slot.offset} + slot.size);
  kernel.arguments.resize(size);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    assert(values[i].size() == slots[i].size && "a value is not as large as its slot");
    std::copy(values[i].begin(), values[i].end(), kernel.arguments.begin() + slots[i].offset);
  }
  kernel.slots = std::move(slots);
  return kernel;
}

static const char* flaw_of_parameters(const RecordedNode& node) {
  for (const Relocation& relocation : node.relocations) {
    if (relocation.buffer == kNoBuffer) return "a relocation names no buffer";
  }
  return std::visit(FlawOfRecord{node.relocations}, node.record);
}

const char* flaw_of(const RecordedNode& node, std::size_t earlier_nodes) {
  if (const char* flaw = flaw_of_dependencies(node.dependencies, earlier_nodes)) return flaw;
  return flaw_of_parameters(node);
}

NodeIndex Recording::add(RecordedNode node) {
  assert(flaw_of(node, nodes_.size()) == nullptr);
  count(node);
  nodes_.push_back(std::move(node));
  return static_cast<NodeIndex>(nodes_.size() - 1);
}

void Recording::replace(NodeIndex node, NodeRecord record, std::vector<Relocation> relocations) {
  assert(node < nodes_.size());
  RecordedNode& target = nodes_[node];
  assert(may_follow(target.record, record) && "a node keeps its type");
  target.record = std::move(record);
  target.relocations = std::move(relocations);
  assert(flaw_of_parameters(target) == nullptr);
  count_again();
}

void Recording::set_form(NodeIndex node, NodeForm form) {
  assert(node < nodes_.size());
  nodes_[node].form = form;
}

void Recording::connect(NodeIndex from, NodeIndex to) {
  assert(from < nodes_.size() && to < nodes_.size() && from != to);
  std::vector<NodeIndex>& dependencies = nodes_[to].dependencies;
  assert(std::ranges::find(dependencies, from) == dependencies.end());
  dependencies.push_back(from);
  connections_.push_back({from, to, static_cast<NodeIndex>(nodes_.size())});
}

void Recording::disconnect(NodeIndex from, NodeIndex to) {
  assert(to < nodes_.size());
  std::erase_if(connections_, [&](const Connection& each) { return each.from == from && each.to == to; });
  [[maybe_unused]] const std::size_t erased = std::erase(nodes_[to].dependencies, from);
  assert(erased == 1);
}

void Recording::erase(NodeIndex first, NodeIndex count) {
  assert(first <= nodes_.size() && count <= nodes_.size() - first);
  const NodeIndex end = first + count;
  const auto erased = [first, end](NodeIndex node) { return node >= first && node < end; };
  // How many of the erased nodes lie before the node.
  const auto before = [first, end](NodeIndex node) { return std::min(node, end) - std::min(node, first); };
  nodes_.erase(nodes_.begin() + first, nodes_.begin() + end);
  for (RecordedNode& each : nodes_) {
    std::erase_if(each.dependencies, erased);
    for (NodeIndex& dependency : each.dependencies) dependency -= before(dependency);
  }
  std::erase_if(connections_, [&](const Connection& each) { return erased(each.from) || erased(each.to); });
  for (Connection& each : connections_) {
    for (NodeIndex* index : {&each.from, &each.to, &each.nodes_before}) *index -= before(*index);
  }
  count_again();
}

void Recording::count_again() {
  buffer_count_ = child_depth_ = tree_size_ = 0;
  has_memory_nodes_ = false;
  for (const RecordedNode& each : nodes_) count(each);
}

void Recording::count(const RecordedNode& node) {
  tree_size_ = saturating_add(tree_size_, 1);
  for (const Relocation& relocation : node.relocations) buffer_count_ = std::max(buffer_count_, relocation.buffer + 1);
  if (const auto* opaque = std::get_if<OpaqueRecord>(&node.record)) {
    for (BufferIndex buffer : opaque->buffers) buffer_count_ = std::max(buffer_count_, buffer + 1);
  }
  if (const auto* allocation = std::get_if<MemoryAllocRecord>(&node.record)) {
    has_memory_nodes_ = true;
    buffer_count_ = std::max(buffer_count_, allocation->buffer + 1);
  }
  if (const auto* freed = std::get_if<MemoryFreeRecord>(&node.record)) {
    has_memory_nodes_ = true;
    buffer_count_ = std::max(buffer_count_, freed->buffer + 1);
  }
  if (const auto* child = std::get_if<ChildRecord>(&node.record)) {
    buffer_count_ = std::max(buffer_count_, child->graph->buffer_count_);
    child_depth_ = std::max(child_depth_, saturating_add(child->graph->child_depth_, 1));
    tree_size_ = saturating_add(tree_size_, child->graph->tree_size_);
  }
}

const char* kind_of(const NodeRecord& record) {
  static constexpr const char* kKinds[] = {
      "kernel",      "copy",   "memset",           "host",          "empty",
      "child graph", "opaque", "event record",     "event wait",    "memory allocation",
      "memory free", "batch",  "semaphore signal", "semaphore wait"};
  static_assert(std::size(kKinds) == std::variant_size_v<NodeRecord>);
  return kKinds[record.index()];
}

bool may_follow(const NodeRecord& old, const NodeRecord& now) {
  return old.index() == now.index() || std::holds_alternative<OpaqueRecord>(old) ||
         std::holds_alternative<OpaqueRecord>(now);
}

void write_address(NodeRecord& record, const Relocation& relocation, DeviceAddress base) {
  const DeviceAddress address = base + static_cast<DeviceAddress>(relocation.addend);
  static_assert(sizeof(address) == kPointerBytes);
  switch (relocation.field) {
    case Field::kKernelArgument: {
      std::vector<std::byte>& block = std::get<KernelRecord>(record).arguments;
      assert(std::size_t{relocation.offset} + kPointerBytes <= block.size());
      std::memcpy(block.data() + relocation.offset, &address, kPointerBytes);
      return;
    }
    case Field::kCopyDestination:
      std::get<CopyRecord>(record).params.dstPtr.ptr = pointer(address);
      return;
    case Field::kCopySource:
      std::get<CopyRecord>(record).params.srcPtr.ptr = pointer(address);
      return;
    case Field::kMemsetDestination:
      std::get<MemsetRecord>(record).params.dst = pointer(address);
      return;
    case Field::kMemoryOperation:
      std::get<BatchRecord>(record).operations.at(relocation.offset).address = address;
      return;
  }
  assert(false && "a field that does not exist");
}

NodeRecord relocated(const RecordedNode& node, std::span<const DeviceAddress> addresses) {
  NodeRecord record = node.record;
  for (const Relocation& relocation : node.relocations) {
    assert(relocation.buffer < addresses.size());
    write_address(record, relocation, addresses[relocation.buffer]);
  }
  return record;
}

// Whether all nodes with a device, kernels and memsets, have the same one. Sets `home` to the device of the first of
// them.
static bool share_device(const Recording& recording, std::optional<int>& home) {
  return std::ranges::all_of(recording.nodes(), [&](const RecordedNode& node) {
    if (const auto* child = std::get_if<ChildRecord>(&node.record)) return share_device(*child->graph, home);
    const auto* opaque = std::get_if<OpaqueRecord>(&node.record);
    const bool has_one = std::holds_alternative<KernelRecord>(node.record) ||
                         std::holds_alternative<MemsetRecord>(node.record) || (opaque != nullptr && opaque->kernel);
    if (!has_one) return true;
    const int device = device_of(node.record);
    return home.has_value() ? *home == device : (home.emplace(device), true);
  });
}

void* Kept::of(const void* owner) const {
  const auto found =
      std::find_if(things_.rbegin(), things_.rend(), [&](const auto& each) { return each.first == owner; });
  return found == things_.rend() ? nullptr : found->second.get();
}

void Kept::take(Kept other) {
  std::move(other.things_.begin(), other.things_.end(), std::back_inserter(things_));
}

int device_of(const NodeRecord& record) {
  if (const auto* kernel = std::get_if<KernelRecord>(&record)) return kernel->device;
  if (const auto* opaque = std::get_if<OpaqueRecord>(&record)) return opaque->device;
  if (const auto* child = std::get_if<ChildRecord>(&record)) return home_of(*child->graph);
  const auto* memset = std::get_if<MemsetRecord>(&record);
  return memset == nullptr ? 0 : memset->device;
}

std::optional<int> device_needed(const NodeRecord& record) {
  if (const auto* copy = std::get_if<CopyRecord>(&record)) return copy->symbol.device;
  const int device = device_of(record);
  return device == 0 ? std::nullopt : std::optional(device);
}

int home_of(const Recording& recording) {
  std::optional<int> home;
  return share_device(recording, home) ? home.value_or(0) : 0;
}

}  // namespace hip
