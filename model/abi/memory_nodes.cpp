// Memory allocation and free nodes, and the device memory that they hold. Sources: HIP's header documentation;
// catch/unit/graph: hipGraphAddMemAllocNode.cc, hipGraphAddMemFreeNode.cc, hipGraphMem*NodeGetParams.cc,
// hipDevice*GraphMem*.cc.
#include "model/abi/node_place.h"

namespace model::abi {
namespace {

// A list of access rights that a getter returns; it belongs to the node.
using HipRights = std::vector<hipMemAccessDesc>;

// Checks HIP's conditions on the pool's properties, and CUDA's on the access rights: no more than there are devices.
bool sensible(const State& state, const hipMemAllocNodeParams& params) {
  const hipMemPoolProps& pool = params.poolProps;
  return params.bytesize != 0 && pool.allocType == hipMemAllocationTypePinned &&
         pool.location.type == hipMemLocationTypeDevice && is_device(state, pool.location.id) &&
         params.accessDescCount <= static_cast<std::size_t>(state.runtime.options().devices) &&
         (params.accessDescCount == 0 || params.accessDescs != nullptr);
}

Status add_allocation(State& state, const Where& where, hipMemAllocNodeParams* params) {
  if (params == nullptr) return Status::kInvalidValue;
  params->dptr = nullptr;
  if (where.out == nullptr || find(state, where.graph) == nullptr || !sensible(state, *params)) {
    return Status::kInvalidValue;
  }
  AllocateParams allocate;
  for (std::size_t i = 0; i < params->accessDescCount; ++i) {
    allocate.rights.push_back({params->accessDescs[i].location.id, static_cast<int>(params->accessDescs[i].flags)});
  }
  const Status reserved =
      state.runtime.memory().reserve(params->bytesize, params->poolProps.location.id, &allocate.range);
  if (reserved != Status::kSuccess) return reserved;
  const Address base = allocate.range->base();
  const Status added = add(state, where, std::move(allocate));
  if (added == Status::kSuccess) params->dptr = to_pointer(base);
  return added;
}

// An allocation node can have one free node at a time, in any graph (clr: hipGraphAddMemFreeNode).
Status add_free(State& state, const Where& where, const void* pointer) {
  Reservation* range = state.runtime.memory().find_reservation(to_address(pointer));
  if (range == nullptr || range->base() != to_address(pointer) || !range->free_node.expired() || range->of_stream) {
    return Status::kInvalidValue;
  }
  const auto only = std::make_shared<const char>();
  range->free_node = only;
  return add(state, where, FreeParams{range->shared_from_this(), only});
}

Status get(State& state, hipGraphNode_t handle, hipMemAllocNodeParams* out) {
  Node* node = find(state, handle);
  if (node == nullptr || out == nullptr || node->type() != NodeType::kAllocate) return Status::kInvalidValue;
  const auto& allocate = std::get<AllocateParams>(node->params());
  if (node->attachment() == nullptr) {
    auto rights = std::make_shared<HipRights>();
    for (const MemoryAccessRight& right : allocate.rights) {
      rights->push_back({{hipMemLocationTypeDevice, right.device}, static_cast<hipMemAccessFlags>(right.flags)});
    }
    node->attach(rights);
  }
  const auto& rights = *static_cast<const HipRights*>(node->attachment().get());
  *out = {};
  out->poolProps.allocType = hipMemAllocationTypePinned;
  out->poolProps.location = {hipMemLocationTypeDevice, allocate.range->device()};
  out->accessDescs = rights.empty() ? nullptr : rights.data();
  out->accessDescCount = rights.size();
  out->bytesize = allocate.range->bytes();
  out->dptr = to_pointer(allocate.range->base());
  return Status::kSuccess;
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipGraphAddMemAllocNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   size_t count, hipMemAllocNodeParams* params) {
  return call([&](State& state) { return add_allocation(state, {node, graph, dependencies, count}, params); });
}

hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node, hipMemAllocNodeParams* params) {
  return call([&](State& state) { return get(state, node, params); });
}

hipError_t hipGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                  size_t count, void* pointer) {
  return call([&](State& state) { return add_free(state, {node, graph, dependencies, count}, pointer); });
}

hipError_t hipDrvGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                     size_t count, hipDeviceptr_t pointer) {
  return call([&](State& state) { return add_free(state, {node, graph, dependencies, count}, pointer); });
}

hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void* pointer) {
  return call_on(node, [&](State&, const Node& found) {
    const auto* free = std::get_if<FreeParams>(&found.params());
    if (free == nullptr) return Status::kInvalidValue;
    return put(static_cast<void**>(pointer), to_pointer(free->range->base()));
  });
}

// The model keeps no memory in reserve: reserved and used memory are equal.
hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, void* value) {
  return call([&](State& state) {
    if (!is_device(state, device)) return Status::kInvalidDevice;
    const AddressSpace& memory = state.runtime.memory();
    switch (attribute) {
      case hipGraphMemAttrUsedMemCurrent:
      case hipGraphMemAttrReservedMemCurrent:
        return put(static_cast<std::uint64_t*>(value), memory.mapped_bytes(device));
      case hipGraphMemAttrUsedMemHigh:
      case hipGraphMemAttrReservedMemHigh:
        return put(static_cast<std::uint64_t*>(value), memory.mapped_high(device));
    }
    return Status::kInvalidValue;
  });
}

// High-water marks can only be set to 0, which resets them to the present use.
hipError_t hipDeviceSetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, void* value) {
  return call([&](State& state) {
    if (!is_device(state, device)) return Status::kInvalidDevice;
    if (value == nullptr) return Status::kInvalidValue;
    if (attribute != hipGraphMemAttrUsedMemHigh && attribute != hipGraphMemAttrReservedMemHigh) {
      return Status::kInvalidValue;
    }
    if (*static_cast<const std::uint64_t*>(value) != 0) return Status::kInvalidValue;
    state.runtime.memory().reset_mapped_high(device);
    return Status::kSuccess;
  });
}

hipError_t hipDeviceGraphMemTrim(int device) {
  return call([&](State& state) { return is_device(state, device) ? Status::kSuccess : Status::kInvalidDevice; });
}

HGMODEL_FUNCTIONS_END
