// On NVIDIA, hipFree of memory from hipMallocAsync does not wait for the work that uses it.
// The story: finding.toml.
#include "../check.cuh"

__global__ void write_late(int* to, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  *to = 7;
}

void free_below_a_kernel(const char* what, cudaStream_t stream, int* memory) {
  write_late<<<1, 1, 0, stream>>>(memory, 100000000);
  MUST(cudaFree(memory));
  check(what, cudaSuccess, cudaStreamQuery(stream));
  static_cast<void>(cudaStreamSynchronize(stream));  // an illegal access, where the memory is unmapped
}

int main() {
  cudaStream_t stream = nullptr;
  int* memory = nullptr;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaMalloc(&memory, 64));
  free_below_a_kernel("the stream behind cudaFree of cudaMalloc's memory", stream, memory);
  MUST(cudaMallocAsync(&memory, 64, stream));
  free_below_a_kernel("the stream behind cudaFree of cudaMallocAsync's memory", stream, memory);
  return verdict();
}
