// hipStreamGetCaptureInfo fails for the null stream of one device while another device's stream captures.
// The story: finding.toml. Needs two devices.
#include "../check.h"

int main() {
  hipStream_t second = nullptr;
  int* memory = device_ints(16);
  MUST(hipSetDevice(1));
  MUST(hipStreamCreate(&second));
  MUST(hipStreamBeginCapture(second, hipStreamCaptureModeGlobal));
  MUST(hipSetDevice(0));
  check("work on the null stream of device 0", hipSuccess, hipMemsetAsync(memory, 0, 4, nullptr));
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  check("whether it captures", hipSuccess, hipStreamGetCaptureInfo(nullptr, &status, nullptr));
  hipGraph_t graph = nullptr;
  check("the end of the capture", hipSuccess, hipStreamEndCapture(second, &graph));
  return verdict();
}
