// hipMemcpy and hipMemset are refused beside the capture of a stream that the null stream does not wait for.
// The story: finding.toml.
#include "../check.h"

int main() {
  int* memory = device_ints(1);
  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;
  MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  check("asynchronous work of the null stream", hipSuccess, hipMemsetAsync(memory, 1, sizeof(int), nullptr));
  check("hipMemset", hipSuccess, hipMemset(memory, 1, sizeof(int)));
  check("the end of the capture", hipSuccess, hipStreamEndCapture(stream, &graph));
  return verdict();
}
