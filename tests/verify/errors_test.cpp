// Every documented error, row by row, on the model: the status, the answer of hipGetLastError afterwards, and the
// unchanged state. And the rows themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "verify/error_machine.h"
#include "verify/errors/error_calls.h"
#include "verify/errors/open_calls.h"

namespace verify {
namespace {
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
  const ErrorAnswer answer =
      answer_error_case(Machine::api(), machine.kernel(), machine.variable(), nullptr, GetParam());
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
