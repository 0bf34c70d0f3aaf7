// External semaphores through the C ABI: imported, signalled and awaited by streams and by nodes of graphs.
#include <fcntl.h>
#include <sys/eventfd.h>

#include <type_traits>

#include "model/abi_fixture.h"

namespace model::abi {
namespace {

// Parameters of a node: semaphores, and a value for each.
template <class Node>
struct NodeArguments {
  NodeArguments(std::vector<hipExternalSemaphore_t> which, const std::vector<std::uint64_t>& wanted)
      : semaphores(std::move(which)) {
    for (const std::uint64_t value : wanted) values.emplace_back().params.fence.value = value;
    node = {semaphores.data(), values.data(), static_cast<unsigned>(semaphores.size())};
  }
  [[nodiscard]] const Node* get() const { return &node; }

  std::vector<hipExternalSemaphore_t> semaphores;
  std::vector<std::remove_const_t<std::remove_pointer_t<decltype(Node::paramsArray)>>> values;
  Node node{};
};
using Signals = NodeArguments<hipExternalSemaphoreSignalNodeParams>;
using Waits = NodeArguments<hipExternalSemaphoreWaitNodeParams>;

struct SemaphoreTest : AbiTest {
  hipExternalSemaphore_t semaphore() {
    hipExternalSemaphoreHandleDesc handle{};
    handle.type = hipExternalSemaphoreHandleTypeTimelineSemaphoreFd;
    handle.handle.fd = eventfd(0, 0);
    hipExternalSemaphore_t made = nullptr;
    EXPECT_HIP(api.hipImportExternalSemaphore(&made, &handle));
    return made;
  }
  hipError_t signal(hipExternalSemaphore_t which, std::uint64_t value, hipStream_t on = nullptr) {
    const Signals params({{which}, {value}});
    return api.hipSignalExternalSemaphoresAsync(params.get()->extSemArray, params.get()->paramsArray, 1, on);
  }
  hipError_t wait(hipExternalSemaphore_t which, std::uint64_t value, hipStream_t on) {
    const Waits params({{which}, {value}});
    return api.hipWaitExternalSemaphoresAsync(params.get()->extSemArray, params.get()->paramsArray, 1, on);
  }
  // Whether a wait for the value ends. One that does not is a fault, so nothing may follow it.
  bool has(hipExternalSemaphore_t which, std::uint64_t value) {
    hipStream_t on = create_stream(hipStreamNonBlocking);
    EXPECT_HIP(wait(which, value, on));
    return api.hipStreamSynchronize(on) == hipSuccess;
  }
};

TEST_F(SemaphoreTest, AStreamWaitsForTheValueOrAHigherOne) {
  const hipExternalSemaphore_t flag = semaphore();
  hipStream_t first = create_stream(hipStreamNonBlocking), second = create_stream(hipStreamNonBlocking);
  void* out = allocate();
  EXPECT_HIP(wait(flag, 7, first));
  EXPECT_HIP(api.hipMemsetAsync(out, 1, 4, first));
  EXPECT_HIP(signal(flag, 6, second));
  EXPECT_EQ(api.hipStreamQuery(first), hipErrorNotReady);
  EXPECT_HIP(signal(flag, 8, second));
  EXPECT_HIP(api.hipStreamSynchronize(first));
  EXPECT_EQ(word(out), 0x01010101u);
}

TEST_F(SemaphoreTest, AWaitForWhatNobodySignalsEndsInAFault) {
  hipStream_t on = create_stream(hipStreamNonBlocking);
  EXPECT_HIP(wait(semaphore(), 1, on));
  EXPECT_EQ(api.hipStreamSynchronize(on), hipErrorLaunchTimeOut);
}

TEST_F(SemaphoreTest, AnImportTakesTheDescriptorOfATimeline) {
  hipExternalSemaphoreHandleDesc handle{};
  hipExternalSemaphore_t made = nullptr;
  const auto imported = [&](int type, int descriptor) {
    handle.type = static_cast<hipExternalSemaphoreHandleType>(type);
    handle.handle.fd = descriptor;
    return api.hipImportExternalSemaphore(&made, &handle);
  };
  const int descriptor = eventfd(0, 0);
  EXPECT_EQ(imported(hipExternalSemaphoreHandleTypeOpaqueFd, descriptor), hipErrorNotSupported);
  EXPECT_EQ(imported(0, descriptor), hipErrorInvalidValue);
  EXPECT_EQ(imported(11, descriptor), hipErrorInvalidValue);
  EXPECT_EQ(imported(hipExternalSemaphoreHandleTypeTimelineSemaphoreFd, -1), hipErrorInvalidValue);
  EXPECT_EQ(api.hipImportExternalSemaphore(nullptr, &handle), hipErrorInvalidValue);
  EXPECT_EQ(api.hipImportExternalSemaphore(&made, nullptr), hipErrorInvalidValue);
  EXPECT_NE(fcntl(descriptor, F_GETFD), -1) << "a refused import leaves the descriptor open";
  EXPECT_HIP(imported(hipExternalSemaphoreHandleTypeTimelineSemaphoreFd, descriptor));
  EXPECT_EQ(fcntl(descriptor, F_GETFD), -1) << "the semaphore owns the descriptor";
  EXPECT_HIP(api.hipDestroyExternalSemaphore(made));
  EXPECT_EQ(api.hipDestroyExternalSemaphore(made), hipErrorInvalidValue);
  EXPECT_EQ(signal(made, 1), hipErrorInvalidValue);
}

TEST_F(SemaphoreTest, NodesSignalAndWaitAndAreReadAndSet) {
  const hipExternalSemaphore_t first = semaphore(), second = semaphore();
  hipGraph_t graph = create_graph();
  hipGraphNode_t signals = nullptr, waits = nullptr;
  EXPECT_HIP(api.hipGraphAddExternalSemaphoresSignalNode(&signals, graph, nullptr, 0,
                                                         Signals({{first, second}, {3, 4}}).get()));
  EXPECT_HIP(
      api.hipGraphAddExternalSemaphoresWaitNode(&waits, graph, &signals, 1, Waits({{first, second}, {3, 4}}).get()));
  hipGraphNodeType type{};
  EXPECT_HIP(api.hipGraphNodeGetType(signals, &type));
  EXPECT_EQ(type, hipGraphNodeTypeExtSemaphoreSignal);
  EXPECT_HIP(api.hipGraphNodeGetType(waits, &type));
  EXPECT_EQ(type, hipGraphNodeTypeExtSemaphoreWait);
  hipExternalSemaphoreSignalNodeParams told{};
  EXPECT_HIP(api.hipGraphExternalSemaphoresSignalNodeGetParams(signals, &told));
  ASSERT_EQ(told.numExtSems, 2u);
  EXPECT_EQ(told.extSemArray[1], second);
  EXPECT_EQ(told.paramsArray[1].params.fence.value, 4u);
  const hipExternalSemaphoreSignalNodeParams first_told = told;
  EXPECT_HIP(api.hipGraphExternalSemaphoresSignalNodeGetParams(signals, &told));
  EXPECT_EQ(told.paramsArray, first_told.paramsArray) << "the arrays live as long as the node";
  EXPECT_EQ(api.hipGraphExternalSemaphoresSignalNodeGetParams(waits, &told), hipErrorInvalidValue);

  hipGraphExec_t exec = instantiate(graph);
  run(exec);
  EXPECT_TRUE(has(second, 4));
  EXPECT_HIP(
      api.hipGraphExecExternalSemaphoresSignalNodeSetParams(exec, signals, Signals({{second, first}, {5, 6}}).get()));
  run(exec);
  EXPECT_TRUE(has(first, 6));
  EXPECT_HIP(api.hipGraphExternalSemaphoresSignalNodeSetParams(signals, Signals({{first}, {20}}).get()));
  EXPECT_HIP(api.hipGraphExternalSemaphoresWaitNodeSetParams(waits, Waits({{first}, {20}}).get()));
  run(instantiate(graph));
  EXPECT_TRUE(has(first, 20));
  EXPECT_FALSE(has(first, 21));
}

// CUDA, cudaGraphExecUpdate: "Changing the number of semaphores is not supported."
TEST_F(SemaphoreTest, TheNumberOfSemaphoresOfAnExecutableGraphStays) {
  const hipExternalSemaphore_t first = semaphore(), second = semaphore();
  hipGraph_t graph = create_graph();
  hipGraphNode_t node = nullptr;
  EXPECT_HIP(api.hipGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, Signals({{first}, {3}}).get()));
  hipGraphExec_t exec = instantiate(graph);
  const Signals two({{first, second}, {5, 6}});
  EXPECT_EQ(api.hipGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, two.get()), hipErrorInvalidValue);
  EXPECT_EQ(api.hipGraphExecExternalSemaphoresWaitNodeSetParams(exec, node, Waits({{first}, {5}}).get()),
            hipErrorInvalidValue);
  EXPECT_HIP(api.hipGraphExternalSemaphoresSignalNodeSetParams(node, two.get()));
  hipGraphNode_t at_fault = nullptr;
  hipGraphExecUpdateResult result{};
  EXPECT_EQ(api.hipGraphExecUpdate(exec, graph, &at_fault, &result), hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, hipGraphExecUpdateErrorParametersChanged);
  EXPECT_EQ(at_fault, node);
  EXPECT_HIP(api.hipGraphExternalSemaphoresSignalNodeSetParams(node, Signals({{second}, {5}}).get()));
  EXPECT_HIP(api.hipGraphExecUpdate(exec, graph, &at_fault, &result));
  run(exec);
  EXPECT_TRUE(has(second, 5));
}

TEST_F(SemaphoreTest, TheGenericFunctionsKnowThem) {
  const hipExternalSemaphore_t flag = semaphore();
  hipGraph_t graph = create_graph();
  hipGraphNode_t node = nullptr;
  hipGraphNodeParams params{};
  params.type = hipGraphNodeTypeExtSemaphoreSignal;
  const Signals three({{flag}, {3}}), four({{flag}, {4}}), five({{flag}, {5}});
  params.extSemSignal = *three.get();
  EXPECT_HIP(api.hipGraphAddNode(&node, graph, nullptr, 0, &params));
  hipGraphExec_t exec = instantiate(graph);
  params.extSemSignal = *four.get();
  EXPECT_HIP(api.hipGraphExecNodeSetParams(exec, node, &params));
  run(exec);
  EXPECT_TRUE(has(flag, 4));
  params.extSemSignal = *five.get();
  EXPECT_HIP(api.hipGraphNodeSetParams(node, &params));
  run(instantiate(graph));
  EXPECT_TRUE(has(flag, 5));
}

TEST_F(SemaphoreTest, AResetForgetsThem) {
  const hipExternalSemaphore_t flag = semaphore();
  EXPECT_EQ(instance.semaphores(), 1u);
  instance.reset({});
  EXPECT_EQ(instance.semaphores(), 0u);
  EXPECT_EQ(signal(flag, 3), hipErrorInvalidValue);
}

TEST_F(SemaphoreTest, CaptureRecordsThem) {
  const hipExternalSemaphore_t flag = semaphore();
  hipStream_t on = create_stream(hipStreamNonBlocking);
  EXPECT_HIP(api.hipStreamBeginCapture(on, hipStreamCaptureModeGlobal));
  EXPECT_HIP(signal(flag, 3, on));
  EXPECT_HIP(wait(flag, 3, on));
  hipGraph_t graph = end_capture(on);
  run(instantiate(graph));
  EXPECT_TRUE(has(flag, 3));
  EXPECT_HIP(api.hipDestroyExternalSemaphore(flag));
  run(instantiate(graph));  // nodes keep their semaphores
}

}  // namespace
}  // namespace model::abi
