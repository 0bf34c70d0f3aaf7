// Stream memory operations, one by one, in batches and as nodes. Sources: HIP's header documentation; catch/unit/graph:
// hipGraphAddBatchMemOpNode.cc, hipGraphBatchMemOpNodeSetParams.cc; catch/unit/stream: hipStreamValue.cc; clr's
// hip_stream_ops.cpp for barriers and flushes, which are refused.
//
// Weaker than AMD's devices: memory to wait on need not be signal memory, and the race detector does not know the order
// that comes from waiting for a value. A wait inside a graph is satisfied when it is reached, or never: a launch is one
// step of the model.
#include "model/abi/node_place.h"

namespace model::abi {
namespace {

using HipOperation = hipStreamBatchMemOpParams;

bool is_wait(hipStreamBatchMemOpType type) {
  return type == hipStreamMemOpWaitValue32 || type == hipStreamMemOpWaitValue64;
}

Status from_hip(const HipOperation& from, MemoryOperation* out) {
  const bool wide = from.operation == hipStreamMemOpWaitValue64 || from.operation == hipStreamMemOpWriteValue64;
  const bool narrow = from.operation == hipStreamMemOpWaitValue32 || from.operation == hipStreamMemOpWriteValue32;
  if (!wide && !narrow) return Status::kInvalidValue;
  out->waits = is_wait(from.operation);
  out->bytes = wide ? 8 : 4;
  // writeValue and waitValue begin with the same members.
  out->address = to_address(from.writeValue.address);
  out->value = wide ? from.writeValue.value64 : from.writeValue.value;
  if (!out->waits) return Status::kSuccess;
  if (from.waitValue.flags > hipStreamWaitValueNor) return Status::kInvalidValue;
  out->comparison = static_cast<Comparison>(from.waitValue.flags);
  return Status::kSuccess;
}

Status from_hip(const HipOperation* list, unsigned count, unsigned flags, BatchParams* out) {
  if (list == nullptr || count == 0 || count > kMaxBatch || flags != 0) return Status::kInvalidValue;
  for (unsigned i = 0; i < count; ++i) {
    MemoryOperation operation;
    if (const Status status = from_hip(list[i], &operation); status != Status::kSuccess) return status;
    out->operations.push_back(operation);
  }
  return Status::kSuccess;
}

HipOperation to_hip(const MemoryOperation& operation) {
  HipOperation out{};
  const bool wide = operation.bytes == 8;
  if (operation.waits) {
    out.operation = wide ? hipStreamMemOpWaitValue64 : hipStreamMemOpWaitValue32;
    out.waitValue.flags = static_cast<unsigned>(operation.comparison);
  } else {
    out.operation = wide ? hipStreamMemOpWriteValue64 : hipStreamMemOpWriteValue32;
  }
  out.writeValue.address = to_pointer(operation.address);
  out.writeValue.value64 = operation.value;
  return out;
}

// Each operation goes to the stream separately, so that a wait delays only the operations behind it.
Status enqueue(State& state, hipStream_t stream, const BatchParams& batch) {
  Stream* on = find(state, stream);
  if (on == nullptr) return Status::kContextIsDestroyed;
  const AddressSpace& space = state.runtime.memory();
  if (const Status status = validate(batch, space); status != Status::kSuccess) return status;
  for (const MemoryOperation& operation : batch.operations) {
    const Allocation* memory = space.find(operation.address);
    if (memory == nullptr || memory->kind == MemoryKind::kPageable) return Status::kInvalidValue;
  }
  for (const MemoryOperation& operation : batch.operations) {
    const Status status = state.runtime.enqueue(*on, BatchParams{{operation}});
    if (status != Status::kSuccess) return status;
  }
  return Status::kSuccess;
}

Status wait(State& state, hipStream_t stream, void* at, std::uint32_t bytes, std::uint64_t value, unsigned flags,
            std::uint64_t mask) {
  if (flags > hipStreamWaitValueNor) return Status::kInvalidValue;
  const MemoryOperation operation{true, bytes, to_address(at), value, mask, static_cast<Comparison>(flags)};
  return enqueue(state, stream, {{operation}});
}

// The callers ignore the flags of a write, which are reserved.
Status write(State& state, hipStream_t stream, void* at, std::uint32_t bytes, std::uint64_t value) {
  MemoryOperation operation;
  operation.bytes = bytes;
  operation.address = to_address(at);
  operation.value = value;
  return enqueue(state, stream, {{operation}});
}

}  // namespace

Status from_hip(const hipBatchMemOpNodeParams* params, BatchParams* out) {
  if (params == nullptr) return Status::kInvalidValue;
  return from_hip(params->paramArray, params->count, params->flags, out);
}

}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipStreamWaitValue32(hipStream_t stream, void* at, uint32_t value, unsigned int flags, uint32_t mask) {
  return call([&](State& state) { return wait(state, stream, at, 4, value, flags, mask); });
}

hipError_t hipStreamWaitValue64(hipStream_t stream, void* at, uint64_t value, unsigned int flags, uint64_t mask) {
  return call([&](State& state) { return wait(state, stream, at, 8, value, flags, mask); });
}

hipError_t hipStreamWriteValue32(hipStream_t stream, void* at, uint32_t value, unsigned int) {
  return call([&](State& state) { return write(state, stream, at, 4, value); });
}

hipError_t hipStreamWriteValue64(hipStream_t stream, void* at, uint64_t value, unsigned int) {
  return call([&](State& state) { return write(state, stream, at, 8, value); });
}

hipError_t hipStreamBatchMemOp(hipStream_t stream, unsigned int count, hipStreamBatchMemOpParams* list,
                               unsigned int flags) {
  return call([&](State& state) {
    BatchParams batch;
    if (const Status status = from_hip(list, count, flags, &batch); status != Status::kSuccess) return status;
    return enqueue(state, stream, batch);
  });
}

hipError_t hipGraphAddBatchMemOpNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                     size_t count, const hipBatchMemOpNodeParams* params) {
  return call(
      [&](State& state) { return convert_and_add<BatchParams>(state, {node, graph, dependencies, count}, params); });
}

// The list that is returned belongs to the node.
hipError_t hipGraphBatchMemOpNodeGetParams(hipGraphNode_t node, hipBatchMemOpNodeParams* params) {
  return call_on(node, [&](State&, Node& found) {
    if (params == nullptr || found.type() != NodeType::kBatch) return Status::kInvalidValue;
    using List = std::vector<hipStreamBatchMemOpParams>;
    if (found.attachment() == nullptr) {
      auto made = std::make_shared<List>();
      for (const MemoryOperation& one : std::get<BatchParams>(found.params()).operations) made->push_back(to_hip(one));
      found.attach(std::move(made));
    }
    auto& list = *static_cast<List*>(found.attachment().get());
    *params = {};
    params->count = static_cast<unsigned>(list.size());
    params->paramArray = list.data();
    return Status::kSuccess;
  });
}

hipError_t hipGraphBatchMemOpNodeSetParams(hipGraphNode_t node, hipBatchMemOpNodeParams* params) {
  return call([&](State& state) { return convert_and_set<BatchParams>(state, node, params); });
}

hipError_t hipGraphExecBatchMemOpNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                               const hipBatchMemOpNodeParams* params) {
  return call([&](State& state) { return convert_and_set<BatchParams>(state, exec, node, params); });
}

HGMODEL_FUNCTIONS_END
