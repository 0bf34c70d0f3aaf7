// Every documented error, row by row, on the model: the status, the answer of hipGetLastError afterwards, and the
// unchanged state. And the rows themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/abi/in_process.h"
#include "verify/errors/error_calls.h"
#include "verify/errors/open_calls.h"
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
#include "hip/kernels/device_kernels.h"
#endif

namespace verify {
namespace {

using model::NodeView;

#ifdef HGCHECK_HAVE_DEVICE_KERNELS
const void* const kCode = hg::device_code_object().data();
#else
const void* const kCode = nullptr;
#endif

// A graph by value.
struct Picture {
  model::NodeType type;
  model::NodeParams params;
  std::vector<std::uint32_t> dependencies;
  std::vector<Picture> children;
  model::ObjectId id;
  bool enabled;
  bool operator==(const Picture&) const = default;
};
std::vector<Picture> picture(const std::vector<NodeView>& views) {
  std::vector<Picture> all;
  for (const NodeView& view : views) {
    all.push_back({view.type, *view.params, view.dependencies, picture(view.children), view.id, view.enabled});
  }
  return all;
}

// A model with a kernel of the scene's signature.
class Machine {
 public:
  Machine() : instance_(options()), active_(instance_) {
    model::Kernel kernel;
    kernel.name = "count_only";
    kernel.signature = {17,
                        {{0, 4, model::ArgumentKind::kValue},
                         {8, 8, model::ArgumentKind::kValue},
                         {16, 1, model::ArgumentKind::kValue}}};
    kernel.semantics = [](std::span<const std::byte>, const model::LaunchShape&, model::MemoryAccess&) {};
    const hipModule_t module = instance_.add_module({kernel});
    EXPECT_EQ(api().hipModuleGetFunction(&kernel_, module, "count_only"), hipSuccess);
    instance_.add_variable(&variable_, ErrorScene::kSymbolBytes);
  }
  [[nodiscard]] static const hip::Api& api() { return model::abi::InProcess::api(); }
  [[nodiscard]] hipFunction_t kernel() const { return kernel_; }
  [[nodiscard]] const void* variable() const { return &variable_; }
  // Without the variable's memory, which it keeps.
  [[nodiscard]] model::LiveHandles live() {
    model::LiveHandles handles = instance_.runtime().live_handles();
    handles.allocations -= instance_.variables_in_memory();
    handles.bytes -= instance_.variables_in_memory() * ErrorScene::kSymbolBytes;
    return handles;
  }
  [[nodiscard]] std::vector<Picture> look(hipGraph_t graph) {
    const model::Graph* found = instance_.graph(graph);
    return found == nullptr ? std::vector<Picture>{} : picture(model::inspect(*found));
  }
  [[nodiscard]] std::vector<Picture> look(hipGraphExec_t exec) {
    const model::GraphExec* found = instance_.exec(exec);
    return found == nullptr ? std::vector<Picture>{} : picture(found->inspect());
  }

 private:
  static model::abi::InProcessOptions options() {
    model::abi::InProcessOptions chosen;
    chosen.model.memory.unknown_is_host = true;
    return chosen;
  }
  model::abi::InProcess instance_;
  model::abi::Activate active_;
  hipFunction_t kernel_ = nullptr;
  char variable_ = 0;
};

// All state that a call could have changed.
struct Everything {
  Everything(Machine& machine, const ErrorScene& scene)
      : live(machine.live()),
        graph(machine.look(scene.graph)),
        other(machine.look(scene.other)),
        leaf(machine.look(scene.leaf)),
        symbols(machine.look(scene.symbol_graph)),
        exec(machine.look(scene.exec)),
        symbol_exec(machine.look(scene.symbol_exec)) {}
  model::LiveHandles live;
  std::vector<Picture> graph, other, leaf, symbols, exec, symbol_exec;
  bool operator==(const Everything&) const = default;
};

class BadInput : public testing::TestWithParam<ErrorCase> {};

TEST_P(BadInput, GivesItsDocumentedErrorAndLeavesStateUnchanged) {
  Machine machine;
  const ErrorCall* call = find_error_call(GetParam());
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(static_cast<int>(call->expected), GetParam().expected);
  ASSERT_TRUE(call->exists(machine.api())) << "the model lacks " << GetParam().function;
  {
    ErrorScene scene(machine.api(), machine.kernel(), machine.variable(), needs_code(GetParam()) ? kCode : nullptr);
    ASSERT_EQ(scene.prepared(), hipSuccess);
    const Everything before(machine, scene);
    EXPECT_EQ(machine.api().hipGetLastError(), hipSuccess);
    EXPECT_EQ(hip::status_name(call->make(scene)), hip::status_name(call->expected)) << GetParam().source;
    EXPECT_EQ(machine.api().hipGetLastError(), call->expected);
    EXPECT_EQ(machine.api().hipGetLastError(), hipSuccess);
    EXPECT_TRUE(Everything(machine, scene) == before) << "something changed";
    EXPECT_EQ(machine.api().hipGraphLaunch(scene.exec, scene.stream), hipSuccess);
    EXPECT_EQ(machine.api().hipStreamSynchronize(scene.stream), hipSuccess);
  }
  const ErrorAnswer answer = answer_error_case(machine.api(), machine.kernel(), machine.variable(), kCode, GetParam());
  EXPECT_EQ(answer.kind, ErrorAnswer::Kind::kAnswered);
  EXPECT_EQ(hip::status_name(answer.status), hip::status_name(call->expected));
  EXPECT_EQ(answer.changed, "");
  model::LiveHandles left;
  left.modules = 1;
  EXPECT_TRUE(machine.live() == left) << "something is left";
}

// null-graph of hipGraphCreate: hipGraphCreate_NullGraph.
std::string test_name(const testing::TestParamInfo<ErrorCase>& info) {
  std::string name = std::string(info.param.function) + "_";
  bool start = true;
  for (const char c : info.param.name) {
    if (c == '-') {
      start = true;
      continue;
    }
    name += start ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    start = false;
  }
  return name;
}

bool model_has(const ErrorCase& one) {
  if (one.open != OpenKind::kNone) return find_open_call(one) != nullptr && find_open_call(one)->exists(Machine::api());
  const ErrorCall* call = find_error_call(one);
  return call != nullptr && call->exists(Machine::api());
}

std::vector<ErrorCase> cases_of_the_model(bool open) {
  std::vector<ErrorCase> all;
  for (const ErrorCase& one : error_cases()) {
    if (model_has(one) && (kCode != nullptr || !needs_code(one)) && (one.open != OpenKind::kNone) == open)
      all.push_back(one);
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(OnTheModel, BadInput, testing::ValuesIn(cases_of_the_model(false)), test_name);

class OpenCase : public testing::TestWithParam<ErrorCase> {};
TEST_P(OpenCase, HasAnAllowedOutcomeAndLeavesNothing) {
  Machine machine;
  const ErrorAnswer answer = answer_error_case(Machine::api(), machine.kernel(), nullptr, nullptr, GetParam());
  EXPECT_EQ(answer.kind, ErrorAnswer::Kind::kJudged);
  EXPECT_EQ(describe(answer), "an allowed outcome") << GetParam().source;
  model::LiveHandles left;
  left.modules = 1;
  EXPECT_TRUE(machine.live() == left) << "something is left";
}
INSTANTIATE_TEST_SUITE_P(OnTheModel, OpenCase, testing::ValuesIn(cases_of_the_model(true)), test_name);

TEST(ErrorCases, WhatTheModelLacksIsKnown) {
  constexpr std::string_view kLacking[] = {"AddMemAllocNode",    "AddMemFreeNode",
                                           "AllocNodeGetParams", "FreeNodeGetParams",
                                           "GraphMem",           "EventRecordNode",
                                           "EventWaitNode",      "BatchMemOp",
                                           "WaitValue",          "WriteValue",
                                           "ExternalSemaphores", "hipGraphAddNode",
                                           "NodeSetParams",      "hipGraphInstantiateWithParams"};
  for (const ErrorCase& one : error_cases()) {
    const bool known = std::any_of(std::begin(kLacking), std::end(kLacking), [&](std::string_view part) {
      return one.function.find(part) != std::string_view::npos;
    });
    EXPECT_TRUE(known || model_has(one)) << one.function;
  }
}

// Functions without a row VALID: after a refused call no valid one is made.
TEST(ErrorCases, EachFunctionHasAValidCallOrIsKnownToHaveNone) {
  static constexpr std::string_view kNone[] = {
      // The valid call destroys an object that the scene still needs.
      "hipGraphDestroy", "hipGraphDestroyNode", "hipGraphExecDestroy", "hipStreamDestroy", "hipFree",
      "hipMemPoolDestroy",
      // Getters of nodes: the snapshot calls those that it knows, and the scene makes no nodes of the other types.
      "hipGraphKernelNodeGetParams", "hipGraphKernelNodeGetAttribute", "hipGraphMemcpyNodeGetParams",
      "hipGraphMemsetNodeGetParams", "hipGraphHostNodeGetParams", "hipGraphChildGraphNodeGetGraph",
      "hipGraphEventRecordNodeGetEvent", "hipGraphEventWaitNodeGetEvent", "hipGraphBatchMemOpNodeGetParams",
      "hipDrvGraphMemcpyNodeGetParams", "hipGraphMemAllocNodeGetParams", "hipGraphMemFreeNodeGetParams",
      "hipGraphAddMemFreeNode", "hipDrvGraphAddMemFreeNode", "hipGraphAddExternalSemaphoresSignalNode",
      "hipGraphExternalSemaphoresSignalNodeGetParams", "hipGraphExternalSemaphoresSignalNodeSetParams",
      "hipGraphExecExternalSemaphoresSignalNodeSetParams", "hipGraphAddExternalSemaphoresWaitNode",
      "hipGraphExternalSemaphoresWaitNodeGetParams", "hipGraphExternalSemaphoresWaitNodeSetParams",
      "hipGraphExecExternalSemaphoresWaitNodeSetParams",
      // Not written yet: setters of nodes.
      "hipGraphKernelNodeCopyAttributes", "hipGraphNodeSetParams", "hipDrvGraphMemcpyNodeSetParams",
      "hipDrvGraphExecMemcpyNodeSetParams", "hipGraphBatchMemOpNodeSetParams",
      // Not written yet: copies, memory, streams, events and devices.
      "hipMemcpyFromSymbol", "hipMemcpyFromSymbolAsync", "hipMemcpyToSymbol", "hipMemcpyToSymbolAsync",
      "hipGetSymbolAddress", "hipGetSymbolSize", "hipDeviceGetGraphMemAttribute", "hipDeviceSetGraphMemAttribute",
      "hipDeviceGraphMemTrim", "hipMallocFromPoolAsync", "hipMemPoolCreate", "hipMemPoolTrimTo",
      "hipMemPoolSetAttribute", "hipMemPoolGetAttribute", "hipMemPoolSetAccess", "hipMemPoolGetAccess",
      "hipDeviceGetDefaultMemPool", "hipDeviceGetMemPool", "hipDeviceSetMemPool", "hipStreamBatchMemOp",
      "hipStreamWriteValue32", "hipStreamWriteValue64", "hipStreamWaitValue32", "hipStreamWaitValue64",
      "hipStreamUpdateCaptureDependencies", "hipStreamSetAttribute", "hipStreamGetAttribute", "hipStreamCopyAttributes",
      "hipEventRecordWithFlags", "hipGraphDebugDotPrint", "hipDeviceCanAccessPeer", "hipDeviceEnablePeerAccess",
      "hipDeviceDisablePeerAccess"};
  const std::set<std::string_view> none(std::begin(kNone), std::end(kNone));
  for (const ErrorCase& one : error_cases()) {
    if (find_error_call(one) == nullptr) continue;
    EXPECT_NE(has_valid_call(one.function), none.contains(one.function)) << one.function;
  }
}

TEST(ErrorCases, EachHasANameOfItsOwnAndASource) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const ErrorCase& one : error_cases()) {
    EXPECT_TRUE(seen.emplace(one.function, one.name).second) << one.function << " " << one.name;
    EXPECT_NE(one.expected, 0) << one.function << " " << one.name;
    EXPECT_FALSE(one.source.empty());
    EXPECT_EQ(find_error_case(one.function, one.name), &one);
    for (const char c : one.name) EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-') << one.name;
  }
  EXPECT_EQ(find_error_case("hipGraphCreate", "no-such-case"), nullptr);
}

#ifdef HGCHECK_HAVE_DEVICE_KERNELS
TEST(ErrorCases, WhereAModuleIsGoneEveryErrorIsTheAnswerAndALaunchMaySucceed) {
  Machine machine;
  hip::Api api = Machine::api();
  const auto answer = [&](std::string_view function) {
    return answer_error_case(api, machine.kernel(), nullptr, kCode, *find_error_case(function, "unloaded-function"))
        .status;
  };
  api.hipGraphExecUpdate = [](auto...) { return hipErrorInvalidHandle; };
  EXPECT_EQ(answer("hipGraphExecUpdate"), hipErrorGraphExecUpdateFailure);
  api.hipGraphExecUpdate = [](auto...) { return hipSuccess; };
  EXPECT_EQ(answer("hipGraphExecUpdate"), hipSuccess) << "a deviation";
  api.hipGraphExecUpdate = [](auto...) { return hipErrorLaunchFailure; };
  EXPECT_EQ(answer("hipGraphExecUpdate"), hipErrorLaunchFailure) << "the device is lost";
  api.hipGraphLaunch = [](auto...) { return hipSuccess; };
  EXPECT_EQ(answer("hipGraphLaunch"), hipErrorInvalidDeviceFunction);
}
#endif

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

TEST(ErrorCases, AnOutcomeThatIsNotAllowedIsSeen) {
  for (const Careless& careless : kWrongOutcomes) {
    Machine machine;
    hip::Api api = Machine::api();
    careless.spoil(api);
    const ErrorCase* error_case = find_error_case(careless.function, careless.name);
    ASSERT_NE(error_case, nullptr) << careless.function << " " << careless.name;
    const ErrorAnswer answer = answer_error_case(api, machine.kernel(), nullptr, nullptr, *error_case);
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

TEST(ErrorCases, ADeviationNamesACaseAndSaysSomethingElse) {
  for (const ErrorDeviation& one : error_deviations()) {
    const ErrorCase* of = find_error_case(one.function, one.name);
    ASSERT_NE(of, nullptr) << one.function << " " << one.name;
    if (of->open == OpenKind::kNone) {
      EXPECT_TRUE(of->expected != one.answer || of->expected != one.last_error);
    } else if (one.answer > 0) {
      const std::span<const hipError_t> codes = find_open_call(*of)->codes;
      const bool allowed = std::ranges::find(codes, static_cast<hipError_t>(one.answer)) != codes.end();
      EXPECT_TRUE(!allowed || one.answer != one.last_error) << one.function << " " << one.name;
    } else {
      EXPECT_NE(one.answer, hipSuccess) << one.function << " " << one.name;
    }
    EXPECT_EQ(find_error_deviation(one.release, one.function, one.name), &one);
  }
}

}  // namespace
}  // namespace verify
