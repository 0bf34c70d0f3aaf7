// hipMemcpyAsync from pageable memory is not performed synchronously.
// The story: finding.toml.
#include "../check.h"

__global__ void spin(int* out, int turns) {
  int x = 0;
  for (int i = 0; i < turns; ++i) x = x * 3 + out[1];
  out[0] = x;
}

int main() {
  std::vector<int> host(1024, 5);
  int *memory = device_ints(1024), *out = device_ints(2);
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  const auto copy = [&](const char* what, void* to, const void* from) {
    spin<<<1, 1, 0, stream>>>(out, 200000);
    MUST(hipMemcpyAsync(to, from, 4096, hipMemcpyDefault, stream));
    check(what, hipSuccess, hipStreamQuery(stream));
    MUST(hipStreamSynchronize(stream));
  };
  copy("the stream behind a copy to pageable memory", host.data(), memory);
  copy("the stream behind a copy from pageable memory", memory, host.data());
  return verdict();
}
