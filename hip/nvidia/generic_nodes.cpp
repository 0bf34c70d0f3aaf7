// hipGraphAddNode and the setters for nodes of any type. CUDA's answers.
//
// HIP's union holds the structs of the functions by type. CUDA's union holds newer structs with the same fields and
// more, which are zero here (a copy's or a memset's context: the current one). Kernel nodes name functions of the
// driver, so they go through the driver (kernel_params.h); all other nodes go through the runtime. A type that HIP's
// union has no member for is passed on with zeroed parameters: CUDA refuses it, or takes it (empty nodes have none).
// HIP's types from 12 on are numbers that mean something else to CUDA, so they are refused here.
// Sources: HIP 7.2's header (hipGraphNodeParams); CUDA's documentation of cudaGraphNodeParams and CUgraphNodeParams.
#include <cstring>

#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/nvidia/graph_params.h"
#include "hip/nvidia/kernel_params.h"

namespace nvidia {
namespace {

bool has_parameters_in_hip(hipGraphNodeType type) {
  return type >= hipGraphNodeTypeKernel && type <= hipGraphNodeTypeMemFree;
}

// The driver's parameters of a kernel node.
class KernelNode {
 public:
  explicit KernelNode(const hipGraphNodeParams& from) : kernel_(&from.kernel) {
    std::memset(&params_, 0, sizeof params_);  // CUDA wants unused bytes to be zero
    params_.type = CU_GRAPH_NODE_TYPE_KERNEL;
    // The union's struct is a later version of the same fields.
    static_assert(sizeof params_.kernel == sizeof *kernel_.get());
    std::memcpy(&params_.kernel, kernel_.get(), sizeof params_.kernel);
  }
  [[nodiscard]] CUgraphNodeParams* get() { return &params_; }

 private:
  KernelParams kernel_;
  CUgraphNodeParams params_;
};

// The runtime's parameters of a node of another type. CUDA's struct has no default constructor in C++, so it lives in
// bytes.
class RuntimeNode {
 public:
  explicit RuntimeNode(const hipGraphNodeParams& from) {
    value().type = same_number<cudaGraphNodeType>(from.type);
    fill(from);
  }
  [[nodiscard]] cudaGraphNodeParams* get() { return &value(); }
  [[nodiscard]] cudaGraphNodeParams& value() { return reinterpret_cast<cudaGraphNodeParams&>(bytes_); }

 private:
  void fill(const hipGraphNodeParams& from);
  void fill_memset(const hipMemsetParams& from);
  void fill_semaphores(const hipGraphNodeParams& from);

  alignas(cudaGraphNodeParams) unsigned char bytes_[sizeof(cudaGraphNodeParams)] = {};
};

void RuntimeNode::fill(const hipGraphNodeParams& from) {
  switch (from.type) {
    case hipGraphNodeTypeMemcpy:
      value().memcpy.flags = from.memcpy.flags;
      value().memcpy.copyParams = to_cuda(from.memcpy.copyParams);
      break;
    case hipGraphNodeTypeMemset:
      fill_memset(from.memset);
      break;
    case hipGraphNodeTypeHost:
      value().host.fn = from.host.fn;
      value().host.userData = from.host.userData;
      break;
    case hipGraphNodeTypeGraph:
      value().graph.graph = to_cuda(from.graph.graph);
      break;
    case hipGraphNodeTypeWaitEvent:
      value().eventWait.event = to_cuda(from.eventWait.event);
      break;
    case hipGraphNodeTypeEventRecord:
      value().eventRecord.event = to_cuda(from.eventRecord.event);
      break;
    case hipGraphNodeTypeExtSemaphoreSignal:
    case hipGraphNodeTypeExtSemaphoreWait:
      fill_semaphores(from);
      break;
    case hipGraphNodeTypeMemAlloc:
      value().alloc.poolProps = to_cuda(from.alloc.poolProps);
      value().alloc.accessDescs = to_cuda(from.alloc.accessDescs);
      value().alloc.accessDescCount = from.alloc.accessDescCount;
      value().alloc.bytesize = from.alloc.bytesize;
      value().alloc.dptr = from.alloc.dptr;
      break;
    case hipGraphNodeTypeMemFree:
      value().free.dptr = from.free.dptr;
      break;
    case hipGraphNodeTypeKernel:  // KernelNode's
    case hipGraphNodeTypeEmpty:
    case hipGraphNodeTypeMemcpyFromSymbol:
    case hipGraphNodeTypeMemcpyToSymbol:
    case hipGraphNodeTypeBatchMemOp:
    case hipGraphNodeTypeCount:
      break;
  }
}

void RuntimeNode::fill_memset(const hipMemsetParams& from) {
  value().memset.dst = from.dst;
  value().memset.pitch = from.pitch;
  value().memset.value = from.value;
  value().memset.elementSize = from.elementSize;
  value().memset.width = from.width;
  value().memset.height = from.height;
}

// The runtime's arrays of semaphores are the driver's (CUDA: one handle, one layout).
void RuntimeNode::fill_semaphores(const hipGraphNodeParams& from) {
  if (from.type == hipGraphNodeTypeExtSemaphoreSignal) {
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal = to_cuda(from.extSemSignal);
    value().extSemSignal.extSemArray = reinterpret_cast<cudaExternalSemaphore_t*>(signal.extSemArray);
    value().extSemSignal.paramsArray = reinterpret_cast<const cudaExternalSemaphoreSignalParams*>(signal.paramsArray);
    value().extSemSignal.numExtSems = signal.numExtSems;
  } else {
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS wait = to_cuda(from.extSemWait);
    value().extSemWait.extSemArray = reinterpret_cast<cudaExternalSemaphore_t*>(wait.extSemArray);
    value().extSemWait.paramsArray = reinterpret_cast<const cudaExternalSemaphoreWaitParams*>(wait.paramsArray);
    value().extSemWait.numExtSems = wait.numExtSems;
  }
}

}  // namespace

extern "C" {

// The address that an allocation node gets comes back within the caller's parameters.
hipError_t hipGraphAddNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                           hipGraphNodeParams* params) {
  if (params == nullptr) {
    return answer(
        cuda().cudaGraphAddNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), nullptr, count, nullptr));
  }
  if (!has_parameters_in_hip(params->type)) return refuse(hipErrorInvalidValue);
  if (params->type == hipGraphNodeTypeKernel) {
    KernelNode given(*params);
    return answer(cuda_with_context().cuGraphAddNode_v2(to_cuda(node), to_cuda(graph), to_cuda(dependencies), nullptr,
                                                        count, given.get()));
  }
  RuntimeNode given(*params);
  const hipError_t status = answer(
      cuda().cudaGraphAddNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), nullptr, count, given.get()));
  if (params->type == hipGraphNodeTypeMemAlloc) params->alloc.dptr = given.value().alloc.dptr;
  return status;
}

hipError_t hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams* params) {
  if (params == nullptr) return answer(cuda().cudaGraphNodeSetParams(to_cuda(node), nullptr));
  if (!has_parameters_in_hip(params->type)) return refuse(hipErrorInvalidValue);
  if (params->type == hipGraphNodeTypeKernel) {
    return answer(cuda_with_context().cuGraphNodeSetParams(to_cuda(node), KernelNode(*params).get()));
  }
  return answer(cuda().cudaGraphNodeSetParams(to_cuda(node), RuntimeNode(*params).get()));
}

hipError_t hipGraphExecNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraphNodeParams* params) {
  if (params == nullptr) return answer(cuda().cudaGraphExecNodeSetParams(to_cuda(exec), to_cuda(node), nullptr));
  if (!has_parameters_in_hip(params->type)) return refuse(hipErrorInvalidValue);
  if (params->type == hipGraphNodeTypeKernel) {
    return answer(
        cuda_with_context().cuGraphExecNodeSetParams(to_cuda(exec), to_cuda(node), KernelNode(*params).get()));
  }
  return answer(cuda().cudaGraphExecNodeSetParams(to_cuda(exec), to_cuda(node), RuntimeNode(*params).get()));
}

}  // extern "C"
}  // namespace nvidia
