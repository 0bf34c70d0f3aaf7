// External semaphores: imported, signalled and awaited by streams and by nodes. Sources: HIP's header documentation and
// CUDA's (cudaImportExternalSemaphore, cudaSignalExternalSemaphoresAsync).
//
// Only the timeline semaphores of file descriptors exist (hipExternalSemaphoreHandleTypeTimelineSemaphoreFd). The model
// does not look at the descriptor: each import makes a semaphore of its own, with the value 0, that nothing outside of
// the program signals. Other types are hipErrorNotSupported.
//
// A signal sets the value, as documented, even to a lower one. A wait is satisfied by its value or a higher one. As
// with batches, a wait inside a graph is satisfied when it is reached, or never, and the race detector does not know
// the order that comes from waiting.
#include <unistd.h>

#include "model/abi/node_place.h"

namespace model::abi {
namespace {

constexpr auto kFirstType = hipExternalSemaphoreHandleTypeOpaqueFd;
constexpr auto kLastType = static_cast<hipExternalSemaphoreHandleType>(10);  // TimelineSemaphoreWin32

// The value in the parameters of one signal or wait.
unsigned long long& value_in(hipExternalSemaphoreSignalParams& params) {
  return params.params.fence.value;
}
unsigned long long& value_in(hipExternalSemaphoreWaitParams& params) {
  return params.params.fence.value;
}

template <class Values>
Status list_of(State& state, const hipExternalSemaphore_t* semaphores, const Values* values, unsigned count,
               SemaphoreParams* out) {
  if (semaphores == nullptr || values == nullptr || count == 0) return Status::kInvalidValue;
  for (unsigned i = 0; i < count; ++i) {
    const auto found = state.semaphores.find(semaphores[i]);
    if (found == state.semaphores.end() || values[i].flags != 0) return Status::kInvalidValue;
    Values value = values[i];
    out->list.push_back({found->second, value_in(value)});
  }
  return Status::kSuccess;
}

// The arrays that a getter hands out; they belong to the node.
template <class Values>
struct Lists {
  std::vector<hipExternalSemaphore_t> semaphores;
  std::vector<Values> values;
};

template <class Params, class Node>
hipError_t get(hipGraphNode_t node, Node* out) {
  using Values = std::remove_const_t<std::remove_pointer_t<decltype(out->paramsArray)>>;
  return call_on(node, [&](State&, model::Node& found) {
    const auto* params = std::get_if<Params>(&found.params());
    if (out == nullptr || params == nullptr) return Status::kInvalidValue;
    if (found.attachment() == nullptr) {
      auto lists = std::make_shared<Lists<Values>>();
      for (const SemaphoreValue& each : params->list) {
        lists->semaphores.push_back(each.semaphore.get());
        value_in(lists->values.emplace_back()) = each.value;
      }
      found.attach(std::move(lists));
    }
    auto& lists = *static_cast<Lists<Values>*>(found.attachment().get());
    *out = {lists.semaphores.data(), lists.values.data(), static_cast<unsigned>(params->list.size())};
    return Status::kSuccess;
  });
}

template <class Params, class Values>
hipError_t enqueue(const hipExternalSemaphore_t* semaphores, const Values* values, unsigned count, hipStream_t stream) {
  return call([&](State& state) {
    Params params;
    Stream* on = find(state, stream);
    if (on == nullptr) return Status::kContextIsDestroyed;
    if (const Status status = list_of(state, semaphores, values, count, &params); status != Status::kSuccess) {
      return status;
    }
    return state.runtime.enqueue(*on, std::move(params));
  });
}

}  // namespace

template <>
Status from_hip(State& state, const hipExternalSemaphoreSignalNodeParams* from, SemaphoreSignalParams* out) {
  if (from == nullptr) return Status::kInvalidValue;
  return list_of(state, from->extSemArray, from->paramsArray, from->numExtSems, out);
}
template <>
Status from_hip(State& state, const hipExternalSemaphoreWaitNodeParams* from, SemaphoreWaitParams* out) {
  if (from == nullptr) return Status::kInvalidValue;
  return list_of(state, from->extSemArray, from->paramsArray, from->numExtSems, out);
}

}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

// Takes the descriptor over, as CUDA's documentation says of an import that succeeds.
hipError_t hipImportExternalSemaphore(hipExternalSemaphore_t* semaphore, const hipExternalSemaphoreHandleDesc* handle) {
  return call([&](State& state) {
    if (semaphore == nullptr || handle == nullptr || handle->flags != 0) return Status::kInvalidValue;
    if (handle->type < kFirstType || handle->type > kLastType) return Status::kInvalidValue;
    if (handle->type != hipExternalSemaphoreHandleTypeTimelineSemaphoreFd) return Status::kNotSupported;
    if (handle->handle.fd < 0 || close(handle->handle.fd) != 0) return Status::kInvalidValue;
    auto made = std::make_shared<Semaphore>();
    *semaphore = made.get();
    state.semaphores.emplace(*semaphore, std::move(made));
    return Status::kSuccess;
  });
}

// Nodes and work that name the semaphore keep it.
hipError_t hipDestroyExternalSemaphore(hipExternalSemaphore_t semaphore) {
  return call(
      [&](State& state) { return state.semaphores.erase(semaphore) == 0 ? Status::kInvalidValue : Status::kSuccess; },
      CallKind::kTeardown);
}

hipError_t hipSignalExternalSemaphoresAsync(const hipExternalSemaphore_t* semaphores,
                                            const hipExternalSemaphoreSignalParams* values, unsigned int count,
                                            hipStream_t stream) {
  return enqueue<SemaphoreSignalParams>(semaphores, values, count, stream);
}
hipError_t hipWaitExternalSemaphoresAsync(const hipExternalSemaphore_t* semaphores,
                                          const hipExternalSemaphoreWaitParams* values, unsigned int count,
                                          hipStream_t stream) {
  return enqueue<SemaphoreWaitParams>(semaphores, values, count, stream);
}

hipError_t hipGraphAddExternalSemaphoresSignalNode(hipGraphNode_t* node, hipGraph_t graph,
                                                   const hipGraphNode_t* dependencies, size_t count,
                                                   const hipExternalSemaphoreSignalNodeParams* params) {
  return call([&](State& state) {
    return convert_and_add<SemaphoreSignalParams>(state, {node, graph, dependencies, count}, params);
  });
}
hipError_t hipGraphAddExternalSemaphoresWaitNode(hipGraphNode_t* node, hipGraph_t graph,
                                                 const hipGraphNode_t* dependencies, size_t count,
                                                 const hipExternalSemaphoreWaitNodeParams* params) {
  return call([&](State& state) {
    return convert_and_add<SemaphoreWaitParams>(state, {node, graph, dependencies, count}, params);
  });
}
// The arrays that are returned belong to the node.
hipError_t hipGraphExternalSemaphoresSignalNodeGetParams(hipGraphNode_t node,
                                                         hipExternalSemaphoreSignalNodeParams* params) {
  return get<SemaphoreSignalParams>(node, params);
}
hipError_t hipGraphExternalSemaphoresWaitNodeGetParams(hipGraphNode_t node,
                                                       hipExternalSemaphoreWaitNodeParams* params) {
  return get<SemaphoreWaitParams>(node, params);
}
hipError_t hipGraphExternalSemaphoresSignalNodeSetParams(hipGraphNode_t node,
                                                         const hipExternalSemaphoreSignalNodeParams* params) {
  return call([&](State& state) { return convert_and_set<SemaphoreSignalParams>(state, node, params); });
}
hipError_t hipGraphExternalSemaphoresWaitNodeSetParams(hipGraphNode_t node,
                                                       const hipExternalSemaphoreWaitNodeParams* params) {
  return call([&](State& state) { return convert_and_set<SemaphoreWaitParams>(state, node, params); });
}
hipError_t hipGraphExecExternalSemaphoresSignalNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                                             const hipExternalSemaphoreSignalNodeParams* params) {
  return call([&](State& state) { return convert_and_set<SemaphoreSignalParams>(state, exec, node, params); });
}
hipError_t hipGraphExecExternalSemaphoresWaitNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                                           const hipExternalSemaphoreWaitNodeParams* params) {
  return call([&](State& state) { return convert_and_set<SemaphoreWaitParams>(state, exec, node, params); });
}

HGMODEL_FUNCTIONS_END
