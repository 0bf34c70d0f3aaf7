// A copy node from pageable memory reads its source when hipGraphLaunch is called.
// The story: finding.toml.
#include "../check.cuh"

struct Write {
  int* where;
  int number;
};
void CUDART_CB write_late(void* data) {
  const auto* write = static_cast<const Write*>(data);
  usleep(100000);
  *static_cast<volatile int*>(write->where) = write->number;
}

// What a copy behind a host node that writes 7 to `source` brings to the device.
int copied_behind_host_node(int* source) {
  Write write{source, 7};
  cudaHostNodeParams params{};
  params.fn = write_late;
  params.userData = &write;
  *source = 0;
  int* memory = nullptr;
  MUST(cudaMalloc(&memory, sizeof(int)));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t host = nullptr, copy = nullptr;
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphAddHostNode(&host, graph, nullptr, 0, &params));
  MUST(cudaGraphAddMemcpyNode1D(&copy, graph, &host, 1, memory, source, sizeof(int), cudaMemcpyHostToDevice));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  MUST(cudaGraphLaunch(exec, nullptr));
  MUST(cudaDeviceSynchronize());
  int got = 0;
  MUST(cudaMemcpy(&got, memory, sizeof got, cudaMemcpyDeviceToHost));
  MUST(cudaGraphExecDestroy(exec));
  MUST(cudaGraphDestroy(graph));
  MUST(cudaFree(memory));
  return got;
}

int main() {
  int pageable = 0, *pinned = nullptr;
  MUST(cudaMallocHost(&pinned, sizeof(int)));
  check("copied from pinned memory behind a host node", 7, copied_behind_host_node(pinned));
  if (finding_shows) return 2;  // another defect than this one
  check("copied from pageable memory behind a host node", 7, copied_behind_host_node(&pageable));
  return verdict();
}
