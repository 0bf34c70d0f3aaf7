// An ordinary HIP program: trains a small network of integers, with graphs by hand, by capture, from threads.
//
//   mlp CODE_OBJECT graph|capture|eager|threads|fork|crash|foreign|pitched|large|anew [STEPS]
// CODE_OBJECT has the kernels gemm_u32, sgd_u32 and axpy_u64 (foreign: append). Prints a sum of its results.
#include <hip/hip_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "program_checks.h"

namespace {

constexpr uint32_t kBatch = 8, kIn = 16, kOut = 8;
constexpr size_t kInputs = kBatch * kIn, kWeights = kIn * kOut, kOutputs = kBatch * kOut;

// c[m*n] = a[m*k] * b[k*n]
struct Product {
  uint32_t *c, *a, *b;
  uint32_t m = kBatch, n = kOut, k = kIn, sa0 = kIn, sa1 = 1, sb0 = kOut, sb1 = 1;
  void* arguments[10];
  Product(uint32_t* to, uint32_t* left, uint32_t* right)
      : c(to), a(left), b(right), arguments{&c, &a, &b, &m, &n, &k, &sa0, &sa1, &sb0, &sb1} {}
};
struct Step {
  uint32_t *param, *grad;
  uint32_t n = kOutputs, rate = 3;
  void* arguments[4];
  Step(uint32_t* weights, uint32_t* gradient) : param(weights), grad(gradient), arguments{&param, &grad, &n, &rate} {}
};

hipKernelNodeParams launch_of(hipFunction_t function, void** arguments) {
  hipKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(function);
  params.gridDim = dim3(1, 1, 1);
  params.blockDim = dim3(64, 1, 1);
  params.kernelParams = arguments;
  return params;
}

struct Network {
  uint32_t *in = nullptr, *other_in = nullptr, *weights = nullptr, *out = nullptr;
  explicit Network(uint32_t seed) {
    std::vector<uint32_t> values(kInputs);
    HIP(hipMalloc(reinterpret_cast<void**>(&in), kInputs * 4));
    HIP(hipMalloc(reinterpret_cast<void**>(&other_in), kInputs * 4));
    HIP(hipMalloc(reinterpret_cast<void**>(&weights), kWeights * 4));
    HIP(hipMalloc(reinterpret_cast<void**>(&out), kOutputs * 4));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint32_t>(i) * 7 + seed;
    HIP(hipMemcpy(in, values.data(), kInputs * 4, hipMemcpyHostToDevice));
    for (uint32_t& value : values) value += 1000;
    HIP(hipMemcpy(other_in, values.data(), kInputs * 4, hipMemcpyHostToDevice));
    HIP(hipMemcpy(weights, values.data(), kWeights * 4, hipMemcpyHostToDevice));
    HIP(hipMemset(out, 0, kOutputs * 4));
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network() {
    for (uint32_t* memory : {in, other_in, weights, out}) HIP(hipFree(memory));
  }
  [[nodiscard]] uint64_t sum() const {
    std::vector<uint32_t> values(kWeights);
    HIP(hipMemcpy(values.data(), weights, kWeights * 4, hipMemcpyDeviceToHost));
    uint64_t sum = 0;
    for (const uint32_t value : values) sum = sum * 31 + value;
    HIP(hipMemcpy(values.data(), out, kOutputs * 4, hipMemcpyDeviceToHost));
    for (size_t i = 0; i < kOutputs; ++i) sum = sum * 31 + values[i];
    return sum;
  }
};

// By hand; the input of the first node changes from step to step.
uint64_t by_hand(const Kernels& kernels, int steps) {
  const Network network(1);
  hipStream_t stream = nullptr;
  HIP(hipStreamCreate(&stream));
  hipGraph_t graph = nullptr;
  HIP(hipGraphCreate(&graph, 0));
  Product product(network.out, network.in, network.weights);
  Step step(network.weights, network.out);
  hipGraphNode_t clear = nullptr, forward = nullptr, back = nullptr;
  hipMemsetParams fill = {};
  fill.dst = network.out;
  fill.elementSize = 4;
  fill.width = kOutputs;
  fill.height = 1;
  HIP(hipGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));
  hipKernelNodeParams params = launch_of(kernels["gemm_u32"], product.arguments);
  HIP(hipGraphAddKernelNode(&forward, graph, &clear, 1, &params));
  hipKernelNodeParams update = launch_of(kernels["sgd_u32"], step.arguments);
  HIP(hipGraphAddKernelNode(&back, graph, &forward, 1, &update));
  hipGraphExec_t exec = nullptr;
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int i = 0; i < steps; ++i) {
    product.a = i % 2 == 0 ? network.in : network.other_in;
    HIP(hipGraphExecKernelNodeSetParams(exec, forward, &params));
    HIP(hipGraphLaunch(exec, stream));
    if (i % 4 == 3) HIP(hipStreamSynchronize(stream));
  }
  HIP(hipStreamSynchronize(stream));
  const uint64_t sum = network.sum();
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  HIP(hipStreamDestroy(stream));
  return sum;
}

// By capture, with a fork and a join; the batch comes from pinned memory that the host fills anew for each step.
uint64_t by_capture(const Kernels& kernels, int steps) {
  const Network network(2);
  hipStream_t stream = nullptr, side = nullptr;
  hipEvent_t forked = nullptr, joined = nullptr;
  HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  HIP(hipStreamCreateWithFlags(&side, hipStreamNonBlocking));
  HIP(hipEventCreateWithFlags(&forked, hipEventDisableTiming));
  HIP(hipEventCreateWithFlags(&joined, hipEventDisableTiming));
  uint32_t* batch = nullptr;
  HIP(hipHostMalloc(reinterpret_cast<void**>(&batch), kInputs * 4, 0));
  std::memset(batch, 0, kInputs * 4);
  HIP(hipDeviceSynchronize());
  Product product(network.out, network.in, network.weights);
  Step step(network.weights, network.out);
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP(hipEventRecord(forked, stream));
  HIP(hipStreamWaitEvent(side, forked, 0));
  HIP(hipMemcpyAsync(network.in, batch, kInputs * 4, hipMemcpyHostToDevice, stream));
  HIP(hipMemsetAsync(network.out, 0, kOutputs * 4, side));
  HIP(hipEventRecord(joined, side));
  HIP(hipStreamWaitEvent(stream, joined, 0));
  HIP(hipModuleLaunchKernel(kernels["gemm_u32"], 1, 1, 1, 64, 1, 1, 0, stream, product.arguments, nullptr));
  HIP(hipModuleLaunchKernel(kernels["sgd_u32"], 1, 1, 1, 64, 1, 1, 0, stream, step.arguments, nullptr));
  hipGraph_t graph = nullptr;
  HIP(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec = nullptr;
  HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int i = 0; i < steps; ++i) {
    for (size_t k = 0; k < kInputs; ++k) batch[k] = static_cast<uint32_t>(k * 5 + static_cast<size_t>(i));
    HIP(hipGraphLaunch(exec, stream));
    HIP(hipStreamSynchronize(stream));
  }
  const uint64_t sum = network.sum();
  HIP(hipGraphExecDestroy(exec));
  HIP(hipGraphDestroy(graph));
  HIP(hipEventDestroy(forked));
  HIP(hipEventDestroy(joined));
  HIP(hipStreamDestroy(stream));
  HIP(hipStreamDestroy(side));
  HIP(hipHostFree(batch));
  return sum;
}

uint64_t eagerly(const Kernels& kernels, int steps, uint32_t seed) {
  const Network network(seed);
  hipStream_t stream = nullptr;
  HIP(hipStreamCreate(&stream));
  Product product(network.out, network.in, network.weights);
  Step step(network.weights, network.out);
  for (int i = 0; i < steps; ++i) {
    HIP(hipModuleLaunchKernel(kernels["gemm_u32"], 1, 1, 1, 64, 1, 1, 0, stream, product.arguments, nullptr));
    HIP(hipModuleLaunchKernel(kernels["sgd_u32"], 1, 1, 1, 64, 1, 1, 0, stream, step.arguments, nullptr));
    HIP(hipStreamSynchronize(stream));
  }
  const uint64_t sum = network.sum();
  HIP(hipStreamDestroy(stream));
  return sum;
}

uint64_t from_threads(const Kernels& kernels, int steps) {
  uint64_t sums[3] = {};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 3; ++i) threads.emplace_back([&, i] { sums[i] = eagerly(kernels, steps, 10 + i); });
  for (std::thread& thread : threads) thread.join();
  return sums[0] ^ sums[1] * 3 ^ sums[2] * 7;
}

// A kernel that is nobody's but this program's. Its module is loaded once more, and unloaded, which a capture forbids.
uint64_t with_kernels_of_its_own(const Kernels& kernels, const char* path) {
  uint32_t* memory = nullptr;
  HIP(hipMalloc(reinterpret_cast<void**>(&memory), 4096));
  HIP(hipMemset(memory, 0, 4096));
  uint32_t value = 5;
  void* arguments[] = {&memory, &value};
  HIP(hipModuleLaunchKernel(kernels["append"], 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  HIP(hipDeviceSynchronize());
  HIP(hipFree(memory));
  hipModule_t module = nullptr;
  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;
  HIP(hipModuleLoad(&module, path));
  HIP(hipStreamCreate(&stream));
  HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  const hipError_t refused = hipModuleUnload(module), over = hipStreamEndCapture(stream, &graph);
  if (refused == hipSuccess || over == hipSuccess) std::exit(1);
  HIP(hipStreamDestroy(stream));
  HIP(hipModuleUnload(module));
  return 0;
}

// A copy that halves the batch, and a call that programs of the project cannot express: a value that a stream writes.
uint64_t with_calls_of_its_own(const Kernels& kernels, int steps) {
  uint64_t sum = 0;
  {
    const Network network(4);
    HIP(hipMemcpy2D(network.weights, 64, network.in, 128, 32, 4, hipMemcpyDeviceToDevice));
    HIP(hipStreamWriteValue32(nullptr, network.weights, 7, 0));
    HIP(hipDeviceSynchronize());
    sum = network.sum();
  }
  return sum + eagerly(kernels, steps, 5);
}

// Contents that take several commands, and contents that are too large for a program, alone or together.
uint64_t with_large_contents() {
  uint64_t sum = 0;
  constexpr size_t kMiB = size_t{1} << 20;
  for (const size_t bytes : {size_t{150000}, 5 * kMiB, 4 * kMiB, 4 * kMiB, 3 * kMiB}) {
    std::vector<unsigned char> values(bytes);
    for (size_t i = 0; i < bytes; ++i) values[i] = static_cast<unsigned char>(i * 7 + i / 256);
    void* memory = nullptr;
    HIP(hipMalloc(&memory, bytes));
    HIP(hipMemcpy(memory, values.data(), bytes, hipMemcpyHostToDevice));
    HIP(hipMemcpy(values.data(), memory, bytes, hipMemcpyDeviceToHost));
    HIP(hipFree(memory));
    for (const unsigned char value : values) sum = sum * 31 + value;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string mode = argv[2];
  const int steps = argc > 3 ? std::atoi(argv[3]) : 6;
  pid_t child = 0;
  if (mode == "fork") child = fork();
  const Kernels kernels(argv[1]);
  uint64_t sum = 0;
  if (mode == "graph") sum = by_hand(kernels, steps);
  if (mode == "capture") sum = by_capture(kernels, steps);
  if (mode == "eager" || mode == "fork") sum = eagerly(kernels, steps, child == 0 ? 20 : 21);
  if (mode == "threads") sum = from_threads(kernels, steps);
  if (mode == "foreign") sum = with_kernels_of_its_own(kernels, argv[1]);
  if (mode == "pitched") sum = with_calls_of_its_own(kernels, steps);
  if (mode == "large" || mode == "anew") sum = with_large_contents();
  if (mode == "anew") {
    child = fork();
    if (child == 0) sum = with_large_contents();
  }
  if (mode == "crash") {
    sum = by_hand(kernels, steps);
    const Network half_way(3);
    std::raise(SIGSEGV);
  }
  if (child != 0) waitpid(child, nullptr, 0);
  std::printf("%s %llx\n", mode.c_str(), static_cast<unsigned long long>(sum));
  return 0;
}
