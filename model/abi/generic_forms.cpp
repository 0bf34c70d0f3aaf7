// The functions that take the parameters of any node as one union, and the instantiation that reports its result.
// Sources: HIP's header documentation; catch/unit/graph: hipGraphAddNode.cc, hipGraphNodeSetParams.cc,
// hipGraphInstantiateWithParams.cc.
#include <algorithm>

#include "model/abi/context.h"

// The function of that name, which handles one type of node.
#ifdef HGMODEL_SHARED
#define PLAIN(name) name
#else
#define PLAIN(name) InProcess::api().name
#endif

namespace model::abi {
namespace {

// The union's `memcpy` holds flags and the parameters of hipGraphAddMemcpyNode.
const hipMemcpy3DParms* copy_of(const hipGraphNodeParams& params) {
  return &params.memcpy.copyParams;
}

bool has_reserved(const hipGraphNodeParams& params) {
  return params.reserved0[0] != 0 || params.reserved0[1] != 0 || params.reserved0[2] != 0 || params.reserved2 != 0;
}

bool is_cyclic(const Graph& graph) {
  if (!graph.acyclic()) return true;
  return std::ranges::any_of(graph.nodes(),
                             [](const auto& node) { return node->child() != nullptr && is_cyclic(*node->child()); });
}

// Returns an error of these functions themselves. Like any other error it becomes the thread's last error.
hipError_t refused(Status status) {
  return call([&](State&) { return status; });
}

bool is_cyclic(hipGraph_t handle) {
  const Entry entry;
  const Graph* graph = entry.state() == nullptr ? nullptr : find(*entry.state(), handle);
  return graph != nullptr && is_cyclic(*graph);
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipGraphAddNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                           hipGraphNodeParams* params) {
  if (params == nullptr || has_reserved(*params)) return refused(Status::kInvalidValue);
  switch (params->type) {
    case hipGraphNodeTypeKernel:
      return PLAIN(hipGraphAddKernelNode)(node, graph, dependencies, count, &params->kernel);
    case hipGraphNodeTypeMemcpy:
      return PLAIN(hipGraphAddMemcpyNode)(node, graph, dependencies, count, copy_of(*params));
    case hipGraphNodeTypeMemset:
      return PLAIN(hipGraphAddMemsetNode)(node, graph, dependencies, count, &params->memset);
    case hipGraphNodeTypeHost:
      return PLAIN(hipGraphAddHostNode)(node, graph, dependencies, count, &params->host);
    case hipGraphNodeTypeGraph:
      return PLAIN(hipGraphAddChildGraphNode)(node, graph, dependencies, count, params->graph.graph);
    case hipGraphNodeTypeEmpty:
      return PLAIN(hipGraphAddEmptyNode)(node, graph, dependencies, count);
    case hipGraphNodeTypeEventRecord:
      return PLAIN(hipGraphAddEventRecordNode)(node, graph, dependencies, count, params->eventRecord.event);
    case hipGraphNodeTypeWaitEvent:
      return PLAIN(hipGraphAddEventWaitNode)(node, graph, dependencies, count, params->eventWait.event);
    case hipGraphNodeTypeMemAlloc:
      return PLAIN(hipGraphAddMemAllocNode)(node, graph, dependencies, count, &params->alloc);
    case hipGraphNodeTypeMemFree:
      return PLAIN(hipGraphAddMemFreeNode)(node, graph, dependencies, count, params->free.dptr);
    case hipGraphNodeTypeExtSemaphoreSignal:
      return PLAIN(hipGraphAddExternalSemaphoresSignalNode)(node, graph, dependencies, count, &params->extSemSignal);
    case hipGraphNodeTypeExtSemaphoreWait:
      return PLAIN(hipGraphAddExternalSemaphoresWaitNode)(node, graph, dependencies, count, &params->extSemWait);
    default:
      return refused(Status::kInvalidValue);  // hipGraphAddNode.cc: "params type is invalid"
  }
}

hipError_t hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams* params) {
  if (params == nullptr || has_reserved(*params)) return refused(Status::kInvalidValue);
  switch (params->type) {
    case hipGraphNodeTypeKernel:
      return PLAIN(hipGraphKernelNodeSetParams)(node, &params->kernel);
    case hipGraphNodeTypeMemcpy:
      return PLAIN(hipGraphMemcpyNodeSetParams)(node, copy_of(*params));
    case hipGraphNodeTypeMemset:
      return PLAIN(hipGraphMemsetNodeSetParams)(node, &params->memset);
    case hipGraphNodeTypeHost:
      return PLAIN(hipGraphHostNodeSetParams)(node, &params->host);
    case hipGraphNodeTypeEventRecord:
      return PLAIN(hipGraphEventRecordNodeSetEvent)(node, params->eventRecord.event);
    case hipGraphNodeTypeWaitEvent:
      return PLAIN(hipGraphEventWaitNodeSetEvent)(node, params->eventWait.event);
    case hipGraphNodeTypeExtSemaphoreSignal:
      return PLAIN(hipGraphExternalSemaphoresSignalNodeSetParams)(node, &params->extSemSignal);
    case hipGraphNodeTypeExtSemaphoreWait:
      return PLAIN(hipGraphExternalSemaphoresWaitNodeSetParams)(node, &params->extSemWait);
    default:
      return refused(Status::kNotSupported);
  }
}

hipError_t hipGraphExecNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraphNodeParams* params) {
  if (params == nullptr || has_reserved(*params)) return refused(Status::kInvalidValue);
  switch (params->type) {
    case hipGraphNodeTypeKernel:
      return PLAIN(hipGraphExecKernelNodeSetParams)(exec, node, &params->kernel);
    case hipGraphNodeTypeMemcpy:
      return PLAIN(hipGraphExecMemcpyNodeSetParams)(exec, node, &params->memcpy.copyParams);
    case hipGraphNodeTypeMemset:
      return PLAIN(hipGraphExecMemsetNodeSetParams)(exec, node, &params->memset);
    case hipGraphNodeTypeHost:
      return PLAIN(hipGraphExecHostNodeSetParams)(exec, node, &params->host);
    case hipGraphNodeTypeGraph:
      return PLAIN(hipGraphExecChildGraphNodeSetParams)(exec, node, params->graph.graph);
    case hipGraphNodeTypeEventRecord:
      return PLAIN(hipGraphExecEventRecordNodeSetEvent)(exec, node, params->eventRecord.event);
    case hipGraphNodeTypeWaitEvent:
      return PLAIN(hipGraphExecEventWaitNodeSetEvent)(exec, node, params->eventWait.event);
    case hipGraphNodeTypeExtSemaphoreSignal:
      return PLAIN(hipGraphExecExternalSemaphoresSignalNodeSetParams)(exec, node, &params->extSemSignal);
    case hipGraphNodeTypeExtSemaphoreWait:
      return PLAIN(hipGraphExecExternalSemaphoresWaitNodeSetParams)(exec, node, &params->extSemWait);
    default:
      return refused(Status::kNotSupported);
  }
}

hipError_t hipGraphInstantiateWithParams(hipGraphExec_t* exec, hipGraph_t graph, hipGraphInstantiateParams* params) {
  if (params == nullptr) return refused(Status::kInvalidValue);
  const hipError_t status = PLAIN(hipGraphInstantiateWithFlags)(exec, graph, params->flags);
  params->errNode_out = nullptr;
  params->result_out = status == hipSuccess ? hipGraphInstantiateSuccess
                       : is_cyclic(graph)   ? hipGraphInstantiateInvalidStructure
                                            : hipGraphInstantiateError;
  return status;
}

HGMODEL_FUNCTIONS_END
