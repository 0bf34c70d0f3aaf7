// External semaphores in graphs: only the documented errors. The model cannot import a semaphore (it does not have
// hipImportExternalSemaphore), so there are no such nodes. Adding one with correct arguments is hipErrorNotSupported;
// a node given to a getter or setter has another type. Source: HIP's header documentation.
#include "model/abi/context.h"

namespace model::abi {
namespace {

template <class Params>
Status add(State& state, const hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
           std::size_t count, const Params* params) {
  if (node == nullptr || find(state, graph) == nullptr || params == nullptr) return Status::kInvalidValue;
  if (count > 0 && dependencies == nullptr) return Status::kInvalidValue;
  return Status::kNotSupported;
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipGraphAddExternalSemaphoresSignalNode(hipGraphNode_t* node, hipGraph_t graph,
                                                   const hipGraphNode_t* dependencies, size_t count,
                                                   const hipExternalSemaphoreSignalNodeParams* params) {
  return call([&](State& state) { return add(state, node, graph, dependencies, count, params); });
}
hipError_t hipGraphAddExternalSemaphoresWaitNode(hipGraphNode_t* node, hipGraph_t graph,
                                                 const hipGraphNode_t* dependencies, size_t count,
                                                 const hipExternalSemaphoreWaitNodeParams* params) {
  return call([&](State& state) { return add(state, node, graph, dependencies, count, params); });
}
hipError_t hipGraphExternalSemaphoresSignalNodeGetParams(hipGraphNode_t, hipExternalSemaphoreSignalNodeParams*) {
  return call([](State&) { return Status::kInvalidValue; });
}
hipError_t hipGraphExternalSemaphoresWaitNodeGetParams(hipGraphNode_t, hipExternalSemaphoreWaitNodeParams*) {
  return call([](State&) { return Status::kInvalidValue; });
}
hipError_t hipGraphExternalSemaphoresSignalNodeSetParams(hipGraphNode_t, const hipExternalSemaphoreSignalNodeParams*) {
  return call([](State&) { return Status::kInvalidValue; });
}
hipError_t hipGraphExternalSemaphoresWaitNodeSetParams(hipGraphNode_t, const hipExternalSemaphoreWaitNodeParams*) {
  return call([](State&) { return Status::kInvalidValue; });
}
hipError_t hipGraphExecExternalSemaphoresSignalNodeSetParams(hipGraphExec_t, hipGraphNode_t,
                                                             const hipExternalSemaphoreSignalNodeParams*) {
  return call([](State&) { return Status::kInvalidValue; });
}
hipError_t hipGraphExecExternalSemaphoresWaitNodeSetParams(hipGraphExec_t, hipGraphNode_t,
                                                           const hipExternalSemaphoreWaitNodeParams*) {
  return call([](State&) { return Status::kInvalidValue; });
}

HGMODEL_FUNCTIONS_END
