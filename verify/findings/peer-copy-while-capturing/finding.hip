// hipMemcpyPeerAsync into a stream that is being captured copies at once and is not captured.
// The story: finding.toml.
#include "../check.h"

int main() {
  int* from = device_ints(1);
  int* to = device_ints(1);
  const int seven = 7;
  MUST(hipMemcpy(from, &seven, sizeof seven, hipMemcpyHostToDevice));
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  hipGraph_t captured = nullptr;
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  const hipError_t copied = hipMemcpyPeerAsync(to, 0, from, 0, sizeof(int), stream);
  const hipError_t ended = hipStreamEndCapture(stream, &captured);
  MUST(hipDeviceSynchronize());
  check("what is there after the capture", 0, read_int(to));
  if (copied != hipSuccess || ended != hipSuccess) return verdict();  // a refusal is no silent loss
  size_t nodes = 0;
  MUST(hipGraphGetNodes(captured, nullptr, &nodes));
  check("nodes of the captured graph", 1, static_cast<long long>(nodes));
  return verdict();
}
