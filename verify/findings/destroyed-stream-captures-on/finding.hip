// A thread may not wait for its streams after another thread destroyed the stream that it captured.
// The story: finding.toml.
#include <thread>

#include "../check.h"

int main() {
  hipStream_t captures = nullptr, other = nullptr;
  MUST(hipStreamCreate(&captures));
  MUST(hipStreamBeginCapture(captures, hipStreamCaptureModeThreadLocal));
  std::thread([&] { MUST(hipStreamDestroy(captures)); }).join();
  MUST(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
  check("waiting for another stream", hipSuccess, hipStreamSynchronize(other));
  return verdict();
}
