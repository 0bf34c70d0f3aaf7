// An ordinary HIP program that knows nothing of hgcheck: what people write, in one file.
//
// Chevron launches with floats, doubles, shared memory, templates, atomics and a grid-wide barrier; streams ordered by
// events; a captured graph with a fork and a join, launched several times and after an update; device variables,
// constant and managed memory; device printf; a host function. Takes no arguments, prints what it found, and exits 0
// iff all of it is right. Every number that it compares is exact, so any correct device gives the same.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                 \
  do {                                                                                              \
    const hipError_t error = (call);                                                                \
    if (error != hipSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(error)); \
      std::exit(2);                                                                                 \
    }                                                                                               \
  } while (false)

namespace {

constexpr int kCount = 1000;
constexpr int kBlock = 128;
constexpr int kBlocks = (kCount + kBlock - 1) / kBlock;

int failures = 0;

void report(const char* what, bool right) {
  std::printf("%-28s %s\n", what, right ? "right" : "WRONG");
  if (!right) ++failures;
}

}  // namespace

__device__ int launches_seen = 5;
__device__ float last_row[4];
__constant__ float weights[4];
__managed__ int shared_with_host = 17;

__global__ void saxpy(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void roots(double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sqrt(static_cast<double>(i) * i) / 4.0;
}

// The sum of each block, in shared memory of a size chosen at the launch.
__global__ void block_sums(int* sums, const int* in, int n) {
  extern __shared__ int part[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int width = blockDim.x / 2; width > 0; width /= 2) {
    if (static_cast<int>(threadIdx.x) < width) part[threadIdx.x] += part[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

template <typename T, int kStep>
__global__ void step(T* data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] += T(kStep);
}

__global__ void count_launch(float* out) {
  atomicAdd(&launches_seen, 1);
  if (threadIdx.x < 4) {
    last_row[threadIdx.x] = weights[threadIdx.x] * 2.0f;
    out[threadIdx.x] = weights[threadIdx.x];
  }
  if (threadIdx.x == 0) shared_with_host += 1;
}

__global__ void say(const char* prefix_unused, int value) {
  if (threadIdx.x == 3) {
    printf("device says: %d %s %.3f %5u|%-4d|%c%%\n", value, prefix_unused == nullptr ? "none" : "some", value / 8.0,
           42u, -7, 'x');
    printf("a long string, in more than one packet: %s and %lld\n",
           "0123456789012345678901234567890123456789012345678901", 1LL << 40);
  }
}

// Every block writes, all wait for all, then each reads its neighbour's.
__global__ void around(int* data, int* out) {
  if (threadIdx.x == 0) data[blockIdx.x] = blockIdx.x * 3;
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
}

namespace {

template <typename T>
struct Buffer {
  explicit Buffer(int size) : count(size) { CHECK(hipMalloc(reinterpret_cast<void**>(&data), sizeof(T) * size)); }
  ~Buffer() { (void)hipFree(data); }
  void upload(const std::vector<T>& from) {
    CHECK(hipMemcpy(data, from.data(), sizeof(T) * from.size(), hipMemcpyHostToDevice));
  }
  std::vector<T> download() const {
    std::vector<T> to(count);
    CHECK(hipMemcpy(to.data(), data, sizeof(T) * count, hipMemcpyDeviceToHost));
    return to;
  }
  T* data = nullptr;
  int count;
};

void plain_kernels() {
  Buffer<float> x(kCount), y(kCount);
  std::vector<float> xs(kCount), ys(kCount);
  for (int i = 0; i < kCount; ++i) xs[i] = i * 0.5f, ys[i] = 1000.0f - i;
  x.upload(xs), y.upload(ys);
  saxpy<<<kBlocks, kBlock>>>(y.data, x.data, 2.0f, kCount);
  CHECK(hipGetLastError());
  bool right = true;
  const std::vector<float> got = y.download();
  for (int i = 0; i < kCount; ++i) right = right && got[i] == 1000.0f;
  report("floats", right);

  Buffer<double> doubles(kCount);
  roots<<<dim3(kBlocks), dim3(kBlock)>>>(doubles.data, kCount);
  right = true;
  const std::vector<double> out = doubles.download();
  for (int i = 0; i < kCount; ++i) right = right && out[i] == i / 4.0;
  report("doubles", right);

  Buffer<int> in(kCount), sums(kBlocks);
  std::vector<int> numbers(kCount);
  for (int i = 0; i < kCount; ++i) numbers[i] = i;
  in.upload(numbers);
  block_sums<<<kBlocks, kBlock, kBlock * sizeof(int)>>>(sums.data, in.data, kCount);
  int total = 0;
  for (const int sum : sums.download()) total += sum;
  report("shared memory", total == kCount * (kCount - 1) / 2);
}

void variables() {
  const float chosen[4] = {0.25f, 0.5f, 1.0f, 2.0f};
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(weights), chosen, sizeof chosen, 0, hipMemcpyHostToDevice));
  Buffer<float> out(4);
  count_launch<<<1, 64>>>(out.data);
  CHECK(hipDeviceSynchronize());
  int seen = 0;
  float row[4] = {};
  CHECK(hipMemcpyFromSymbol(&seen, static_cast<const void*>(&launches_seen), sizeof seen, 0, hipMemcpyDeviceToHost));
  CHECK(hipMemcpyFromSymbol(row, HIP_SYMBOL(last_row), sizeof row, 0, hipMemcpyDeviceToHost));
  report("device variable", seen == 5 + 64 && row[3] == 4.0f && row[0] == 0.5f);
  const std::vector<float> copied = out.download();
  report("constant memory", std::memcmp(copied.data(), chosen, sizeof chosen) == 0);
  report("managed memory", shared_with_host == 18);
  void* address = nullptr;
  std::size_t size = 0;
  CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(last_row)));
  CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(last_row)));
  CHECK(hipMemset(address, 0, size));
  CHECK(hipMemcpyFromSymbol(row, HIP_SYMBOL(last_row), sizeof row, 0, hipMemcpyDeviceToHost));
  report("address of a variable", size == sizeof row && row[3] == 0.0f);
}

void streams_and_events() {
  hipStream_t first, second;
  hipEvent_t done, end;
  CHECK(hipStreamCreate(&first));
  CHECK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  CHECK(hipEventCreate(&done));
  CHECK(hipEventCreate(&end));
  Buffer<int> data(kCount);
  int* pinned = nullptr;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&pinned), sizeof(int) * kCount, hipHostMallocDefault));
  CHECK(hipMemsetAsync(data.data, 0, sizeof(int) * kCount, first));
  step<int, 3><<<4, kBlock, 0, first>>>(data.data, kCount);
  CHECK(hipEventRecord(done, first));
  CHECK(hipStreamWaitEvent(second, done, 0));
  step<int, 4><<<4, kBlock, 0, second>>>(data.data, kCount);
  CHECK(hipMemcpyAsync(pinned, data.data, sizeof(int) * kCount, hipMemcpyDeviceToHost, second));
  static int host_calls = 0;
  CHECK(hipLaunchHostFunc(second, [](void* value) { host_calls += *static_cast<int*>(value); }, pinned));
  CHECK(hipEventRecord(end, second));
  CHECK(hipEventSynchronize(end));
  bool right = true;
  for (int i = 0; i < kCount; ++i) right = right && pinned[i] == 7;
  report("streams and events", right);
  report("host function", host_calls == 7);
  float milliseconds = -1.0f;
  CHECK(hipEventElapsedTime(&milliseconds, done, end));
  report("elapsed time", milliseconds >= 0.0f);
  CHECK(hipEventDestroy(end));
  CHECK(hipEventDestroy(done));
  CHECK(hipStreamDestroy(second));
  CHECK(hipStreamDestroy(first));
  CHECK(hipHostFree(pinned));
}

// A kernel node's parameters can be read back, and an executable graph patched with them.
bool patch_second_step(hipGraph_t graph, hipGraphExec_t exec) {
  std::size_t count = 0;
  CHECK(hipGraphGetNodes(graph, nullptr, &count));
  std::vector<hipGraphNode_t> all(count);
  CHECK(hipGraphGetNodes(graph, all.data(), &count));
  bool patched = false;
  for (hipGraphNode_t node : all) {
    hipGraphNodeType type;
    CHECK(hipGraphNodeGetType(node, &type));
    hipKernelNodeParams params{};
    if (type != hipGraphNodeTypeKernel) continue;
    CHECK(hipGraphKernelNodeGetParams(node, &params));
    if (params.func != reinterpret_cast<void*>(&step<int, 2>)) continue;
    params.func = reinterpret_cast<void*>(&step<int, 5>);
    CHECK(hipGraphExecKernelNodeSetParams(exec, node, &params));
    patched = true;
  }
  return patched;
}

// x = 0; then on two streams a = x + 1 and b = x + 2 (in place, different halves); joined; everything + 10; copied
// back.
void captured_graph() {
  hipStream_t main_stream, side;
  hipEvent_t fork, join;
  CHECK(hipStreamCreate(&main_stream));
  CHECK(hipStreamCreate(&side));
  CHECK(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
  CHECK(hipEventCreateWithFlags(&join, hipEventDisableTiming));
  Buffer<int> data(2 * kCount);
  int* pinned = nullptr;
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&pinned), sizeof(int) * 2 * kCount, hipHostMallocDefault));
  CHECK(hipStreamBeginCapture(main_stream, hipStreamCaptureModeGlobal));
  CHECK(hipMemsetAsync(data.data, 0, sizeof(int) * 2 * kCount, main_stream));
  CHECK(hipEventRecord(fork, main_stream));
  CHECK(hipStreamWaitEvent(side, fork, 0));
  step<int, 1><<<2, kBlock, 0, main_stream>>>(data.data, kCount);
  step<int, 2><<<2, kBlock, 0, side>>>(data.data + kCount, kCount);
  CHECK(hipEventRecord(join, side));
  CHECK(hipStreamWaitEvent(main_stream, join, 0));
  step<int, 10><<<4, kBlock, 0, main_stream>>>(data.data, 2 * kCount);
  CHECK(hipMemcpyAsync(pinned, data.data, sizeof(int) * 2 * kCount, hipMemcpyDeviceToHost, main_stream));
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  CHECK(hipStreamIsCapturing(main_stream, &status));
  hipGraph_t graph = nullptr;
  CHECK(hipStreamEndCapture(main_stream, &graph));
  std::size_t nodes = 0, edges = 0;
  CHECK(hipGraphGetNodes(graph, nullptr, &nodes));
  CHECK(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
  report("capture", status == hipStreamCaptureStatusActive && nodes == 5 && edges == 5);

  hipGraphExec_t exec = nullptr;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  bool right = true;
  for (int launch = 0; launch < 3; ++launch) {
    std::memset(pinned, 0, sizeof(int) * 2 * kCount);
    CHECK(hipGraphLaunch(exec, main_stream));
    CHECK(hipStreamSynchronize(main_stream));
    for (int i = 0; i < kCount; ++i) right = right && pinned[i] == 11 && pinned[kCount + i] == 12;
  }
  report("captured graph", right);

  const bool patched = patch_second_step(graph, exec);
  CHECK(hipGraphLaunch(exec, main_stream));
  CHECK(hipStreamSynchronize(main_stream));
  report("patched graph", patched && pinned[0] == 11 && pinned[kCount] == 15 && pinned[2 * kCount - 1] == 15);
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipEventDestroy(join));
  CHECK(hipEventDestroy(fork));
  CHECK(hipStreamDestroy(side));
  CHECK(hipStreamDestroy(main_stream));
  CHECK(hipHostFree(pinned));
}

void grid_barrier() {
  constexpr int kGroups = 6;
  Buffer<int> data(kGroups), out(kGroups);
  int* in_pointer = data.data;
  int* out_pointer = out.data;
  void* arguments[] = {&in_pointer, &out_pointer};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(&around), dim3(kGroups), dim3(64), arguments, 0, nullptr));
  bool right = true;
  const std::vector<int> got = out.download();
  for (int i = 0; i < kGroups; ++i) right = right && got[i] == (i + 1) % kGroups * 3;
  report("grid-wide barrier", right);
}

void queries() {
  int devices = 0, blocks = 0, grid = 0, block = 0;
  hipDeviceProp_t properties;
  CHECK(hipGetDeviceCount(&devices));
  CHECK(hipGetDeviceProperties(&properties, 0));
  hipFuncAttributes attributes;
  CHECK(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&saxpy)));
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reinterpret_cast<const void*>(&saxpy), kBlock, 0));
  CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, reinterpret_cast<const void*>(&saxpy), 0, 0));
  report("queries", devices >= 1 && properties.warpSize == 64 &&
                        std::strncmp(properties.gcnArchName, "gfx942", 6) == 0 && attributes.maxThreadsPerBlock > 0 &&
                        blocks > 0 && grid > 0 && block > 0);
}

}  // namespace

int main() {
  queries();
  plain_kernels();
  variables();
  streams_and_events();
  captured_graph();
  grid_barrier();
  say<<<1, 64>>>(nullptr, 5);
  CHECK(hipDeviceSynchronize());
  std::printf("%s\n", failures == 0 ? "all right" : "something is wrong");
  return failures == 0 ? 0 : 1;
}
