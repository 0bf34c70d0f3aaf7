// A kernel node that became cooperative cannot be updated on NVIDIA.
// The story: finding.toml.
#include "../check.cuh"

__global__ void nothing() {}

int main() {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(nothing);
  params.gridDim = params.blockDim = dim3(1, 1, 1);
  void* none[1] = {};
  params.kernelParams = none;
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  cudaKernelNodeAttrValue value{};
  value.cooperative = 1;
  MUST(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value));
  cudaGraphExecUpdateResultInfo info{};
  check("status of cudaGraphExecUpdate", cudaSuccess, cudaGraphExecUpdate(exec, graph, &info));
  return verdict();
}
