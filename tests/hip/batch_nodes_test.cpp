// Batches of memory operations: the arrays that reach HIP, noted by a table of functions, and the flaws of records.
#include "hip/batch_nodes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

std::vector<hipBatchMemOpNodeParams> given_batches;

hip::Api noting_batches() {
  given_batches.clear();
  hip::Api api;
  api.hipCtxGetCurrent = [](hipCtx_t* context) {
    *context = reinterpret_cast<hipCtx_t>(std::uintptr_t{0x77});
    return hipSuccess;
  };
  api.hipGraphAddBatchMemOpNode = [](hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                                     const hipBatchMemOpNodeParams* params) {
    given_batches.push_back(*params);
    return hipSuccess;
  };
  api.hipGraphBatchMemOpNodeGetParams = [](hipGraphNode_t, hipBatchMemOpNodeParams* params) {
    *params = given_batches.back();
    return hipSuccess;
  };
  api.hipGraphBatchMemOpNodeSetParams = [](hipGraphNode_t, hipBatchMemOpNodeParams* params) {
    given_batches.push_back(*params);
    return hipSuccess;
  };
  api.hipGraphExecBatchMemOpNodeSetParams = [](hipGraphExec_t, hipGraphNode_t, const hipBatchMemOpNodeParams* params) {
    given_batches.push_back(*params);
    return hipErrorInvalidValue;
  };
  return api;
}

hip::BatchRecord two_operations() {
  using Comparison = hip::MemoryOperation::Comparison;
  return {{{false, 8, 0x1000, 5, Comparison::kAtLeast}, {true, 4, 0x2000, 6, Comparison::kNor}}};
}

TEST(BatchNodes, OperationsAreReadBackAsTheyWereGiven) {
  const hip::Api api = noting_batches();
  ASSERT_TRUE(hip::add_batch_node(api, nullptr, two_operations(), {}));
  const hip::Result<hip::BatchRecord> told = hip::batch_of(api, nullptr);
  ASSERT_TRUE(told);
  const std::vector<hip::MemoryOperation>& got = told.value().operations;
  ASSERT_EQ(got.size(), 2u);
  EXPECT_FALSE(got[0].waits);
  EXPECT_EQ(got[0].bytes, 8u);
  EXPECT_EQ(got[0].address, 0x1000u);
  EXPECT_EQ(got[0].value, 5u);
  EXPECT_TRUE(got[1].waits);
  EXPECT_EQ(got[1].bytes, 4u);
  EXPECT_EQ(got[1].address, 0x2000u);
  EXPECT_EQ(got[1].value, 6u);
  EXPECT_EQ(got[1].comparison, hip::MemoryOperation::Comparison::kNor);
  EXPECT_EQ(given_batches[0].ctx, reinterpret_cast<hipCtx_t>(std::uintptr_t{0x77}));
}

// AMD's runtimes keep the pointer: the array stays as it is when the node is set to other operations.
TEST(BatchNodes, ArraysStayAsTheyAreAndEqualOnesAreOne) {
  const hip::Api api = noting_batches();
  hip::BatchRecord batch = two_operations();
  ASSERT_EQ(hip::call_batch_setter(api, nullptr, nullptr, batch), hipSuccess);
  batch.operations[0].value = 9;
  const auto exec = reinterpret_cast<hipGraphExec_t>(std::uintptr_t{0x10});
  EXPECT_EQ(hip::call_batch_setter(api, exec, nullptr, batch), hipErrorInvalidValue);
  ASSERT_EQ(hip::call_batch_setter(api, nullptr, nullptr, two_operations()), hipSuccess);
  ASSERT_EQ(given_batches.size(), 3u);
  EXPECT_EQ(given_batches[0].paramArray[0].writeValue.value64, 5u);
  EXPECT_EQ(given_batches[1].paramArray[0].writeValue.value64, 9u);
  EXPECT_EQ(given_batches[2].paramArray, given_batches[0].paramArray);
}

TEST(BatchNodes, ARuntimeWithoutAFunctionIsNamed) {
  hip::Api api = noting_batches();
  EXPECT_EQ(hip::missing_batch_function(api), nullptr);
  api.hipGraphExecBatchMemOpNodeSetParams = nullptr;
  EXPECT_EQ(std::string(hip::missing_batch_function(api)), hip::batch_setter_name(true));
  const auto added = hip::add_batch_node(api, nullptr, two_operations(), {});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, hipErrorNotSupported);
  EXPECT_EQ(hip::call_batch_setter(api, nullptr, nullptr, two_operations()), hipErrorNotSupported);
}

TEST(BatchNodes, ARelocationNamesOneOperation) {
  using hip::Field;
  const auto flaw = [](std::vector<hip::Relocation> relocations, hip::BatchRecord batch = two_operations()) {
    const char* found = hip::flaw_of({std::move(batch), {}, std::move(relocations)}, 0);
    return std::string(found == nullptr ? "" : found);
  };
  EXPECT_EQ(flaw({{Field::kMemoryOperation, 0, 0, 0}, {Field::kMemoryOperation, 1, 0, 8}}), "");
  EXPECT_EQ(flaw({{Field::kMemoryOperation, 2, 0, 0}}), "a relocation names an operation that does not exist");
  EXPECT_EQ(flaw({{Field::kMemoryOperation, 1, 0, 0}, {Field::kMemoryOperation, 1, 0, 8}}), "two relocations overlap");
  EXPECT_EQ(flaw({{Field::kCopySource, 0, 0, 0}}), "a relocation names a field that the node does not have");
  EXPECT_EQ(flaw({}, {}), "a batch has at least one operation");
  hip::RecordedNode node{two_operations(), {}, {{Field::kMemoryOperation, 1, 0, 16}}};
  const hip::DeviceAddress at[] = {0x5000};
  const hip::NodeRecord moved = hip::relocated(node, at);
  EXPECT_EQ(std::get<hip::BatchRecord>(moved).operations[0].address, 0x1000u);
  EXPECT_EQ(std::get<hip::BatchRecord>(moved).operations[1].address, 0x5010u);
}

}  // namespace
