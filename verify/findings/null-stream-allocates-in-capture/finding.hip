// hipMallocAsync and hipFreeAsync on the null stream crash while a blocking stream captures.
// The story: finding.toml.
#include "../check.h"

template <class Call>
void beside_a_capture(const std::string& what, Call call) {
  in_child(what, [&] {
    void* memory = nullptr;
    hipStream_t stream = nullptr;
    MUST(hipMallocAsync(&memory, 64, nullptr));
    MUST(hipStreamSynchronize(nullptr));
    MUST(hipStreamCreate(&stream));
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    check(what, hipErrorStreamCaptureImplicit, call(&memory));
  });
}

int main() {
  beside_a_capture("hipMallocAsync on the null stream",
                   [](void** memory) { return hipMallocAsync(memory, 64, nullptr); });
  beside_a_capture("hipFreeAsync on the null stream", [](void** memory) { return hipFreeAsync(*memory, nullptr); });
  beside_a_capture("hipMallocFromPoolAsync on the null stream", [](void** memory) {
    hipMemPool_t pool = nullptr;
    MUST(hipDeviceGetDefaultMemPool(&pool, 0));
    return hipMallocFromPoolAsync(memory, 64, pool, nullptr);
  });
  return verdict();
}
