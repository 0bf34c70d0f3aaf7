// An ordinary HIP program that knows nothing of hgcheck: says what the runtime thinks of this machine, and doubles
// numbers where there is a GPU. Ends with 0 when the runtime has no device, or when the numbers are right.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <numeric>
#include <vector>

__global__ void twice(int* numbers) {
  numbers[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

int main() {
  int devices = 0;
  const hipError_t status = hipGetDeviceCount(&devices);
  std::printf("%s\n", hipGetErrorName(status));
  if (status != hipSuccess) return status == hipErrorNoDevice ? 0 : 1;
  std::vector<int> numbers(256);
  std::iota(numbers.begin(), numbers.end(), 0);
  const size_t bytes = numbers.size() * sizeof(int);
  int* device = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&device), bytes) != hipSuccess) return 1;
  if (hipMemcpy(device, numbers.data(), bytes, hipMemcpyHostToDevice) != hipSuccess) return 1;
  twice<<<4, 64>>>(device);
  if (hipMemcpy(numbers.data(), device, bytes, hipMemcpyDeviceToHost) != hipSuccess) return 1;
  for (int i = 0; i < 256; ++i) {
    if (numbers[i] != 2 * i) return 1;
  }
  return hipFree(device) == hipSuccess ? 0 : 1;
}
