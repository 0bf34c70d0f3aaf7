// An event that two streams of a capture have recorded is used after it was destroyed.
// The story: finding.toml.
#include "../check.h"

void destroy_behind(bool twice, bool joined) {
  hipStream_t origin = nullptr, side = nullptr;
  hipEvent_t event = nullptr;
  hipGraph_t graph = nullptr;
  int* memory = device_ints(1);
  MUST(hipStreamCreate(&origin));
  MUST(hipStreamCreate(&side));
  MUST(hipEventCreate(&event));
  MUST(hipStreamBeginCapture(origin, hipStreamCaptureModeGlobal));
  MUST(hipEventRecord(event, origin));
  MUST(hipStreamWaitEvent(side, event, 0));
  if (twice) MUST(hipEventRecord(event, side));
  MUST(hipMemsetAsync(memory, 1, sizeof(int), side));
  if (joined) {
    MUST(hipEventRecord(event, side));
    MUST(hipStreamWaitEvent(origin, event, 0));
  }
  check("the end of the capture", joined ? hipSuccess : hipErrorStreamCaptureUnjoined,
        hipStreamEndCapture(origin, &graph));
  MUST(hipEventDestroy(event));
  std::vector<std::string> taken;  // one of them gets the event's memory, whatever its size is
  for (std::size_t size = 32; size < 1024; size += 8) taken.push_back(std::string(size, 'x'));
  check("destroying the side stream", hipSuccess, hipStreamDestroy(side));
  check("destroying the origin", hipSuccess, hipStreamDestroy(origin));
  std::size_t changed = 0;
  for (const std::string& text : taken) changed += text.find_first_not_of('x') != std::string::npos;
  check("strings of somebody else's that changed", 0, static_cast<long long>(changed));
}

int main() {
  in_child("recorded once, and joined", [] { destroy_behind(false, true); });
  in_child("recorded once", [] { destroy_behind(false, false); });
  in_child("recorded on both streams", [] { destroy_behind(true, false); });
  in_child("recorded on both streams, and joined", [] { destroy_behind(true, true); });
  return verdict();
}
