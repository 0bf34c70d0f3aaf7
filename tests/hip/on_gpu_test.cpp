// HIP's functions on a real device: what a parameter says when it is read back, and what it does.
//
// usage: hip-on-gpu-tests LIBRARY [GoogleTest's options]: libhip-nvidia.so on an NVIDIA GPU (tools/gpu-run), or AMD's
// runtime over the software gfx942, which shows on every machine that the tests themselves are right. The tests in
// tests/nvidia look at the calls that libhip-nvidia.so makes to a stand-in of CUDA; these see CUDA's answers.
// Exit status 2: the library cannot be loaded or finds no device.
//
// Not tested here: functions that a vendor documents differently from HIP (docs/semantics.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "hip/api/api.h"
#include "hip/kernels/device_kernels.h"
#include "hip/kernels/host_kernels.h"

namespace {

constexpr std::size_t kCount = 64;  // numbers in a buffer
constexpr std::size_t kBytes = kCount * sizeof(std::uint64_t);

hip::Api& api() {
  static hip::Api table;
  return table;
}

// The arguments of the kernel axpy_u64, packed as HIP's `extra` passes them.
struct AxpyArguments {
  std::uint64_t* out;
  const std::uint64_t* in;
  std::uint32_t count;
  std::uint64_t factor;
};

// The kernel's result for `in`, by its semantics for the host.
std::vector<std::uint64_t> axpy(const std::vector<std::uint64_t>& in, std::uint64_t factor) {
  hg::ThisProcess memory;
  std::vector<std::uint64_t> out(in.size());
  const AxpyArguments arguments{out.data(), in.data(), static_cast<std::uint32_t>(in.size()), factor};
  for (const hg::HostKernel& kernel : hg::host_kernels()) {
    if (kernel.name == "axpy_u64") kernel.run(std::as_bytes(std::span(&arguments, 1)), memory);
  }
  return out;
}

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    static_cast<void>(api().hipGetLastError());
    for (std::uint64_t*& buffer : buffers_) {
      ASSERT_EQ(api().hipMalloc(reinterpret_cast<void**>(&buffer), kBytes), hipSuccess);
      ASSERT_EQ(api().hipMemset(buffer, 0, kBytes), hipSuccess);
    }
    ASSERT_EQ(api().hipDeviceSynchronize(), hipSuccess);  // the tests' stream does not wait for the null stream
    std::iota(numbers_.begin(), numbers_.end(), 7);
    ASSERT_EQ(api().hipGraphCreate(&graph_, 0), hipSuccess);
    ASSERT_EQ(api().hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking), hipSuccess);
  }
  void TearDown() override {
    if (exec_ != nullptr) {
      EXPECT_EQ(api().hipGraphExecDestroy(exec_), hipSuccess);
    }
    if (graph_ != nullptr) {
      EXPECT_EQ(api().hipGraphDestroy(graph_), hipSuccess);
    }
    EXPECT_EQ(api().hipStreamDestroy(stream_), hipSuccess);
    for (std::uint64_t* buffer : buffers_) EXPECT_EQ(api().hipFree(buffer), hipSuccess);
    EXPECT_EQ(api().hipGetLastError(), hipSuccess);
  }

  void fill(std::uint64_t* buffer) {
    ASSERT_EQ(api().hipMemcpy(buffer, numbers_.data(), kBytes, hipMemcpyHostToDevice), hipSuccess);
    ASSERT_EQ(api().hipDeviceSynchronize(), hipSuccess);  // the copy may still be on its way when the call returns
  }
  [[nodiscard]] std::vector<std::uint64_t> read(const void* buffer) {
    std::vector<std::uint64_t> values(kCount);
    EXPECT_EQ(api().hipMemcpy(values.data(), buffer, kBytes, hipMemcpyDeviceToHost), hipSuccess);
    return values;
  }
  void instantiate() { ASSERT_EQ(api().hipGraphInstantiateWithFlags(&exec_, graph_, 0), hipSuccess); }
  void launch() {
    ASSERT_EQ(api().hipGraphLaunch(exec_, stream_), hipSuccess);
    ASSERT_EQ(api().hipStreamSynchronize(stream_), hipSuccess);
  }
  // The kernel node's parameters: out is buffers_[1], in is buffers_[0].
  [[nodiscard]] hipKernelNodeParams kernel() {
    static const hipFunction_t function = [] {
      hipModule_t module = nullptr;
      hipFunction_t found = nullptr;
      EXPECT_EQ(api().hipModuleLoadData(&module, hg::device_code_object().data()), hipSuccess);
      EXPECT_EQ(api().hipModuleGetFunction(&found, module, "axpy_u64"), hipSuccess);
      return found;
    }();
    arguments_ = {buffers_[1], buffers_[0], kCount, 3};
    return {.blockDim = {32, 1, 1},
            .extra = nullptr,
            .func = function,
            .gridDim = {2, 1, 1},
            .kernelParams = pointers_.data(),
            .sharedMemBytes = 0};
  }

  std::array<std::uint64_t*, 2> buffers_{};
  std::vector<std::uint64_t> numbers_ = std::vector<std::uint64_t>(kCount);
  AxpyArguments arguments_{};
  std::array<void*, 4> pointers_{&arguments_.out, &arguments_.in, &arguments_.count, &arguments_.factor};
  hipGraph_t graph_ = nullptr;
  hipGraphExec_t exec_ = nullptr;
  hipGraphNode_t node_ = nullptr;
  hipStream_t stream_ = nullptr;
};

// ---- nodes

TEST_F(OnGpu, AKernelNodeRunsWithItsArgumentsAndTellsThem) {
  fill(buffers_[0]);
  const hipKernelNodeParams params = kernel();
  ASSERT_EQ(api().hipGraphAddKernelNode(&node_, graph_, nullptr, 0, &params), hipSuccess);
  arguments_.factor = 4;  // the node has the value of before
  hipKernelNodeParams told{};
  ASSERT_EQ(api().hipGraphKernelNodeGetParams(node_, &told), hipSuccess);
  EXPECT_EQ(told.func, params.func);
  EXPECT_EQ(told.gridDim.x, 2U);
  EXPECT_EQ(told.blockDim.x, 32U);
  ASSERT_NE(told.kernelParams, nullptr);
  EXPECT_EQ(*static_cast<std::uint64_t**>(told.kernelParams[0]), buffers_[1]);
  EXPECT_EQ(*static_cast<std::uint64_t*>(told.kernelParams[3]), 3U);
  instantiate();
  launch();
  EXPECT_EQ(read(buffers_[1]), axpy(numbers_, 3));
}

TEST_F(OnGpu, AnExecutableGraphsKernelTakesNewArguments) {
  fill(buffers_[0]);
  hipKernelNodeParams params = kernel();
  ASSERT_EQ(api().hipGraphAddKernelNode(&node_, graph_, nullptr, 0, &params), hipSuccess);
  instantiate();
  arguments_.factor = 5;
  ASSERT_EQ(api().hipGraphExecKernelNodeSetParams(exec_, node_, &params), hipSuccess);
  launch();
  EXPECT_EQ(read(buffers_[1]), axpy(numbers_, 5));
}

TEST_F(OnGpu, ArgumentsInOneBlockAreTheSame) {
  fill(buffers_[0]);
  hipKernelNodeParams params = kernel();
  std::size_t size = sizeof arguments_;
  std::array<void*, 5> extra{HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments_, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                             HIP_LAUNCH_PARAM_END};
  params.kernelParams = nullptr;
  params.extra = extra.data();
  ASSERT_EQ(api().hipGraphAddKernelNode(&node_, graph_, nullptr, 0, &params), hipSuccess);
  instantiate();
  launch();
  EXPECT_EQ(read(buffers_[1]), axpy(numbers_, 3));
}

TEST_F(OnGpu, AMemsetOfRowsTellsItsFieldsAndFillsItsRows) {
  const hipMemsetParams params{.dst = buffers_[0], .elementSize = 1, .height = 2, .pitch = 64, .value = 5, .width = 8};
  ASSERT_EQ(api().hipGraphAddMemsetNode(&node_, graph_, nullptr, 0, &params), hipSuccess);
  hipMemsetParams told{};
  ASSERT_EQ(api().hipGraphMemsetNodeGetParams(node_, &told), hipSuccess);
  EXPECT_EQ(told.dst, params.dst);
  EXPECT_EQ(told.value, params.value);
  EXPECT_EQ(told.pitch, params.pitch);
  EXPECT_EQ(told.elementSize, 1U);
  EXPECT_EQ(told.height, 2U);
  EXPECT_EQ(told.width, 8U);
  instantiate();
  launch();
  std::vector<std::uint64_t> expected(kCount);
  expected[0] = expected[8] = 0x0505050505050505;
  EXPECT_EQ(read(buffers_[0]), expected);
}

TEST_F(OnGpu, ACopyOfRowsTellsItsFieldsAndCopiesItsRows) {
  fill(buffers_[0]);
  hipMemcpy3DParms params{};
  params.srcPtr = {buffers_[0], 64, 64, 4};
  params.dstPtr = {buffers_[1], 32, 32, 8};
  params.extent = {16, 3, 1};
  params.kind = hipMemcpyDeviceToDevice;
  ASSERT_EQ(api().hipGraphAddMemcpyNode(&node_, graph_, nullptr, 0, &params), hipSuccess);
  hipMemcpy3DParms told{};
  ASSERT_EQ(api().hipGraphMemcpyNodeGetParams(node_, &told), hipSuccess);
  EXPECT_EQ(told.srcPtr.ptr, buffers_[0]);
  EXPECT_EQ(told.dstPtr.ptr, buffers_[1]);
  EXPECT_EQ(told.srcPtr.pitch, 64U);
  EXPECT_EQ(told.dstPtr.pitch, 32U);
  EXPECT_EQ(told.extent.width, 16U);
  EXPECT_EQ(told.extent.height, 3U);
  EXPECT_EQ(told.extent.depth, 1U);
  instantiate();
  launch();
  std::vector<std::uint64_t> expected(kCount);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t n = 0; n < 2; ++n) expected[row * 4 + n] = numbers_[row * 8 + n];
  }
  EXPECT_EQ(read(buffers_[1]), expected);
}

TEST_F(OnGpu, AHostNodeCallsItsFunctionBehindTheNodeBefore) {
  struct Seen {
    std::uint64_t* memory = nullptr;
    std::uint64_t value = 0;
  } seen;
  ASSERT_EQ(api().hipHostMalloc(reinterpret_cast<void**>(&seen.memory), 8, hipHostMallocDefault), hipSuccess);
  *seen.memory = 0;
  const hipMemsetParams filled{.dst = seen.memory, .elementSize = 4, .height = 1, .pitch = 0, .value = 9, .width = 1};
  ASSERT_EQ(api().hipGraphAddMemsetNode(&node_, graph_, nullptr, 0, &filled), hipSuccess);
  const hipHostNodeParams params{
      .fn = [](void* data) { static_cast<Seen*>(data)->value = *static_cast<Seen*>(data)->memory; }, .userData = &seen};
  hipGraphNode_t host = nullptr;
  ASSERT_EQ(api().hipGraphAddHostNode(&host, graph_, &node_, 1, &params), hipSuccess);
  hipHostNodeParams told{};
  ASSERT_EQ(api().hipGraphHostNodeGetParams(host, &told), hipSuccess);
  EXPECT_EQ(told.fn, params.fn);
  EXPECT_EQ(told.userData, &seen);
  instantiate();
  launch();
  EXPECT_EQ(seen.value, 9U);
  EXPECT_EQ(api().hipHostFree(seen.memory), hipSuccess);
}

// ---- graphs and captures

TEST_F(OnGpu, ACaptureHasANodeForEachCall) {
  fill(buffers_[0]);
  ASSERT_EQ(api().hipGraphDestroy(graph_), hipSuccess);
  graph_ = nullptr;
  ASSERT_EQ(api().hipStreamBeginCapture(stream_, hipStreamCaptureModeThreadLocal), hipSuccess);
  EXPECT_EQ(api().hipMemcpyAsync(buffers_[1], buffers_[0], kBytes, hipMemcpyDeviceToDevice, stream_), hipSuccess);
  EXPECT_EQ(api().hipMemsetAsync(buffers_[1], 1, 8, stream_), hipSuccess);
  hipStreamCaptureStatus state = hipStreamCaptureStatusNone;
  EXPECT_EQ(api().hipStreamIsCapturing(stream_, &state), hipSuccess);
  EXPECT_EQ(state, hipStreamCaptureStatusActive);
  ASSERT_EQ(api().hipStreamEndCapture(stream_, &graph_), hipSuccess);
  std::array<hipGraphNode_t, 4> nodes{};
  std::size_t count = nodes.size();
  ASSERT_EQ(api().hipGraphGetNodes(graph_, nodes.data(), &count), hipSuccess);
  ASSERT_EQ(count, 2U);
  std::array<hipGraphNodeType, 2> types{};
  for (std::size_t n = 0; n < count; ++n) {
    ASSERT_EQ(api().hipGraphNodeGetType(nodes[n], &types[n]), hipSuccess);
  }
  EXPECT_NE(std::ranges::find(types, hipGraphNodeTypeMemcpy), types.end());
  EXPECT_NE(std::ranges::find(types, hipGraphNodeTypeMemset), types.end());
  instantiate();
  launch();
  std::vector<std::uint64_t> expected = numbers_;
  expected[0] = 0x0101010101010101;
  EXPECT_EQ(read(buffers_[1]), expected);
}

TEST_F(OnGpu, AnUpdateTakesParametersAndRefusesAnotherShape) {
  hipMemsetParams params{
      .dst = buffers_[0], .elementSize = 4, .height = 1, .pitch = 0, .value = 1, .width = 2 * kCount};
  ASSERT_EQ(api().hipGraphAddMemsetNode(&node_, graph_, nullptr, 0, &params), hipSuccess);
  instantiate();
  params.value = 0x01020304;
  ASSERT_EQ(api().hipGraphMemsetNodeSetParams(node_, &params), hipSuccess);
  hipGraphNode_t blamed = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  ASSERT_EQ(api().hipGraphExecUpdate(exec_, graph_, &blamed, &result), hipSuccess);
  EXPECT_EQ(result, hipGraphExecUpdateSuccess);
  launch();
  EXPECT_EQ(read(buffers_[0]), std::vector<std::uint64_t>(kCount, 0x0102030401020304));
  hipGraphNode_t more = nullptr;
  ASSERT_EQ(api().hipGraphAddEmptyNode(&more, graph_, &node_, 1), hipSuccess);
  EXPECT_EQ(api().hipGraphExecUpdate(exec_, graph_, &blamed, &result), hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, hipGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(api().hipGetLastError(), hipErrorGraphExecUpdateFailure);
}

TEST_F(OnGpu, AGraphReleasesItsUserObject) {
  static std::atomic<int> released;  // the runtime may release from a thread of its own
  released = 0;
  hipUserObject_t object = nullptr;
  ASSERT_EQ(api().hipUserObjectCreate(
                &object, nullptr, [](void*) { ++released; }, 1, hipUserObjectNoDestructorSync),
            hipSuccess);
  ASSERT_EQ(api().hipGraphRetainUserObject(graph_, object, 1, hipGraphUserObjectMove), hipSuccess);
  EXPECT_EQ(released, 0);
  ASSERT_EQ(api().hipGraphDestroy(graph_), hipSuccess);
  graph_ = nullptr;
  for (int tries = 0; released == 0 && tries < 1000; ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(released, 1);
}

// ---- memory

TEST_F(OnGpu, APointerTellsItsMemory) {
  void* pinned = nullptr;
  ASSERT_EQ(api().hipHostMalloc(&pinned, 64, hipHostMallocDefault), hipSuccess);
  hipPointerAttribute_t of_device{}, of_host{};
  EXPECT_EQ(api().hipPointerGetAttributes(&of_device, buffers_[0]), hipSuccess);
  EXPECT_EQ(api().hipPointerGetAttributes(&of_host, pinned), hipSuccess);
  EXPECT_EQ(of_device.type, hipMemoryTypeDevice);
  EXPECT_EQ(of_device.devicePointer, buffers_[0]);
  EXPECT_EQ(of_device.device, 0);
  EXPECT_EQ(of_host.type, hipMemoryTypeHost);
  EXPECT_EQ(of_host.hostPointer, pinned);
  EXPECT_EQ(api().hipHostFree(pinned), hipSuccess);
}

TEST_F(OnGpu, APoolKeepsItsThresholdAndCountsItsMemory) {
  hipMemPool_t pool = nullptr;
  ASSERT_EQ(api().hipDeviceGetDefaultMemPool(&pool, 0), hipSuccess);
  std::uint64_t threshold = 1ULL << 33, told = 0, used = 1;
  ASSERT_EQ(api().hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold), hipSuccess);
  ASSERT_EQ(api().hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, &told), hipSuccess);
  EXPECT_EQ(told, threshold);
  void* memory = nullptr;
  ASSERT_EQ(api().hipMallocAsync(&memory, kBytes, stream_), hipSuccess);
  ASSERT_EQ(api().hipMemcpyAsync(memory, numbers_.data(), kBytes, hipMemcpyHostToDevice, stream_), hipSuccess);
  ASSERT_EQ(api().hipStreamSynchronize(stream_), hipSuccess);
  EXPECT_EQ(read(memory), numbers_);
  ASSERT_EQ(api().hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used), hipSuccess);
  EXPECT_GE(used, kBytes);
  ASSERT_EQ(api().hipFreeAsync(memory, stream_), hipSuccess);
  ASSERT_EQ(api().hipStreamSynchronize(stream_), hipSuccess);
  ASSERT_EQ(api().hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used), hipSuccess);
  EXPECT_EQ(used, 0U);
  threshold = 0;
  EXPECT_EQ(api().hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold), hipSuccess);
  EXPECT_EQ(api().hipMemPoolTrimTo(pool, 0), hipSuccess);
}

TEST_F(OnGpu, MappedMemoryHoldsItsBytesUntilItIsMappedAnew) {
  hipMemAllocationProp prop{};
  prop.type = hipMemAllocationTypePinned;
  prop.location = {hipMemLocationTypeDevice, 0};
  std::size_t size = 0;
  ASSERT_EQ(api().hipMemGetAllocationGranularity(&size, &prop, hipMemAllocationGranularityMinimum), hipSuccess);
  ASSERT_GT(size, kBytes);
  void* range = nullptr;
  std::array<hipMemGenericAllocationHandle_t, 2> memory{};
  ASSERT_EQ(api().hipMemAddressReserve(&range, size, 0, nullptr, 0), hipSuccess);
  const hipMemAccessDesc access{.location = prop.location, .flags = hipMemAccessFlagsProtReadWrite};
  const auto map = [&](std::size_t n) {
    ASSERT_EQ(api().hipMemMap(range, size, 0, memory[n], 0), hipSuccess);
    ASSERT_EQ(api().hipMemSetAccess(range, size, &access, 1), hipSuccess);
  };
  for (std::size_t n = 0; n < memory.size(); ++n) {
    ASSERT_EQ(api().hipMemCreate(&memory[n], size, &prop, 0), hipSuccess);
    map(n);
    ASSERT_EQ(api().hipMemset(range, static_cast<int>(n) + 1, kBytes), hipSuccess);
    ASSERT_EQ(api().hipDeviceSynchronize(), hipSuccess);
    ASSERT_EQ(api().hipMemUnmap(range, size), hipSuccess);
  }
  map(0);
  EXPECT_EQ(read(range), std::vector<std::uint64_t>(kCount, 0x0101010101010101));
  hipMemAllocationProp told{};
  EXPECT_EQ(api().hipMemGetAllocationPropertiesFromHandle(&told, memory[0]), hipSuccess);
  EXPECT_EQ(told.type, prop.type);
  EXPECT_EQ(told.location.type, prop.location.type);
  EXPECT_EQ(told.location.id, 0);
  EXPECT_EQ(api().hipMemUnmap(range, size), hipSuccess);
  for (hipMemGenericAllocationHandle_t one : memory) EXPECT_EQ(api().hipMemRelease(one), hipSuccess);
  EXPECT_EQ(api().hipMemAddressFree(range, size), hipSuccess);
}

TEST_F(OnGpu, ManagedMemoryIsSeenByTheHostAndTheDevice) {
  std::uint64_t* managed = nullptr;
  ASSERT_EQ(api().hipMallocManaged(reinterpret_cast<void**>(&managed), kBytes, hipMemAttachGlobal), hipSuccess);
  std::memcpy(managed, numbers_.data(), kBytes);
  EXPECT_EQ(api().hipMemcpy(buffers_[0], managed, kBytes, hipMemcpyDefault), hipSuccess);
  EXPECT_EQ(read(buffers_[0]), numbers_);
  EXPECT_EQ(api().hipMemset(managed, 6, kBytes), hipSuccess);
  EXPECT_EQ(api().hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(managed[kCount - 1], 0x0606060606060606U);
  hipPointerAttribute_t told{};
  EXPECT_EQ(api().hipPointerGetAttributes(&told, managed), hipSuccess);
  EXPECT_TRUE(told.isManaged);
  EXPECT_EQ(api().hipFree(managed), hipSuccess);
}

// ---- streams, events, errors

TEST_F(OnGpu, AStreamTellsItsPriorityAndFlags) {
  int least = 0, greatest = 0, told = 100;
  unsigned flags = 100;
  ASSERT_EQ(api().hipDeviceGetStreamPriorityRange(&least, &greatest), hipSuccess);
  ASSERT_LT(greatest, least) << "a smaller number is a greater priority";
  hipStream_t stream = nullptr;
  ASSERT_EQ(api().hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, greatest), hipSuccess);
  EXPECT_EQ(api().hipStreamGetPriority(stream, &told), hipSuccess);
  EXPECT_EQ(told, greatest);
  EXPECT_EQ(api().hipStreamGetFlags(stream, &flags), hipSuccess);
  EXPECT_EQ(flags, hipStreamNonBlocking);
  EXPECT_EQ(api().hipStreamDestroy(stream), hipSuccess);
}

TEST_F(OnGpu, AnEventIsReachedAndTwoHaveTimeBetweenThem) {
  std::array<hipEvent_t, 2> events{};
  for (hipEvent_t& event : events) {
    ASSERT_EQ(api().hipEventCreateWithFlags(&event, hipEventDefault), hipSuccess);
    ASSERT_EQ(api().hipEventRecord(event, stream_), hipSuccess);
    ASSERT_EQ(api().hipMemsetAsync(buffers_[0], 1, kBytes, stream_), hipSuccess);
  }
  ASSERT_EQ(api().hipStreamSynchronize(stream_), hipSuccess);
  float milliseconds = -1;
  EXPECT_EQ(api().hipEventQuery(events[1]), hipSuccess);
  EXPECT_EQ(api().hipEventElapsedTime(&milliseconds, events[0], events[1]), hipSuccess);
  EXPECT_GE(milliseconds, 0);
  for (hipEvent_t event : events) EXPECT_EQ(api().hipEventDestroy(event), hipSuccess);
}

TEST_F(OnGpu, AnErrorIsToldOnceAndToItsThreadAlone) {
  EXPECT_EQ(api().hipGraphCreate(nullptr, 0), hipErrorInvalidValue);
  hipError_t elsewhere = hipErrorUnknown;
  std::thread([&elsewhere] { elsewhere = api().hipPeekAtLastError(); }).join();
  EXPECT_EQ(elsewhere, hipSuccess);
  EXPECT_EQ(api().hipPeekAtLastError(), hipErrorInvalidValue);
  EXPECT_EQ(api().hipGetLastError(), hipErrorInvalidValue);
  EXPECT_EQ(api().hipGetLastError(), hipSuccess);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s LIBRARY [GoogleTest's options]\n", argv[0]);
    return 2;
  }
  const hip::Result<hip::LoadedApi> loaded = hip::load_api(argv[1], {.minimum_version = 1});
  if (!loaded) {
    std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
    return 2;
  }
  api() = loaded.value().api;
  int devices = 0;
  const hipError_t status = api().hipGetDeviceCount(&devices);
  if (status != hipSuccess || devices == 0) {
    std::fprintf(stderr, "%s finds no device (%s)\n  remedy: run it on a machine with a GPU and its driver\n", argv[1],
                 hip::status_name(status).c_str());
    return 2;
  }
  return RUN_ALL_TESTS();
}
