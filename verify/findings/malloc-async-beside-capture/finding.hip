// hipMallocAsync and hipFreeAsync on other streams are refused while a blocking stream captures.
// The story: finding.toml.
#include "../check.h"

void allocate_beside(unsigned flags, const std::string& kind) {
  hipStream_t captures = nullptr, other = nullptr;
  void *before = nullptr, *memory = nullptr;
  hipGraph_t graph = nullptr;
  MUST(hipStreamCreateWithFlags(&captures, flags));
  MUST(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
  MUST(hipMallocAsync(&before, 64, other));
  MUST(hipStreamSynchronize(other));
  MUST(hipStreamBeginCapture(captures, hipStreamCaptureModeRelaxed));
  check("hipMallocAsync beside a " + kind + " capture", hipSuccess, hipMallocAsync(&memory, 64, other));
  check("hipFreeAsync beside a " + kind + " capture", hipSuccess, hipFreeAsync(before, other));
  check("the end of the capture", hipSuccess, hipStreamEndCapture(captures, &graph));
}

int main() {
  allocate_beside(hipStreamNonBlocking, "non-blocking");
  allocate_beside(hipStreamDefault, "blocking");
  return verdict();
}
