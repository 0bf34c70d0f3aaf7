// Dependents of a 2D or 3D copy do not wait if its memory is of another device than the launching stream.
// The story: finding.toml. Needs two devices.
#include "../check.h"

constexpr size_t kPitch = 64, kRows = 1 << 16, kInts = kPitch / sizeof(int) * kRows;

__global__ void fill(int* out, size_t count, int value) {
  for (size_t i = 0; i < count; ++i) out[i] = value;
}
__global__ void copy_of(int* out, const int* in) {
  *out = *static_cast<const volatile int*>(in);
}

void copy_rows(int device_of_rows) {
  MUST(hipSetDevice(device_of_rows));
  int* source = device_ints(kInts);
  fill<<<1, 1>>>(source + kInts - 16, 16, 7);
  MUST(hipDeviceSynchronize());
  int *pinned = nullptr, *seen = nullptr;
  MUST(hipHostMalloc(reinterpret_cast<void**>(&pinned), kInts * sizeof(int)));
  MUST(hipHostMalloc(reinterpret_cast<void**>(&seen), sizeof(int)));
  MUST(hipSetDevice(0));
  hipGraph_t graph = new_graph();
  hipMemcpy3DParms rows{};
  rows.srcPtr = make_hipPitchedPtr(source, kPitch, kPitch - 4, kRows);
  rows.dstPtr = make_hipPitchedPtr(pinned, kPitch, kPitch - 4, kRows);
  rows.extent = make_hipExtent(kPitch - 4, kRows, 1);
  rows.kind = hipMemcpyDeviceToHost;
  hipGraphNode_t copy = nullptr;
  MUST(hipGraphAddMemcpyNode(&copy, graph, nullptr, 0, &rows));
  MUST(hipSetDevice(1));
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  kernel_node(graph, {copy}, copy_of, seen, pinned + kInts - 2);
  MUST(hipSetDevice(0));
  hipGraphExec_t exec = instantiate(graph);
  MUST(hipSetDevice(1));
  int early = 0;
  for (int launch = 0; launch < 4; ++launch) {
    pinned[kInts - 2] = *seen = 0;
    MUST(hipGraphLaunch(exec, stream));
    MUST(hipStreamSynchronize(stream));
    early += *seen != 7;
    MUST(hipDeviceSynchronize());
    MUST(hipSetDevice(0));
    MUST(hipDeviceSynchronize());
    MUST(hipSetDevice(1));
  }
  check("launches whose kernel read what was there before the copy", 0, early);
}

int main() {
  in_child("rows of the stream's device", [] { copy_rows(1); });
  in_child("rows of the other device", [] { copy_rows(0); });
  return verdict();
}
