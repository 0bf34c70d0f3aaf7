// A kernel node with its arguments in one buffer cannot become cooperative on NVIDIA.
// The story: finding.toml. Build with -lcuda.
#include <cuda.h>

#include "../check.cuh"

__global__ void one(int* place) {
  if (place != nullptr) *place = 1;
}

int main() {
  cudaGraph_t graph = nullptr;
  cudaFunction_t function = nullptr;
  CUgraphNode node = nullptr;
  MUST(cudaFree(nullptr));
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(one)));
  size_t size = sizeof(int*);
  char buffer[8] = {};
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = function;
  params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.extra = extra;
  check("status of cuGraphAddKernelNode", CUDA_SUCCESS, cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  CUkernelNodeAttrValue value{};
  value.cooperative = 1;
  check("status of cuGraphKernelNodeSetAttribute", CUDA_SUCCESS,
        cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  return verdict();
}
