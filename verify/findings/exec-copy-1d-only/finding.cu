// 2D and 3D copies of an executable graph cannot be set or updated on NVIDIA.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  constexpr size_t kPitch = 16, kWidth = 8, kRows = 2;
  char *from = nullptr, *to = nullptr;
  MUST(cudaMalloc(&from, kPitch * kRows));
  MUST(cudaMalloc(&to, kPitch * kRows));
  cudaMemcpy3DParms params{};
  params.srcPtr = make_cudaPitchedPtr(from, kPitch, kWidth, kRows);
  params.dstPtr = make_cudaPitchedPtr(to, kPitch, kWidth, kRows);
  params.extent = make_cudaExtent(kWidth, kRows, 1);
  params.kind = cudaMemcpyDeviceToDevice;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t node = nullptr;
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  check("setting a copy of rows, by HIP's documentation", cudaSuccess,
        cudaGraphExecMemcpyNodeSetParams(exec, node, &params));
  return verdict();
}
