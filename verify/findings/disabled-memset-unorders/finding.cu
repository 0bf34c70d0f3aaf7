// A disabled memset node does not order its dependents or the launch's end behind its dependencies on NVIDIA.
// The story: finding.toml.
#include "../check.cuh"

__global__ void late(unsigned char* place) {
  const long long begin = clock64();
  while (clock64() - begin < 5000000) {}
  *place = 1;
}

int main() {
  unsigned char *place = nullptr, found = 9;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t kernel = nullptr, disabled = nullptr;
  cudaGraphExec_t exec = nullptr;
  MUST(cudaMalloc(&place, 64));
  MUST(cudaMemset(place, 0, 64));
  MUST(cudaGraphCreate(&graph, 0));
  void* arguments[] = {&place};
  cudaKernelNodeParams work{};
  work.func = reinterpret_cast<void*>(late);
  work.gridDim = work.blockDim = dim3(1);
  work.kernelParams = arguments;
  cudaMemsetParams clear{};
  clear.dst = place;
  clear.elementSize = clear.width = clear.height = 1;
  MUST(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &work));
  MUST(cudaGraphAddMemsetNode(&disabled, graph, &kernel, 1, &clear));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  MUST(cudaGraphNodeSetEnabled(exec, disabled, 0));
  MUST(cudaGraphLaunch(exec, nullptr));
  MUST(cudaDeviceSynchronize());
  MUST(cudaMemcpy(&found, place, 1, cudaMemcpyDeviceToHost));
  check("byte after the kernel", 1, found);
  return verdict();
}
