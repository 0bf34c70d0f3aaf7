// A small copy from pinned memory on an idle stream does not wait for host functions of the null stream.
// The story: finding.toml.
#include "../check.cuh"

void CUDART_CB write_late(void* data) {
  usleep(100000);
  *static_cast<volatile char*>(data) = 7;
}

// Returns the byte that a copy on `stream` brings to the device, behind a host function on `before` that writes 7.
int copied_behind(cudaStream_t before, cudaStream_t stream, size_t bytes) {
  char *pinned = nullptr, *memory = nullptr, got = 0;
  MUST(cudaMallocHost(&pinned, bytes));
  MUST(cudaMalloc(&memory, bytes));
  for (size_t i = 0; i < bytes; ++i) pinned[i] = 0;
  MUST(cudaDeviceSynchronize());
  MUST(cudaLaunchHostFunc(before, write_late, pinned));
  MUST(cudaMemcpyAsync(memory, pinned, bytes, cudaMemcpyHostToDevice, stream));
  MUST(cudaDeviceSynchronize());
  MUST(cudaMemcpy(&got, memory, 1, cudaMemcpyDeviceToHost));
  MUST(cudaFree(memory));
  MUST(cudaFreeHost(pinned));
  return got;
}

int main() {
  cudaStream_t stream = nullptr;
  MUST(cudaStreamCreate(&stream));
  check("copied on the host function's own stream", 7, copied_behind(stream, stream, 1));
  check("copied behind the null stream, 64 KiB", 7, copied_behind(nullptr, stream, 65536));
  if (finding_shows) return 2;  // another defect than this one
  check("copied behind the null stream, 1 byte", 7, copied_behind(nullptr, stream, 1));
  check("copied behind the null stream, 24 KiB", 7, copied_behind(nullptr, stream, 24576));
  return verdict();
}
