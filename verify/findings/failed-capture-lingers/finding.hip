// After a failed capture has ended, its stream still refuses work and unsafe calls stay forbidden.
// The story: finding.toml.
#include <thread>

#include "../check.h"

template <class Run>
hipStream_t failed_capture(Run on_thread) {
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  on_thread([&] { MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal)); });
  if (hipDeviceSynchronize() != hipErrorStreamCaptureUnsupported) std::exit(2);  // invalidates
  on_thread([&] {
    hipGraph_t graph = nullptr;
    static_cast<void>(hipStreamEndCapture(stream, &graph));
  });
  return stream;
}

int main() {
  void* memory = nullptr;
  MUST(hipMalloc(&memory, 64));
  const hipStream_t own = failed_capture([](auto call) { call(); });
  check("work for the stream", hipSuccess, hipMemsetAsync(memory, 0, 64, own));
  const hipStream_t helped = failed_capture([](auto call) { std::thread(call).join(); });
  check("synchronising with the stream", hipSuccess, hipStreamSynchronize(helped));
  return verdict();
}
