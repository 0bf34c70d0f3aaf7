// Copies to and from symbols, and attributes of kernel nodes: the calls that reach HIP, noted by a table of functions.
#include "hip/symbol_nodes.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "hip/kernel_attributes.h"

namespace {

struct Call {
  std::string name;
  const void* symbol = nullptr;
  const void* memory = nullptr;
  std::size_t bytes = 0, offset = 0;
  hipMemcpyKind kind = hipMemcpyDefault;
  bool operator==(const Call&) const = default;
};
std::vector<Call> calls;
std::vector<std::pair<int, int>> attributes_set;

hip::Api noting() {
  calls.clear();
  attributes_set.clear();
  hip::Api api;
  api.hipGraphAddMemcpyNodeToSymbol = [](hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t, const void* symbol,
                                         const void* src, size_t bytes, size_t offset, hipMemcpyKind kind) {
    calls.push_back({"add to", symbol, src, bytes, offset, kind});
    return hipSuccess;
  };
  api.hipGraphAddMemcpyNodeFromSymbol = [](hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t, void* dst,
                                           const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind) {
    calls.push_back({"add from", symbol, dst, bytes, offset, kind});
    return hipSuccess;
  };
  api.hipGraphExecMemcpyNodeSetParamsToSymbol = [](hipGraphExec_t, hipGraphNode_t, const void* symbol, const void* src,
                                                   size_t bytes, size_t offset, hipMemcpyKind kind) {
    calls.push_back({"set exec to", symbol, src, bytes, offset, kind});
    return hipSuccess;
  };
  api.hipGraphExecMemcpyNodeSetParamsFromSymbol = [](hipGraphExec_t, hipGraphNode_t, void* dst, const void* symbol,
                                                     size_t bytes, size_t offset, hipMemcpyKind kind) {
    calls.push_back({"set exec from", symbol, dst, bytes, offset, kind});
    return hipSuccess;
  };
  api.hipGraphMemcpyNodeSetParamsToSymbol = [](hipGraphNode_t, const void* symbol, const void* src, size_t bytes,
                                               size_t offset, hipMemcpyKind kind) {
    calls.push_back({"set to", symbol, src, bytes, offset, kind});
    return hipSuccess;
  };
  api.hipGraphMemcpyNodeSetParamsFromSymbol = [](hipGraphNode_t, void* dst, const void* symbol, size_t bytes,
                                                 size_t offset, hipMemcpyKind kind) {
    calls.push_back({"set from", symbol, dst, bytes, offset, kind});
    return hipSuccess;
  };
  api.hipGraphKernelNodeSetAttribute = [](hipGraphNode_t, hipLaunchAttributeID id,
                                          const hipLaunchAttributeValue* value) {
    attributes_set.emplace_back(id, id == hipLaunchAttributePriority ? value->priority : value->cooperative);
    return hipSuccess;
  };
  return api;
}

char variable, device[64];

hip::CopyRecord copy(bool to) {
  hip::CopyRecord record;
  record.linear = true;
  record.params.dstPtr.ptr = to ? static_cast<void*>(&variable) : device;
  record.params.srcPtr.ptr = to ? static_cast<void*>(device) : &variable;
  record.params.extent = {24, 1, 1};
  record.params.kind = hipMemcpyDeviceToDevice;
  record.symbol = {&variable, 40, to};
  return record;
}

Call expected(const char* name) {
  return {name, &variable, device, 24, 40, hipMemcpyDeviceToDevice};
}

TEST(SymbolNodes, EachDirectionHasItsOwnFunctionWithTheSymbolItsOffsetAndTheOtherEnd) {
  const hip::Api api = noting();
  auto* exec = reinterpret_cast<hipGraphExec_t>(&variable);
  for (const bool to : {true, false}) {
    EXPECT_TRUE(hip::add_symbol_node(api, nullptr, copy(to), {}).ok());
    EXPECT_EQ(hip::call_symbol_setter(api, exec, nullptr, copy(to)), hipSuccess);
    EXPECT_EQ(hip::call_symbol_setter(api, nullptr, nullptr, copy(to)), hipSuccess);
  }
  EXPECT_EQ(calls, (std::vector<Call>{expected("add to"), expected("set exec to"), expected("set to"),
                                      expected("add from"), expected("set exec from"), expected("set from")}));
}

TEST(SymbolNodes, ARecordedSymbolCopyIsAddedThroughThem) {
  hip::NodeExtras extras;
  const hip::Api api = noting();
  hip::RecordedNode node{copy(true), {}, {{hip::Field::kCopySource, 0, 0, 8}}};
  EXPECT_EQ(hip::flaw_of(node, 0), nullptr);
  const std::vector<hip::DeviceAddress> addresses = {reinterpret_cast<std::uintptr_t>(device)};
  EXPECT_TRUE(hip::record_node(api, nullptr, node, {}, addresses, extras).ok());
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].memory, device + 8);
}

TEST(SymbolNodes, TheDeviceOfTheVariableIsCurrentWhileTheCopyIsRecorded) {
  static int current = 1, seen = -1;
  hip::Api api = noting();
  api.hipGetDevice = [](int* device) { return *device = current, hipSuccess; };
  api.hipSetDevice = [](int device) { return current = device, hipSuccess; };
  api.hipGraphAddMemcpyNodeToSymbol = [](hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t, const void*,
                                         const void*, size_t, size_t,
                                         hipMemcpyKind) { return seen = current, hipSuccess; };
  for (const std::optional<int> owner : {std::optional(0), std::optional<int>()}) {
    hip::CopyRecord record = copy(true);
    record.symbol.device = owner;
    hip::NodeExtras extras;
    EXPECT_TRUE(hip::record_node(api, nullptr, {record, {}, {}}, {}, {}, extras).ok());
    EXPECT_EQ(seen, owner.value_or(1));
    EXPECT_EQ(current, 1);
  }
}

TEST(SymbolNodes, ARelocationOfTheSymbolsEndIsAFlaw) {
  hip::RecordedNode node{copy(true), {}, {{hip::Field::kCopyDestination, 0, 0, 0}}};
  EXPECT_NE(hip::flaw_of(node, 0), nullptr);
  node = {copy(false), {}, {{hip::Field::kCopySource, 0, 0, 0}}};
  EXPECT_NE(hip::flaw_of(node, 0), nullptr);
  hip::CopyRecord wide = copy(true);
  wide.linear = false;
  EXPECT_NE(hip::flaw_of({wide, {}, {}}, 0), nullptr);
}

TEST(SymbolNodes, AMissingFunctionIsAnErrorThatNamesIt) {
  hip::Api api = noting();
  api.hipGraphAddMemcpyNodeFromSymbol = nullptr;
  api.hipGraphMemcpyNodeSetParamsToSymbol = nullptr;
  const auto added = hip::add_symbol_node(api, nullptr, copy(false), {});
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, hipErrorNotSupported);
  EXPECT_NE(added.error().message.find("hipGraphAddMemcpyNodeFromSymbol"), std::string::npos);
  EXPECT_EQ(hip::call_symbol_setter(api, nullptr, nullptr, copy(true)), hipErrorNotSupported);
}

TEST(KernelAttributes, ThoseThatAreGivenAreSetAndNoOthers) {
  const hip::Api api = noting();
  EXPECT_TRUE(hip::set_attributes(api, nullptr, {}).ok());
  EXPECT_TRUE(attributes_set.empty());
  EXPECT_TRUE(hip::set_attributes(api, nullptr, {-1, true, {}}).ok());
  EXPECT_EQ(attributes_set,
            (std::vector<std::pair<int, int>>{{hipLaunchAttributeCooperative, 1}, {hipLaunchAttributePriority, -1}}));
  hip::Api without = api;
  without.hipGraphKernelNodeSetAttribute = nullptr;
  EXPECT_TRUE(hip::set_attributes(without, nullptr, {}).ok());
  EXPECT_FALSE(hip::set_attributes(without, nullptr, {1, {}, {}}).ok());
}

}  // namespace
