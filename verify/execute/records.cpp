#include "verify/execute/records.h"

#include <cstring>

#include "hip/batch_nodes.h"

namespace verify {

namespace {

hipMemcpyKind hip_kind(CopyKind kind) {
  switch (kind) {
    case CopyKind::kHostToHost:
      return hipMemcpyHostToHost;
    case CopyKind::kHostToDevice:
      return hipMemcpyHostToDevice;
    case CopyKind::kDeviceToHost:
      return hipMemcpyDeviceToHost;
    case CopyKind::kDeviceToDevice:
      return hipMemcpyDeviceToDevice;
    case CopyKind::kDefault:
      break;
  }
  return hipMemcpyDefault;
}

hipPos hip_position(const Position& p) {
  return {p.x, p.y, p.z};
}

struct Maker {
  const RecordContext& context;

  [[nodiscard]] hip::DeviceAddress address(const BufferRef& ref) const {
    return context.addresses[ref.buffer] + static_cast<std::uint64_t>(ref.offset);
  }
  [[nodiscard]] std::uint64_t bits_of(const ArgumentValue& value) const {
    if (value.kind == ArgumentValue::Kind::kNumber) return value.number;
    if (value.kind == ArgumentValue::Kind::kPointer) return address(value.ref);
    return context.frozen[value.ref.buffer] + static_cast<std::uint64_t>(value.ref.offset);
  }
  [[nodiscard]] void* pointer(const BufferRef& ref) const { return reinterpret_cast<void*>(address(ref)); }

  // Records an opaque node by making the same call again: code that recorded a node once can do it again, but cannot
  // say where the node's pointers are.
  static hip::RecordedNode opaque(hip::KernelRecord kernel, const std::vector<hip::Relocation>& relocations) {
    hip::RecordedNode node;
    hip::OpaqueRecord record;
    for (const hip::Relocation& relocation : relocations) record.buffers.push_back(relocation.buffer);
    record.reason = "recorded by code that does not say where its pointers are";
    record.kernel = true;
    record.device = kernel.device;
    record.record = [kernel = std::move(kernel), relocations](
                        const hip::Api& api, hipGraph_t graph, std::span<const hipGraphNode_t> dependencies,
                        std::span<const hip::DeviceAddress> addresses, hip::Kept&) {
      hip::NodeExtras none;
      return hip::record_node(api, graph, {kernel, {}, relocations}, dependencies, addresses, none);
    };
    node.record = std::move(record);
    return node;
  }

  hip::RecordedNode operator()(const KernelParams& p) const {
    hip::KernelRecord kernel;
    std::vector<hip::Relocation> relocations;
    kernel.function = context.function(p);
    kernel.device = static_cast<int>(p.device);
    kernel.by_symbol = p.by_symbol;
    kernel.grid = dim3(p.grid, p.grid_y, p.grid_z);
    kernel.block = dim3(p.block, p.block_y, p.block_z);
    kernel.shared_bytes = p.shared_bytes;
    kernel.style = p.style == ArgumentStyle::kExtra ? hip::ArgumentStyle::kExtra : hip::ArgumentStyle::kParams;
    kernel.arguments.resize(p.kernel->argument_bytes);
    kernel.slots.reserve(p.kernel->arguments.size());
    for (const ArgumentSpec& argument : p.kernel->arguments) kernel.slots.push_back({argument.offset, argument.size});
    for (std::size_t i = 0; i < p.arguments.size(); ++i) {
      const FieldSpec& field = p.kernel->fields[i];
      const ArgumentValue& value = p.arguments[i];
      const std::uint64_t bits = bits_of(value);
      std::memcpy(kernel.arguments.data() + field.offset, &bits, field.size);  // little-endian: the low bytes
      if (value.kind == ArgumentValue::Kind::kPointer) {
        relocations.push_back({hip::Field::kKernelArgument, field.offset, value.ref.buffer, value.ref.offset});
      }
    }
    if (p.opaque) return opaque(std::move(kernel), relocations);
    return {std::move(kernel), {}, std::move(relocations)};
  }
  [[nodiscard]] hip::CopySymbol symbol_of(const CopyParams& p) const {
    const bool to = p.symbol == CopySymbol::kDestination;
    const BufferRef& ref = (to ? p.dst : p.src).ref;
    return {context.symbol(ref.buffer), static_cast<std::size_t>(ref.offset), to, 0};
  }
  hip::RecordedNode operator()(const CopyParams& p) const {
    hip::CopyRecord copy;
    copy.linear = p.linear;
    copy.params.extent = {p.width, p.height, p.depth};
    copy.params.kind = hip_kind(p.kind);
    copy.params.dstPtr = {pointer(p.dst.ref), p.linear ? p.width : p.dst.pitch, p.width, p.linear ? 1 : p.dst.rows};
    copy.params.srcPtr = {pointer(p.src.ref), p.linear ? p.width : p.src.pitch, p.width, p.linear ? 1 : p.src.rows};
    if (p.symbol != CopySymbol::kNone) copy.symbol = symbol_of(p);
    copy.params.dstPos = hip_position(p.dst.position);
    copy.params.srcPos = hip_position(p.src.position);
    hip::RecordedNode node{copy, {}, {}};
    if (p.symbol != CopySymbol::kDestination) {
      node.relocations.push_back({hip::Field::kCopyDestination, 0, p.dst.ref.buffer, p.dst.ref.offset});
    }
    if (p.symbol != CopySymbol::kSource) {
      node.relocations.push_back({hip::Field::kCopySource, 0, p.src.ref.buffer, p.src.ref.offset});
    }
    return node;
  }
  hip::RecordedNode operator()(const MemsetParams& p) const {
    hip::MemsetRecord memset;
    memset.params.dst = pointer(p.dst);
    memset.params.elementSize = p.element;
    memset.params.width = p.width;
    memset.params.height = p.height;
    memset.params.pitch = p.pitch;
    memset.params.value = p.value;
    memset.device = static_cast<int>(context.device(p.dst.buffer));
    return {memset, {}, {{hip::Field::kMemsetDestination, 0, p.dst.buffer, p.dst.offset}}};
  }
  hip::RecordedNode operator()(const HostParams& p) const { return {hip::HostRecord{context.host(p)}, {}, {}}; }
  hip::RecordedNode operator()(const EmptyParams&) const { return {hip::EmptyRecord{}, {}, {}}; }
  hip::RecordedNode operator()(const ChildParams& p) const { return {hip::ChildRecord{context.child(p)}, {}, {}}; }
  hip::RecordedNode operator()(const EventRecordParams& p) const {
    return {hip::EventSignalRecord{context.event(p.event)}, {}, {}};
  }
  hip::RecordedNode operator()(const EventWaitParams& p) const {
    return {hip::EventWaitRecord{context.event(p.event)}, {}, {}};
  }
  hip::RecordedNode operator()(const MemoryAllocParams& p) const {
    return {hip::MemoryAllocRecord{p.buffer, p.bytes, 0, p.access}, {}, {}};
  }
  hip::RecordedNode operator()(const BatchParams& p) const {
    hip::BatchRecord batch;
    std::vector<hip::Relocation> relocations;
    for (const MemoryOperation& each : p.operations) {
      relocations.push_back({hip::Field::kMemoryOperation, static_cast<std::uint32_t>(batch.operations.size()),
                             each.ref.buffer, each.ref.offset});
      batch.operations.push_back({each.waits, each.bytes, address(each.ref), each.value,
                                  static_cast<hip::MemoryOperation::Comparison>(each.comparison)});
    }
    return {std::move(batch), {}, std::move(relocations)};
  }
  hip::SemaphoreRecord semaphores(const SemaphoreParams& p) const {
    hip::SemaphoreRecord record;
    for (const SemaphoreValue& each : p.list) {
      record.semaphores.push_back(context.semaphore(each.semaphore));
      record.values.push_back(each.value);
    }
    return record;
  }
  hip::RecordedNode operator()(const SemaphoreSignalParams& p) const {
    return {hip::SemaphoreSignalRecord{semaphores(p)}, {}, {}};
  }
  hip::RecordedNode operator()(const SemaphoreWaitParams& p) const {
    return {hip::SemaphoreWaitRecord{semaphores(p)}, {}, {}};
  }
  hip::RecordedNode operator()(const MemoryFreeParams& p) const { return {hip::MemoryFreeRecord{p.buffer}, {}, {}}; }
};

}  // namespace

std::vector<hip::ArgumentSlot> slots_of(const KernelSpec& spec) {
  std::vector<hip::ArgumentSlot> slots;
  for (const ArgumentSpec& argument : spec.arguments) {
    const int field = spec.field_index(argument.name);  // -1: a struct
    const FieldKind kind = field < 0 ? FieldKind::kScalar : spec.fields[static_cast<std::size_t>(field)].kind;
    slots.push_back({argument.offset, argument.size,
                     kind == FieldKind::kPointer  ? hip::ArgumentKind::kPointer
                     : kind == FieldKind::kScalar ? hip::ArgumentKind::kValue
                                                  : hip::ArgumentKind::kUnknown});
  }
  return slots;
}

const char* missing_function(const hip::Api& api, const NodeParams& params) {
#define MISSING(name) \
  if (api.name == nullptr) return #name
  const auto* copy = std::get_if<CopyParams>(&params);
  if (copy != nullptr && copy->symbol == CopySymbol::kDestination) {
    MISSING(hipGraphAddMemcpyNodeToSymbol);
    MISSING(hipGraphMemcpyNodeSetParamsToSymbol);
    MISSING(hipGraphExecMemcpyNodeSetParamsToSymbol);
  } else if (copy != nullptr && copy->symbol == CopySymbol::kSource) {
    MISSING(hipGraphAddMemcpyNodeFromSymbol);
    MISSING(hipGraphMemcpyNodeSetParamsFromSymbol);
    MISSING(hipGraphExecMemcpyNodeSetParamsFromSymbol);
  } else if (std::holds_alternative<EventRecordParams>(params)) {
    MISSING(hipGraphAddEventRecordNode);
    MISSING(hipGraphEventRecordNodeSetEvent);
    MISSING(hipGraphExecEventRecordNodeSetEvent);
  } else if (std::holds_alternative<EventWaitParams>(params)) {
    MISSING(hipGraphAddEventWaitNode);
    MISSING(hipGraphEventWaitNodeSetEvent);
    MISSING(hipGraphExecEventWaitNodeSetEvent);
  } else if (std::holds_alternative<MemoryAllocParams>(params)) {
    MISSING(hipGraphAddMemAllocNode);
    MISSING(hipFreeAsync);
  } else if (std::holds_alternative<MemoryFreeParams>(params)) {
    MISSING(hipGraphAddMemFreeNode);
  } else if (std::holds_alternative<BatchParams>(params)) {
    return hip::missing_batch_function(api);
  }
#undef MISSING
  return nullptr;
}

hip::RecordedNode make_record(const NodeParams& params, const RecordContext& context) {
  return std::visit(Maker{context}, params);
}

}  // namespace verify
