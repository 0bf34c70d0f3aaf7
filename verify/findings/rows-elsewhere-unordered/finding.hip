// What waits for a copy of rows runs before the copy is made, when the copy's memory is another device's than the
// stream that launches the graph. Needs two devices.
//
// Documentation: HIP, "HIP graphs": a launch executes the operations "while respecting their dependencies"; hipMemcpy3D
// names no device, and hipGraphLaunch takes any stream. What happens: a graph copies rows of device 0 to pinned memory,
// and a kernel of device 1, whose stream launches it, is to wait for them: it reads what was there before. Of rows of
// device 1 it waits.
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
