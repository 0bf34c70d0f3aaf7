// A write of a value in a capturing stream runs at once and is not captured.
// The story: finding.toml.
#include "../check.h"

int main() {
  int* memory = device_ints(1);
  hipStream_t stream = nullptr;
  MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  const hipError_t status = hipStreamWriteValue32(stream, memory, 5, 0);
  hipGraph_t graph = nullptr;
  const hipError_t ended = hipStreamEndCapture(stream, &graph);
  MUST(hipDeviceSynchronize());
  check("written by the capture", 0, read_int(memory));
  if (status == hipSuccess && ended == hipSuccess) {
    size_t nodes = 0;
    MUST(hipGraphGetNodes(graph, nullptr, &nodes));
    check("captured nodes", 1, static_cast<long long>(nodes));
  }
  return verdict();
}
