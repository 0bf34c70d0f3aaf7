// hipMemcpy on the default stream crashes while another thread destroys its own stream.
// The story: finding.toml.
#include <atomic>
#include <thread>

#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

void use_streams(int count) {
  int* memory = device_ints(1);
  for (int i = 0; i < count; i++) {
    hipStream_t stream = nullptr;
    MUST(hipStreamCreate(&stream));
    store<<<1, 1, 0, stream>>>(memory, i);
    MUST(hipStreamDestroy(stream));
  }
}

int main() {
  in_child("streams that come and go in the thread that copies", [] {
    int* memory = device_ints(1);
    for (int i = 0; i < 100; i++) {
      use_streams(1);
      MUST(hipMemcpy(memory, &i, sizeof i, hipMemcpyHostToDevice));
    }
  });
  in_child("streams that come and go while another thread copies", [] {
    std::atomic<bool> over{false};
    int* memory = device_ints(1);
    std::thread copies([&] {
      for (int i = 0; !over; i++) MUST(hipMemcpy(memory, &i, sizeof i, hipMemcpyHostToDevice));
    });
    use_streams(8000);
    over = true;
    copies.join();
  });
  return verdict();
}
