// A memset node does not truncate its value to the element size.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  constexpr unsigned kBytes = 64, kValue = 0xdae6, kByte = kValue & 0xff;
  unsigned char* memory = nullptr;
  unsigned char got[kBytes] = {};
  MUST(cudaMalloc(&memory, kBytes));
  MUST(cudaMemset(memory, 0, kBytes));
  cudaMemsetParams params{};
  params.dst = memory;
  params.value = kValue;
  params.elementSize = 1;
  params.width = kBytes;
  params.height = 1;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t node = nullptr;
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  MUST(cudaGraphLaunch(exec, nullptr));
  MUST(cudaDeviceSynchronize());
  MUST(cudaMemcpy(got, memory, kBytes, cudaMemcpyDeviceToHost));
  unsigned wrong = 0;
  for (const unsigned char byte : got) wrong += byte != kByte ? 1 : 0;
  check("bytes that are not the value's low byte", 0, wrong);
  return verdict();
}
