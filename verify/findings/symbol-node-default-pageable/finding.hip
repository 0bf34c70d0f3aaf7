// A node that copies between a symbol and pageable memory by hipMemcpyDefault crashes.
// The story: finding.toml.
#include "../check.h"

__device__ unsigned char variable[64];

void copy(hipMemcpyKind kind) {
  unsigned char in[64], out[64] = {};
  for (int i = 0; i < 64; ++i) in[i] = static_cast<unsigned char>(i + 1);
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  hipGraphNode_t node = nullptr;
  MUST(hipGraphCreate(&graph, 0));
  MUST(hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, HIP_SYMBOL(variable), in, sizeof(in), 0, kind));
  MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  MUST(hipGraphLaunch(exec, nullptr));
  MUST(hipDeviceSynchronize());
  MUST(hipMemcpyFromSymbol(out, HIP_SYMBOL(variable), sizeof(out), 0, hipMemcpyDeviceToHost));
  check("the last byte", in[63], out[63]);
}

int main() {
  in_child("a copy with its direction named", [] { copy(hipMemcpyHostToDevice); });
  in_child("the same copy by hipMemcpyDefault", [] { copy(hipMemcpyDefault); });
  return verdict();
}
