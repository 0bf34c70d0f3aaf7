// An ordinary HIP program with kernels of its own: an image is blurred and scaled, by a graph by hand and by capture.
//
//   blur [STEPS]
// Kernels of two dimensions, a struct by value that holds a pointer and numbers, a pointer that may be null, dynamic
// shared memory, a managed variable. Prints a sum of what it computed.
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP(call)                                                                \
  do {                                                                           \
    if (const hipError_t code = (call); code != hipSuccess) {                    \
      std::printf("line %d: %s: %d\n", __LINE__, #call, static_cast<int>(code)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (false)

constexpr unsigned kWidth = 40, kHeight = 24;
constexpr size_t kPixels = kWidth * kHeight, kBytes = kPixels * sizeof(float);

__managed__ float brightness = 1.0F;

struct Image {
  float* pixels;
  unsigned width, height;
  float scale;
};

__global__ void blur(Image to, const float* from, const float* weights) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= to.width || y >= to.height) return;
  float sum = 0, weight = 0;
  for (int dx = -1; dx <= 1; ++dx) {
    const int at = static_cast<int>(x) + dx;
    if (at < 0 || at >= static_cast<int>(to.width)) continue;
    const float w = weights == nullptr ? 1.0F : weights[dx + 1];
    sum += w * from[y * to.width + static_cast<unsigned>(at)];
    weight += w;
  }
  to.pixels[y * to.width + x] = to.scale * sum / weight;
}

__global__ void row_sums(float* sums, const float* pixels, unsigned width) {
  extern __shared__ float row[];
  float sum = 0;
  for (unsigned x = threadIdx.x; x < width; x += blockDim.x) sum += pixels[blockIdx.x * width + x];
  row[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned i = 1; i < blockDim.x; ++i) sum += row[i];
  sums[blockIdx.x] = sum;
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 3;
  std::vector<float> input(kPixels);
  for (size_t i = 0; i < kPixels; ++i) input[i] = static_cast<float>(i * 7 % 31);
  const float bell[3] = {0.25F, 0.5F, 0.25F};
  float *in = nullptr, *out = nullptr, *other = nullptr, *weights = nullptr, *sums = nullptr;
  HIP(hipMalloc(&in, kBytes));
  HIP(hipMalloc(&out, kBytes));
  HIP(hipMalloc(&other, kBytes));
  HIP(hipMalloc(&weights, sizeof bell));
  HIP(hipMalloc(&sums, kHeight * sizeof(float)));
  HIP(hipMemcpy(in, input.data(), kBytes, hipMemcpyHostToDevice));
  HIP(hipMemcpy(weights, bell, sizeof bell, hipMemcpyHostToDevice));
  HIP(hipMemset(other, 0, kBytes));

  Image image{out, kWidth, kHeight, 0.5F};
  const float *from = in, *w = nullptr;
  void* arguments[] = {&image, &from, &w};
  hipKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(blur);
  params.gridDim = dim3((kWidth + 15) / 16, (kHeight + 3) / 4);
  params.blockDim = dim3(16, 4);
  params.kernelParams = arguments;
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  hipGraphNode_t node = nullptr;
  HIP(hipGraphCreate(&graph, 0));
  HIP(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  hipStream_t stream = nullptr;
  HIP(hipStreamCreate(&stream));
  double total = 0;
  std::vector<float> back(kPixels), rows(kHeight);
  for (int step = 0; step < steps; ++step) {
    // The buffers change places, and every other step weighs.
    image.pixels = step % 2 == 0 ? out : other;
    from = step == 0 ? in : step % 2 == 0 ? other : out;
    w = step % 2 == 0 ? nullptr : weights;
    HIP(hipGraphExecKernelNodeSetParams(exec, node, &params));
    HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
    HIP(hipMemcpy(back.data(), image.pixels, kBytes, hipMemcpyDeviceToHost));
    for (const float pixel : back) total += pixel;
  }

  hipGraph_t captured = nullptr;
  hipGraphExec_t replay = nullptr;
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  blur<<<params.gridDim, params.blockDim, 0, stream>>>(Image{other, kWidth, kHeight, 2.0F}, out, weights);
  row_sums<<<kHeight, 64, 64 * sizeof(float), stream>>>(sums, other, kWidth);
  HIP(hipStreamEndCapture(stream, &captured));
  HIP(hipGraphInstantiate(&replay, captured, nullptr, nullptr, 0));
  HIP(hipGraphLaunch(replay, stream));
  HIP(hipStreamSynchronize(stream));
  HIP(hipMemcpy(rows.data(), sums, kHeight * sizeof(float), hipMemcpyDeviceToHost));
  for (const float row : rows) total += row;
  total *= brightness;
  std::printf("blur %.3f\n", total);

  HIP(hipGraphExecDestroy(replay));
  HIP(hipGraphDestroy(captured));
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  HIP(hipStreamDestroy(stream));
  for (float* memory : {in, out, other, weights, sums}) HIP(hipFree(memory));
  return 0;
}
