// NVIDIA refuses hipGraphInstantiate, hipGraphExecDestroy, hipDeviceSetLimit and hipMallocAsync beside a capture.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  cudaStream_t stream = nullptr, other = nullptr;
  cudaGraph_t graph = nullptr, captured = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphExec_t exec = nullptr;
  void* memory = nullptr;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaGraphExec_t second = nullptr;
  check("status of cudaGraphInstantiate", cudaSuccess, cudaGraphInstantiate(&second, graph, 0));
  check("status of cudaStreamEndCapture", cudaSuccess, cudaStreamEndCapture(stream, &captured));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check("status of cudaGraphDestroy", cudaSuccess, cudaGraphDestroy(graph));
  check("status of cudaGraphExecDestroy", cudaSuccess, cudaGraphExecDestroy(exec));
  check("status of cudaStreamEndCapture", cudaSuccess, cudaStreamEndCapture(stream, &captured));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check("status of cudaMallocAsync", cudaSuccess, cudaMallocAsync(&memory, 64, other));
  check("status of cudaStreamEndCapture", cudaSuccess, cudaStreamEndCapture(stream, &captured));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check("status of cudaDeviceSetLimit", cudaSuccess, cudaDeviceSetLimit(cudaLimitStackSize, 2048));
  check("status of cudaStreamEndCapture", cudaSuccess, cudaStreamEndCapture(stream, &captured));
  return verdict();
}
