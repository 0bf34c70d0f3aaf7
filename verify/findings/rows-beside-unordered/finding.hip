// Dependents of a 2D or 3D copy do not wait for it if it was added with another device current.
// The story: finding.toml. Needs two devices.
#include "../check.h"

__global__ void copy_of(int* out, const int* in) {
  *out = *in;
}

void copy_rows(int current_for_copy, bool beside) {
  MUST(hipSetDevice(1));
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  int* target = device_ints(16);
  int* seen = device_ints(16);
  int* source = nullptr;
  MUST(hipHostMalloc(reinterpret_cast<void**>(&source), 64));
  for (int i = 0; i < 16; ++i) source[i] = 7;
  hipGraph_t graph = new_graph();
  if (beside) kernel_node(graph, {}, copy_of, seen + 8, seen + 9);
  hipMemcpy3DParms rows{};
  rows.srcPtr = make_hipPitchedPtr(source, 8, 4, 4);
  rows.dstPtr = make_hipPitchedPtr(target, 8, 4, 4);
  rows.extent = make_hipExtent(4, 4, 1);
  rows.kind = hipMemcpyHostToDevice;
  hipGraphNode_t copy = nullptr;
  MUST(hipSetDevice(current_for_copy));
  MUST(hipGraphAddMemcpyNode(&copy, graph, nullptr, 0, &rows));
  MUST(hipSetDevice(1));
  kernel_node(graph, {copy}, copy_of, seen, target + 6);
  hipGraphExec_t exec = instantiate(graph);
  MUST(hipGraphLaunch(exec, stream));
  MUST(hipStreamSynchronize(stream));
  check("what the kernel behind the copy read", 7, read_int(seen));
}

int main() {
  in_child("two branches, the copy of device 1", [] { copy_rows(1, true); });
  in_child("one branch, the copy of device 0", [] { copy_rows(0, false); });
  in_child("two branches, the copy of device 0", [] { copy_rows(0, true); });
  return verdict();
}
