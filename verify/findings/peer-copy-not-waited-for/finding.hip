// Work of the current device does not wait for a hipMemcpyPeer within another device's memory.
// The story: finding.toml. Needs two devices.
#include "../check.h"

constexpr size_t kInts = 1 << 18;

__global__ void fill(int* out, size_t count, int value) {
  for (size_t i = 0; i < count; ++i) out[i] = value;
}

void copy_to(int device) {
  MUST(hipSetDevice(1));
  int* source = device_ints(kInts);
  MUST(hipSetDevice(device));
  int* target = device_ints(kInts);
  for (int each = 0; each < 2; ++each) {
    MUST(hipSetDevice(each));
    MUST(hipDeviceEnablePeerAccess(1 - each, 0));
  }
  MUST(hipSetDevice(0));
  int wrong = 0;
  for (int turn = 0; turn < 4; ++turn) {
    fill<<<1, 1>>>(source + kInts - 4, 4, 7);
    MUST(hipDeviceSynchronize());
    MUST(hipMemcpyPeer(target, device, source, 1, kInts * sizeof(int)));
    fill<<<1, 1>>>(source + kInts - 4, 4, 9);
    for (int each = 0; each < 2; ++each) {
      MUST(hipSetDevice(1 - each));
      MUST(hipDeviceSynchronize());
    }
    wrong += read_int(target + kInts - 1) != 7;
  }
  check("copies that have what was written behind them", 0, wrong);
}

int main() {
  in_child("from device 1 to device 0", [] { copy_to(0); });
  in_child("within device 1", [] { copy_to(1); });
  return verdict();
}
