// A kernel that was captured as a cooperative launch is told as an ordinary one.
//
// Documentation: hip_runtime_api.h, hipGraphKernelNodeGetAttribute: "Gets a node's attribute";
// hipLaunchCooperativeKernel launches "a kernel ... as a cooperative kernel", and a capture keeps what was launched.
// What happens: the captured node's attribute hipKernelNodeAttributeCooperative reads 0. (6.4 does not capture
// the launch: it answers hipSuccess and the graph has no nodes.)
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
