// hipStreamCreate on a device without free memory crashes.
// The story: finding.toml.
#include "../full_device.h"

int main() {
  in_child("a stream of a full device", [] {
    take_all_memory();
    hipStream_t stream = nullptr;
    const hipError_t created = hipStreamCreate(&stream);
    if (created != hipSuccess) check("hipStreamCreate", hipErrorOutOfMemory, created);
  });
  in_child("the null stream of a full device", [] {
    take_all_memory();
    const hipError_t asked = hipStreamQuery(nullptr);
    if (asked != hipSuccess) check("hipStreamQuery", hipErrorOutOfMemory, asked);
  });
  return verdict();
}
