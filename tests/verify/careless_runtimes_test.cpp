// Runtimes whose refused calls change something, or whose outcome is none of the allowed ones, are found.
#include <gtest/gtest.h>

#include "verify/error_machine.h"
#include "verify/errors/error_calls.h"

namespace verify {
namespace {

// Runtimes that refuse a call as documented, and change something.
struct Careless {
  std::string_view function, name;
  void (*spoil)(hip::Api& api);
  std::string_view changed;
};
hipError_t refused_before(hipError_t status) {  // and every call after it
  static bool refused = false;
  refused = refused || status != hipSuccess;
  return refused ? hipErrorInvalidValue : hipSuccess;
}
constexpr Careless kCareless[] = {
    {"hipGraphAddDependencies", "second-of-two-is-foreign",
     [](hip::Api& api) {
       api.hipGraphAddDependencies = [](hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                        std::size_t count) {
         hipError_t status = hipSuccess;
         for (std::size_t i = 0; i < count && status == hipSuccess; ++i)
           status = Machine::api().hipGraphAddDependencies(graph, from + i, to + i, 1);
         return status;
       };
     },
     "the edges of the graph"},
    {"hipGraphAddEmptyNode", "null-dependency",
     [](hip::Api& api) {
       api.hipGraphAddEmptyNode = [](hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* list,
                                     std::size_t count) {
         const hipError_t status = Machine::api().hipGraphAddEmptyNode(node, graph, list, count);
         if (status != hipSuccess && list != nullptr && list[0] != nullptr)
           static_cast<void>(Machine::api().hipGraphAddEmptyNode(node, graph, nullptr, 0));
         return status;
       };
     },
     "the nodes of the graph"},
    {"hipStreamBeginCapture", "twice",
     [](hip::Api& api) {
       api.hipStreamBeginCapture = [](hipStream_t stream, hipStreamCaptureMode mode) {
         const hipError_t status = Machine::api().hipStreamBeginCapture(stream, mode);
         hipGraph_t graph = nullptr;
         if (status != hipSuccess && Machine::api().hipStreamEndCapture(stream, &graph) == hipSuccess)
           static_cast<void>(Machine::api().hipGraphDestroy(graph));
         return status;
       };
     },
     "the capture status of the stream"},
    {"hipUserObjectRetain", "no-references",
     [](hip::Api& api) {
       api.hipUserObjectRetain = [](hipUserObject_t object, unsigned count) {
         if (count == 0) static_cast<void>(Machine::api().hipUserObjectRetain(object, 1));
         return Machine::api().hipUserObjectRetain(object, count);
       };
     },
     "the count of the user object"},
    {"hipGraphKernelNodeSetParams", "empty-grid",
     [](hip::Api& api) {
       api.hipGraphKernelNodeSetParams = [](hipGraphNode_t node, const hipKernelNodeParams* params) {
         return refused_before(Machine::api().hipGraphKernelNodeSetParams(node, params));
       };
     },
     "the valid call after it, which answers hipErrorInvalidValue"},
    {"hipGraphExecMemsetNodeSetParams", "no-width",
     [](hip::Api& api) {
       api.hipGraphExecMemsetNodeSetParams = [](hipGraphExec_t exec, hipGraphNode_t node,
                                                const hipMemsetParams* params) {
         const hipError_t status = Machine::api().hipGraphExecMemsetNodeSetParams(exec, node, params);
         if (status == hipSuccess || params == nullptr) return status;
         hipMemsetParams stored = *params;
         stored.width = 1;
         static_cast<void>(Machine::api().hipGraphExecMemsetNodeSetParams(exec, node, &stored));
         return status;
       };
     },
     "the executable graph does not launch right"},
    {"hipMemcpyPeer", "no-such-dst-device",
     [](hip::Api& api) {
       api.hipMemcpyPeer = [](void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
         const hipError_t status = Machine::api().hipMemcpyPeer(to, to_device, from, from_device, bytes);
         if (status != hipSuccess) static_cast<void>(Machine::api().hipMemcpyPeer(to, 0, from, 0, bytes));
         return status;
       };
     },
     "the bytes of a"},
    {"hipGraphNodeSetEnabled", "empty-node",
     [](hip::Api& api) {
       api.hipGraphNodeSetEnabled = [](hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled) {
         const hipError_t status = Machine::api().hipGraphNodeSetEnabled(exec, node, enabled);
         hipGraphNode_t next = nullptr;
         std::size_t count = 1;
         if (status != hipSuccess && Machine::api().hipGraphNodeGetDependentNodes(node, &next, &count) == hipSuccess)
           static_cast<void>(Machine::api().hipGraphNodeSetEnabled(exec, next, enabled));
         return status;
       };
     },
     "whether node 1 of the instance of the graph is enabled"},
    {"hipSetDevice", "no-such-device",
     [](hip::Api& api) {
       api.hipSetDevice = [](int device) {
         hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
         if (device != 0) static_cast<void>(Machine::api().hipThreadExchangeStreamCaptureMode(&mode));
         return Machine::api().hipSetDevice(device);
       };
     },
     "the capture mode of the thread"},
};

TEST(ErrorCases, AStateThatARefusedCallChangesIsSeen) {
  for (const Careless& careless : kCareless) {
    Machine machine;
    hip::Api api = Machine::api();
    careless.spoil(api);
    const ErrorCase* error_case = find_error_case(careless.function, careless.name);
    ASSERT_NE(error_case, nullptr) << careless.function;
    EXPECT_EQ(answer_error_case(api, machine.kernel(), machine.variable(), kCode, *error_case).changed,
              careless.changed)
        << careless.function;
  }
}

// Runtimes whose outcome of an open case is not allowed.
hipError_t set_line(hipGraphExec_t exec, hipGraphNode_t node, void* to, const void* from, std::size_t bytes) {
  return Machine::api().hipGraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, hipMemcpyDeviceToDevice);
}
constexpr Careless kWrongOutcomes[] = {
    {"hipGraphExecMemcpyNodeSetParams", "one-row-for-a-linear-copy",
     [](hip::Api& api) { api.hipGraphExecMemcpyNodeSetParams = [](auto...) { return hipSuccess; }; },
     "success, and then no effect"},
    {"hipGraphExecMemcpyNodeSetParams", "late-node-after-a-launch",
     [](hip::Api& api) { api.hipGraphExecMemcpyNodeSetParams = [](auto...) { return hipSuccess; }; },
     "success, and then no effect"},
    {"hipGraphExecMemcpyNodeSetParams", "rows-for-a-linear-copy-after-a-launch",
     [](hip::Api& api) {
       api.hipGraphExecMemcpyNodeSetParams = [](hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms* p) {
         return set_line(exec, node, p->dstPtr.ptr, p->srcPtr.ptr, p->extent.width);  // the first row alone
       };
     },
     "success, and then a part of the effect, or another one"},
    {"hipGraphExecMemcpyNodeSetParams", "rows-for-a-linear-copy",
     [](hip::Api& api) {
       api.hipGraphExecMemcpyNodeSetParams = [](hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms* p) {
         static_cast<void>(set_line(exec, node, p->dstPtr.ptr, p->srcPtr.ptr, p->extent.width));
         return Machine::api().hipGraphExecMemcpyNodeSetParams(exec, node, nullptr);
       };
     },
     "refused, and then other bytes"},
    {"hipGraphExecUpdate", "a-linear-copy-for-a-copy-to-a-symbol",
     [](hip::Api& api) { api.hipGraphExecUpdate = [](auto...) { return hipSuccess; }; }, "success, and then no effect"},
    {"hipGraphExecMemcpyNodeSetParamsToSymbol", "a-linear-copy-after-a-launch",
     [](hip::Api& api) {
       api.hipGraphExecMemcpyNodeSetParamsToSymbol = [](hipGraphExec_t exec, hipGraphNode_t node, const void* symbol,
                                                        const void* from, std::size_t, auto... others) {
         return Machine::api().hipGraphExecMemcpyNodeSetParamsToSymbol(exec, node, symbol, from, 8, others...);
       };
     },
     "success, and then a part of the effect, or another one"},
    {"hipGraphAddMemcpyNode", "no-height",
     [](hip::Api& api) {
       api.hipGraphAddMemcpyNode = [](hipGraphNode_t* node, hipGraph_t graph, auto... others) {
         static_cast<void>(Machine::api().hipGraphAddEmptyNode(node, graph, nullptr, 0));
         return Machine::api().hipGraphAddMemcpyNode(nullptr, graph, others...);
       };
     },
     "refused, and changed the nodes of the graph"},
    {"hipMemcpyAsync", "no-bytes",
     [](hip::Api& api) {
       api.hipMemcpyAsync = [](void* to, const void* from, std::size_t, hipMemcpyKind kind, hipStream_t stream) {
         return Machine::api().hipMemcpyAsync(to, from, 1, kind, stream);
       };
     },
     "success, and then a part of the effect, or another one"},
    {"hipMemcpyAsync", "no-bytes-in-a-capture",
     [](hip::Api& api) {
       api.hipMemcpyAsync = [](void* to, const void* from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
         if (bytes != 0) return Machine::api().hipMemcpyAsync(to, from, bytes, kind, stream);
         static_cast<void>(Machine::api().hipMemcpyAsync(to, from, 1, kind, stream));
         return Machine::api().hipMemcpyAsync(nullptr, nullptr, 1, kind, stream);
       };
     },
     "hipErrorInvalidValue, and a capture whose nodes are not those of the other work"},
    {"hipGraphAddMemFreeNode", "memory-of-another-graph",
     [](hip::Api& api) {
       api.hipGraphAddMemFreeNode = [](hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after,
                                       std::size_t count, void* memory) {
         if (count != 0) return Machine::api().hipGraphAddMemFreeNode(node, graph, after, count, memory);
         static_cast<void>(Machine::api().hipGraphAddEmptyNode(node, graph, nullptr, 0));
         return Machine::api().hipGraphAddMemFreeNode(nullptr, graph, nullptr, 0, memory);
       };
     },
     "refused, and changed the nodes of graph 1"},
    {"hipMemcpyAsync", "no-bytes-in-a-capture",
     [](hip::Api& api) {
       api.hipMemcpyAsync = [](void* to, const void* from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
         hipGraph_t graph = nullptr;
         if (bytes != 0) return Machine::api().hipMemcpyAsync(to, from, bytes, kind, stream);
         if (Machine::api().hipStreamEndCapture(stream, &graph) == hipSuccess)
           static_cast<void>(Machine::api().hipGraphDestroy(graph));
         return hipErrorInvalidValue;
       };
     },
     "hipErrorInvalidValue, and a capture that ends with hipErrorIllegalState"},
    {"hipMemset2DAsync", "no-width",
     [](hip::Api& api) { api.hipMemset2DAsync = [](auto...) { return hipErrorUnknown; }; },
     "refused with hipErrorUnknown"},
    {"hipMemset2DAsync", "no-height",
     [](hip::Api& api) { api.hipMemset2DAsync = [](auto...) { return hipErrorInvalidValue; }; },
     "hipErrorInvalidValue, and the last error is hipSuccess"},
    {"hipGraphAddMemFreeNode", "memory-of-another-graph",
     [](hip::Api& api) {
       api.hipGraphAddMemFreeNode = [](hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t*, std::size_t,
                                       void*) { return Machine::api().hipGraphAddEmptyNode(node, graph, nullptr, 0); };
     },
     "success, and then memory that stays in use"},
};

TEST(ErrorCases, ACaseOfACopyToASymbolNeedsAVariable) {
  Machine machine;
  const ErrorCase& error_case = *find_error_case("hipGraphExecUpdate", "rows-for-a-copy-to-a-symbol");
  const auto kind_with = [&](const hip::Api& api, const void* variable) {
    return answer_error_case(api, machine.kernel(), variable, nullptr, error_case).kind;
  };
  hip::Api api = Machine::api();
  EXPECT_EQ(kind_with(api, machine.variable()), ErrorAnswer::Kind::kJudged);
  EXPECT_EQ(kind_with(api, nullptr), ErrorAnswer::Kind::kUnsupported);
  api.hipGetSymbolAddress = nullptr;
  EXPECT_EQ(kind_with(api, machine.variable()), ErrorAnswer::Kind::kUnsupported);
}

TEST(ErrorCases, AnOutcomeThatIsNotAllowedIsSeen) {
  for (const Careless& careless : kWrongOutcomes) {
    Machine machine;
    hip::Api api = Machine::api();
    careless.spoil(api);
    const ErrorCase* error_case = find_error_case(careless.function, careless.name);
    ASSERT_NE(error_case, nullptr) << careless.function << " " << careless.name;
    const ErrorAnswer answer = answer_error_case(api, machine.kernel(), machine.variable(), nullptr, *error_case);
    EXPECT_EQ(describe(answer), careless.changed) << careless.function << " " << careless.name;
  }
}

TEST(ErrorCases, ACaseOfMemoryNodesNeedsThem) {
  Machine machine;
  hip::Api api = Machine::api();
  api.hipGraphAddMemFreeNode = nullptr;
  EXPECT_EQ(answer_error_case(api, machine.kernel(), nullptr, nullptr,
                              *find_error_case("hipGraphExecUpdate", "the-same-memory-nodes"))
                .kind,
            ErrorAnswer::Kind::kUnsupported);
}

TEST(ErrorCases, AChildThatAllocatesNeedsNodesThatAllocateAndFree) {
  Machine machine;
  const auto kind_with = [&](const hip::Api& api) {
    return answer_error_case(api, machine.kernel(), nullptr, nullptr,
                             *find_error_case("hipGraphAddChildGraphNode", "child-that-allocates"))
        .kind;
  };
  hip::Api api = Machine::api();
  EXPECT_EQ(kind_with(api), ErrorAnswer::Kind::kAnswered);
  api.hipGraphAddMemFreeNode = nullptr;
  EXPECT_EQ(kind_with(api), ErrorAnswer::Kind::kUnsupported);
}

}  // namespace
}  // namespace verify
