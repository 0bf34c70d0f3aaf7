// hipGraphKernelNodeGetAttribute reports a captured cooperative kernel as an ordinary one.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out) {
  *out = 1;
}

int main() {
  int* memory = device_ints(1);
  hipStream_t stream{};
  MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  void* arguments[] = {&memory};
  MUST(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(store), dim3(1), dim3(64), arguments, 0, stream));
  hipGraph_t graph{};
  MUST(hipStreamEndCapture(stream, &graph));
  hipGraphNode_t node{};
  std::size_t nodes = 1;
  MUST(hipGraphGetNodes(graph, &node, &nodes));
  hipKernelNodeAttrValue value{};
  MUST(hipGraphKernelNodeGetAttribute(node, hipKernelNodeAttributeCooperative, &value));
  check("the cooperative attribute of a kernel that was captured so", 1, value.cooperative);
  return verdict();
}
