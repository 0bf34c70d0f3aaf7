// A program that maps memory: the same bytes under two addresses, one access over two mappings, a graph whose memory is
// mapped anew between launches. It says 'all right' on any HIP runtime, and names the first line that is not.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(what)                                                                    \
  do {                                                                                 \
    if (!(what)) std::printf("WRONG in line %d: %s\n", __LINE__, #what), std::exit(1); \
  } while (0)
#define HIP(call) CHECK((call) == hipSuccess)

namespace {

__global__ void add(unsigned* out, const unsigned* in, unsigned amount) {
  *out = *in + amount;
}

unsigned word(const void* at) {
  unsigned value = 0;
  HIP(hipMemcpy(&value, at, sizeof value, hipMemcpyDeviceToHost));
  return value;
}

std::size_t granularity() {
  hipMemAllocationProp prop{};
  prop.type = hipMemAllocationTypePinned;
  prop.location = {hipMemLocationTypeDevice, 0};
  std::size_t bytes = 0;
  HIP(hipMemGetAllocationGranularity(&bytes, &prop, hipMemAllocationGranularityMinimum));
  CHECK(bytes > 0);
  return bytes;
}

hipMemGenericAllocationHandle_t create(std::size_t bytes) {
  hipMemAllocationProp prop{};
  prop.type = hipMemAllocationTypePinned;
  prop.location = {hipMemLocationTypeDevice, 0};
  hipMemGenericAllocationHandle_t memory{};
  HIP(hipMemCreate(&memory, bytes, &prop, 0));
  return memory;
}

void map(char* at, std::size_t bytes, hipMemGenericAllocationHandle_t memory) {
  const hipMemAccessDesc access{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
  HIP(hipMemMap(at, bytes, 0, memory, 0));
  HIP(hipMemSetAccess(at, bytes, &access, 1));
}

}  // namespace

int main() {
  const std::size_t page = granularity();
  char* range = nullptr;
  HIP(hipMemAddressReserve(reinterpret_cast<void**>(&range), 4 * page, 0, nullptr, 0));
  hipMemGenericAllocationHandle_t first = create(page), second = create(page);
  char *const again = range + page, *const next = range + 2 * page;
  map(range, page, first);
  map(again, page, first);
  map(next, page, second);

  HIP(hipMemset(range, 0, page));
  add<<<1, 1>>>(reinterpret_cast<unsigned*>(range), reinterpret_cast<unsigned*>(range), 5);
  HIP(hipDeviceSynchronize());
  CHECK(word(again) == 5);  // the same bytes

  const unsigned two[2] = {11, 22};
  HIP(hipMemcpy(next - sizeof(unsigned), two, sizeof two, hipMemcpyHostToDevice));
  CHECK(word(range + page - sizeof(unsigned)) == 11);
  CHECK(word(next) == 22);  // one copy over two mappings

  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t exec;
  HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(reinterpret_cast<unsigned*>(range), reinterpret_cast<unsigned*>(range), 100);
  HIP(hipStreamEndCapture(stream, &graph));
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  HIP(hipGraphLaunch(exec, stream));
  HIP(hipStreamSynchronize(stream));
  CHECK(word(range) == 105);
  HIP(hipMemUnmap(range, page));
  map(range, page, second);
  HIP(hipGraphLaunch(exec, stream));
  HIP(hipStreamSynchronize(stream));
  CHECK(word(next) == 122);   // the graph names the address, not the memory
  CHECK(word(again) == 105);  // and the first memory is as it was

  HIP(hipMemRelease(first));
  CHECK(word(again) == 105);  // memory lives while it is mapped
  HIP(hipMemRelease(second));
  for (std::size_t n = 0; n < 3; ++n) HIP(hipMemUnmap(range + n * page, page));
  HIP(hipMemAddressFree(range, 4 * page));
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  HIP(hipStreamDestroy(stream));
  std::printf("all right\n");
}
