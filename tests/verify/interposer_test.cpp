// The interposer: counts every call, fails only the chosen call, and overwrites passed arguments after a call.
//
// Most tests put it around a fake table that keeps its arguments, as a runtime that breaks P1 would.
#include "verify/execute/interposer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace verify {
namespace {

// The parameters of the last call of the fake table. A runtime must not keep any of these pointers.
struct Kept {
  int calls = 0;
  const void* params = nullptr;
  const void* dependencies = nullptr;
  void** kernel_params = nullptr;
  void* first_value = nullptr;
  void** extra = nullptr;
  void* block = nullptr;
  std::uint64_t seen_value = 0;  // the first value during the call
  std::uint64_t seen_block = 0;
  std::size_t seen_count = 0;
};
Kept g_kept;

void keep_kernel(const hipKernelNodeParams* params) {
  ++g_kept.calls;
  g_kept.params = params;
  g_kept.kernel_params = params->kernelParams;
  g_kept.extra = params->extra;
  if (params->kernelParams != nullptr) {
    g_kept.first_value = params->kernelParams[0];
    std::memcpy(&g_kept.seen_value, g_kept.first_value, 8);
  }
  if (params->extra != nullptr) {
    g_kept.block = params->extra[1];
    std::memcpy(&g_kept.seen_block, g_kept.block, 8);
  }
}

// A table of functions that keep pointers. Everything that is not named here is missing.
hip::Api keeping_table() {
  hip::Api api;
  api.hipGraphAddKernelNode = [](hipGraphNode_t*, hipGraph_t, const hipGraphNode_t* dependencies, std::size_t count,
                                 const hipKernelNodeParams* params) {
    g_kept.dependencies = static_cast<const void*>(dependencies);
    g_kept.seen_count = count;
    keep_kernel(params);
    return hipSuccess;
  };
  api.hipGraphExecKernelNodeSetParams = [](hipGraphExec_t, hipGraphNode_t, const hipKernelNodeParams* params) {
    keep_kernel(params);
    return hipSuccess;
  };
  api.hipGraphMemsetNodeSetParams = [](hipGraphNode_t, const hipMemsetParams* params) {
    ++g_kept.calls;
    g_kept.params = params;
    g_kept.seen_value = params->value;
    return hipErrorInvalidValue;
  };
  api.hipGraphAddMemcpyNode = [](hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t,
                                 const hipMemcpy3DParms* params) {
    ++g_kept.calls;
    g_kept.params = params;
    return hipSuccess;
  };
  api.hipGraphLaunch = [](hipGraphExec_t, hipStream_t) {
    ++g_kept.calls;
    return hipErrorNotReady;
  };
  api.hipDeviceSynchronize = [] {
    ++g_kept.calls;
    return hipSuccess;
  };
  api.hipGraphDestroy = [](hipGraph_t) {
    ++g_kept.calls;
    return hipSuccess;
  };
  return api;
}

struct Interposing : testing::Test {
  Interposing() {
    g_kept = {};
    interposer.begin(inner, true);
  }
  const hip::Api& table() { return interposer.table(); }

  hip::Api inner = keeping_table();
  Interposer interposer;
  Interposer::Scope scope{interposer};
};

bool all_poison(const void* bytes, std::size_t size) {
  const std::span<const std::byte> view(static_cast<const std::byte*>(bytes), size);
  return std::all_of(view.begin(), view.end(), [](std::byte byte) { return byte == kPoison; });
}

TEST_F(Interposing, ForwardsACallAndItsAnswer) {
  EXPECT_EQ(table().hipGraphLaunch(nullptr, nullptr), hipErrorNotReady);
  EXPECT_EQ(g_kept.calls, 1);
}

TEST_F(Interposing, CountsEveryCallByFunction) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(table().hipGraphLaunch(nullptr, nullptr), hipErrorNotReady);
  EXPECT_EQ(table().hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(table().hipGraphDestroy(nullptr), hipSuccess);
  EXPECT_EQ(interposer.calls(), 5u);
  EXPECT_EQ(interposer.calls_of(Function::k_hipGraphLaunch), 3u);
  EXPECT_EQ(interposer.calls_of(Function::k_hipDeviceSynchronize), 1u);
  EXPECT_EQ(interposer.calls_of(Function::k_hipGraphCreate), 0u);
  EXPECT_EQ(interposer.graph_calls(), 3u);  // destroying is not counted among them
  EXPECT_EQ(interposer.fired(), 0u);
}

TEST_F(Interposing, AFunctionThatTheInnerTableLacksStaysMissing) {
  EXPECT_EQ(table().hipGraphCreate, nullptr);
  EXPECT_EQ(table().hipMalloc, nullptr);
  // The interposer also wraps these functions, to poison their parameters.
  EXPECT_EQ(table().hipGraphAddHostNode, nullptr);
  EXPECT_EQ(table().hipGraphExecMemcpyNodeSetParams, nullptr);
  EXPECT_NE(table().hipGraphAddKernelNode, nullptr);
}

TEST_F(Interposing, NoFunctionOfACompleteTableIsMissing) {
  const hip::MissingFunctions missing = hip::missing_functions(inner);
  const hip::MissingFunctions through = hip::missing_functions(table());
  EXPECT_EQ(through.required, missing.required);
  EXPECT_EQ(through.optional, missing.optional);
}

TEST_F(Interposing, TheNthCallFailsOnceAndDoesNotReachTheInnerTable) {
  interposer.fail(Function::k_hipGraphLaunch, 3);
  EXPECT_EQ(table().hipGraphLaunch(nullptr, nullptr), hipErrorNotReady);
  EXPECT_EQ(table().hipGraphLaunch(nullptr, nullptr), hipErrorNotReady);
  EXPECT_EQ(table().hipDeviceSynchronize(), hipSuccess);  // another function does not count
  EXPECT_EQ(interposer.fired(), 0u);
  EXPECT_EQ(table().hipGraphLaunch(nullptr, nullptr), kInjectedError);
  EXPECT_EQ(g_kept.calls, 3);
  EXPECT_EQ(interposer.fired(), 1u);
  EXPECT_EQ(interposer.last_fired(), Function::k_hipGraphLaunch);
  EXPECT_EQ(table().hipGraphLaunch(nullptr, nullptr), hipErrorNotReady);
  EXPECT_EQ(interposer.fired(), 1u);
}

TEST_F(Interposing, AFailingCallThatWouldBePoisonedDoesNotReachTheInnerTableEither) {
  interposer.fail(Function::k_hipGraphMemsetNodeSetParams, 1);
  hipMemsetParams params{};
  EXPECT_EQ(table().hipGraphMemsetNodeSetParams(nullptr, &params), kInjectedError);
  EXPECT_EQ(g_kept.calls, 0);
}

TEST_F(Interposing, TheNthCallOfTheGraphApiFailsWhateverItsFunctionAndDestroyingIsNeverFailed) {
  interposer.fail_any(2);
  EXPECT_EQ(table().hipGraphDestroy(nullptr), hipSuccess);
  EXPECT_EQ(table().hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(table().hipGraphLaunch(nullptr, nullptr), hipErrorNotReady);
  hipMemsetParams params{};
  EXPECT_EQ(table().hipGraphMemsetNodeSetParams(nullptr, &params), kInjectedError);
  EXPECT_EQ(table().hipGraphLaunch(nullptr, nullptr), hipErrorNotReady);
  EXPECT_EQ(interposer.fired(), 1u);
}

RC_GTEST_FIXTURE_PROP(Interposing, FailsExactlyTheCallsThatItWasToldTo, ()) {
  g_kept = {};
  interposer.begin(inner, false);
  const auto nth = *rc::gen::inRange<std::uint32_t>(1, 10);
  const int calls = *rc::gen::inRange(0, 20);
  interposer.fail(Function::k_hipGraphLaunch, nth);
  for (int i = 1; i <= calls; ++i) {
    const bool fails = static_cast<std::uint32_t>(i) == nth;
    RC_ASSERT(table().hipGraphLaunch(nullptr, nullptr) == (fails ? kInjectedError : hipErrorNotReady));
  }
  RC_ASSERT(interposer.fired() == (static_cast<std::uint32_t>(calls) >= nth ? 1u : 0u));
}

TEST_F(Interposing, BeginForgetsCountsAndFailures) {
  interposer.fail(Function::k_hipGraphLaunch, 2);
  EXPECT_EQ(table().hipGraphLaunch(nullptr, nullptr), hipErrorNotReady);
  interposer.begin(inner, true);
  EXPECT_EQ(interposer.calls(), 0u);
  EXPECT_EQ(table().hipGraphLaunch(nullptr, nullptr), hipErrorNotReady);
  EXPECT_EQ(table().hipGraphLaunch(nullptr, nullptr), hipErrorNotReady);
}

// ---- poisoning

TEST_F(Interposing, AStructThatWasPassedReadsPoisonAfterwardsAndTheCallersIsUntouched) {
  hipMemsetParams params{};
  params.value = 77;
  EXPECT_EQ(table().hipGraphMemsetNodeSetParams(nullptr, &params), hipErrorInvalidValue);
  EXPECT_EQ(g_kept.seen_value, 77u);  // the caller's value, during the call
  EXPECT_NE(g_kept.params, &params);
  EXPECT_TRUE(all_poison(g_kept.params, sizeof params));
  EXPECT_EQ(params.value, 77u);
}

TEST_F(Interposing, ThePackedBlockOfExtraReadsPoisonAfterwards) {
  std::uint64_t block[4] = {1, 2, 3, 4};
  std::size_t size = sizeof block;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  hipKernelNodeParams params{};
  params.extra = extra;
  EXPECT_EQ(table().hipGraphExecKernelNodeSetParams(nullptr, nullptr, &params), hipSuccess);
  EXPECT_EQ(g_kept.seen_block, 1u);
  EXPECT_TRUE(all_poison(g_kept.block, sizeof block));
  EXPECT_TRUE(all_poison(static_cast<const void*>(g_kept.extra), 5 * sizeof(void*)));
  EXPECT_TRUE(all_poison(g_kept.params, sizeof params));
  EXPECT_EQ(block[0], 1u);
  EXPECT_EQ(extra[1], block);
}

TEST_F(Interposing, TheValuesBehindKernelParamsReadPoisonAfterwards) {
  const KernelSpec* spec = find_kernel("axpy_u64");
  const auto function = reinterpret_cast<hipFunction_t>(std::uintptr_t{0x40});
  interposer.know_kernel(function, spec);
  std::uint64_t out = 0x1234, in = 0x5678, a = 9;
  std::uint32_t n = 5;
  void* values[] = {&out, &in, &n, &a};
  hipKernelNodeParams params{};
  params.func = function;
  params.kernelParams = values;
  EXPECT_EQ(table().hipGraphExecKernelNodeSetParams(nullptr, nullptr, &params), hipSuccess);
  EXPECT_EQ(g_kept.seen_value, 0x1234u);
  EXPECT_TRUE(all_poison(g_kept.first_value, sizeof out));
  EXPECT_TRUE(all_poison(static_cast<const void*>(g_kept.kernel_params), sizeof values));
  EXPECT_EQ(out, 0x1234u);
}

TEST_F(Interposing, TheValuesOfALaunchBySymbolReadPoisonAfterwards) {
  static void** kept = nullptr;
  static std::uint64_t seen = 0;
  inner.hipLaunchKernel = [](const void*, dim3, dim3, void** values, size_t, hipStream_t) {
    seen = *static_cast<std::uint64_t*>(values[0]);
    kept = values;
    return hipSuccess;
  };
  interposer.begin(inner, true);
  const char symbol = 0;
  interposer.know_symbol(static_cast<hipFunction_t>(static_cast<void*>(const_cast<char*>(&symbol))),
                         find_kernel("inplace_u32"));
  std::uint64_t data = 0x1234;
  std::uint32_t n = 5, k = 6;
  void* values[] = {&data, &n, &k};
  EXPECT_EQ(table().hipLaunchKernel(&symbol, dim3(1), dim3(64), values, 0, nullptr), hipSuccess);
  EXPECT_EQ(seen, 0x1234u);
  EXPECT_TRUE(all_poison(static_cast<const void*>(kept), sizeof values));
  EXPECT_EQ(data, 0x1234u);
}

TEST_F(Interposing, TheValuesOfACooperativeLaunchReadPoisonAfterwards) {
  static void** kept = nullptr;
  static std::uint64_t seen = 0;
  static const auto keep = [](void** values) {
    seen = *static_cast<std::uint64_t*>(values[0]);
    kept = values;
    return hipSuccess;
  };
  inner.hipLaunchCooperativeKernel = [](const void*, dim3, dim3, void** values, unsigned, hipStream_t) {
    return keep(values);
  };
  inner.hipModuleLaunchCooperativeKernel = [](hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                              unsigned, hipStream_t, void** values) { return keep(values); };
  interposer.begin(inner, true);
  char symbol = 0;
  const auto function = static_cast<hipFunction_t>(static_cast<void*>(&symbol));
  interposer.know_symbol(function, find_kernel("inplace_u32"));
  std::uint64_t data = 0x1234;
  std::uint32_t n = 5, k = 6;
  void* values[] = {&data, &n, &k};
  for (const bool by_symbol : {true, false}) {
    seen = 0;
    EXPECT_EQ(by_symbol ? table().hipLaunchCooperativeKernel(&symbol, dim3(1), dim3(64), values, 0, nullptr)
                        : table().hipModuleLaunchCooperativeKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, values),
              hipSuccess);
    EXPECT_EQ(seen, 0x1234u);
    EXPECT_TRUE(all_poison(static_cast<const void*>(kept), sizeof values));
    EXPECT_EQ(data, 0x1234u);
  }
}

TEST_F(Interposing, TheDependenciesOfANewNodeReadPoisonAfterwards) {
  const auto handle = [](std::uintptr_t value) { return reinterpret_cast<hipGraphNode_t>(value); };
  const hipGraphNode_t dependencies[] = {handle(1), handle(2)};
  hipKernelNodeParams params{};
  hipGraphNode_t node = nullptr;
  EXPECT_EQ(table().hipGraphAddKernelNode(&node, nullptr, dependencies, 2, &params), hipSuccess);
  EXPECT_EQ(g_kept.seen_count, 2u);
  EXPECT_TRUE(all_poison(g_kept.dependencies, sizeof dependencies));
  EXPECT_EQ(dependencies[1], handle(2));
}

TEST_F(Interposing, WhatWasPassedStaysReadableUntilTheNextBegin) {
  std::vector<const void*> kept;
  hipMemcpy3DParms params{};
  hipGraphNode_t node = nullptr;
  for (int i = 0; i < 2000; ++i) {  // more than a chunk holds
    EXPECT_EQ(table().hipGraphAddMemcpyNode(&node, nullptr, nullptr, 0, &params), hipSuccess);
    kept.push_back(g_kept.params);
  }
  for (const void* one : kept) EXPECT_TRUE(all_poison(one, sizeof params));
}

TEST_F(Interposing, WithoutPoisoningTheCallersOwnMemoryIsPassed) {
  interposer.begin(inner, false);
  hipMemsetParams params{};
  EXPECT_EQ(table().hipGraphMemsetNodeSetParams(nullptr, &params), hipErrorInvalidValue);
  EXPECT_EQ(g_kept.params, &params);
}

TEST_F(Interposing, NullParametersArePassedAsTheyAre) {
  hip::Api strict = keeping_table();
  strict.hipGraphMemsetNodeSetParams = [](hipGraphNode_t, const hipMemsetParams* params) {
    return params == nullptr ? hipErrorInvalidValue : hipSuccess;
  };
  interposer.begin(strict, true);
  EXPECT_EQ(table().hipGraphMemsetNodeSetParams(nullptr, nullptr), hipErrorInvalidValue);
}

// ---- names and scopes

TEST(Interposer, EveryFunctionIsFoundByItsName) {
  for (std::size_t i = 0; i < kFunctions; ++i) {
    const auto function = static_cast<Function>(i);
    EXPECT_EQ(find_function(function_name(function)), function);
  }
  EXPECT_FALSE(find_function("hipNoSuchFunction"));
  EXPECT_FALSE(find_function(""));
}

TEST(Interposer, ScopesNest) {
  const hip::Api inner = keeping_table();
  Interposer outer, nested;
  outer.begin(inner, false);
  nested.begin(inner, false);
  const Interposer::Scope in_outer(outer);
  {
    const Interposer::Scope in_nested(nested);
    EXPECT_EQ(nested.table().hipDeviceSynchronize(), hipSuccess);
  }
  EXPECT_EQ(outer.table().hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(outer.table().hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(nested.calls(), 1u);
  EXPECT_EQ(outer.calls(), 2u);
}

// ---- threads that take turns

struct CountedTurn final : Interposer::Turn {
  void leave() override { EXPECT_TRUE(std::exchange(has_turn, false)); }
  void enter() override { EXPECT_FALSE(std::exchange(has_turn, true)); }
  static inline bool has_turn = true;
};

TEST_F(Interposing, AThreadThatTakesTurnsLeavesItsTurnForEachCall) {
  inner.hipDeviceSynchronize = [] { return CountedTurn::has_turn ? hipErrorNotReady : hipSuccess; };
  EXPECT_EQ(table().hipDeviceSynchronize(), hipErrorNotReady);
  CountedTurn turn;
  const Interposer::Scope scope(interposer, &turn);
  EXPECT_EQ(table().hipDeviceSynchronize(), hipSuccess);
  EXPECT_TRUE(CountedTurn::has_turn);
}

// The call of another thread ends while this thread is still in a call.
TEST_F(Interposing, ACallOfAnotherThreadPoisonsNoArgumentsOfThisOne) {
  static Interposer* both = nullptr;
  both = &interposer;
  inner.hipGraphHostNodeSetParams = [](hipGraphNode_t, const hipHostNodeParams* params) {
    hipMemsetParams other{};
    const Interposer::Scope scope(*both);
    EXPECT_EQ(both->table().hipGraphMemsetNodeSetParams(nullptr, &other), hipSuccess);
    EXPECT_FALSE(all_poison(params, sizeof *params));
    return hipSuccess;
  };
  inner.hipGraphMemsetNodeSetParams = [](hipGraphNode_t, const hipMemsetParams*) { return hipSuccess; };
  interposer.begin(inner, true);
  CountedTurn turn;
  const Interposer::Scope scope(interposer, &turn);
  const hipHostNodeParams params{};
  EXPECT_EQ(table().hipGraphHostNodeSetParams(nullptr, &params), hipSuccess);
}

}  // namespace
}  // namespace verify
