// A copy from another device's memory to pageable memory returns before its stream has finished.
// The story: finding.toml. Needs two devices.
#include "../check.h"

int main() {
  int* near = nullptr;
  int* far = nullptr;
  MUST(hipSetDevice(1));
  MUST(hipMalloc(reinterpret_cast<void**>(&far), 64));
  MUST(hipMemset(far, 1, 64));
  MUST(hipDeviceSynchronize());
  MUST(hipSetDevice(0));
  MUST(hipMalloc(reinterpret_cast<void**>(&near), 64));
  MUST(hipMemset(near, 1, 64));
  MUST(hipDeviceSynchronize());
  for (const bool other : {false, true}) {
    const char* const whose = other ? "the other device's" : "the stream's device's";
    std::vector<int> host(16);
    MUST(hipMemcpyAsync(host.data(), other ? far : near, 64, hipMemcpyDeviceToHost, nullptr));
    check(std::string("the last element of ") + whose, 0x01010101, host[15]);
    check(std::string("the stream after ") + whose, hipSuccess, hipStreamQuery(nullptr));
    MUST(hipDeviceSynchronize());
  }
  return verdict();
}
