// hip::by_host: the host work of a node that stands for a memset or a copy has the effect that HIP documents for the
// memset or copy, byte for byte. Memory that the nodes own is freed with the graph.
#include "hip/by_host.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "row_shapes.h"

namespace {

using namespace shapes;

// The nodes of a graph, in the order in which they were added: a host node, or a copy.
struct Added {
  hipHostNodeParams host{};
  hip::CopyRecord copy{};
  std::vector<hipGraphNode_t> dependencies;
};
std::vector<Added> added;
std::size_t staged = 0;  // pieces of pinned memory that are there
std::vector<void*> never_freed;
int frees = 0;
hipError_t answer_to_free = hipSuccess, answer_to_add = hipSuccess;
std::vector<std::string> told;
int mode_changes = 0;

hipGraphNode_t number(std::size_t place) {
  return reinterpret_cast<hipGraphNode_t>(place + 1);
}

hipError_t add(hipGraphNode_t* node, const hipGraphNode_t* dependencies, std::size_t count, Added given) {
  if (answer_to_add != hipSuccess) return answer_to_add;
  given.dependencies.assign(dependencies, dependencies + count);
  added.push_back(std::move(given));
  *node = number(added.size() - 1);
  return hipSuccess;
}

hip::Api noting() {
  added.clear();
  told.clear();
  staged = 0;
  frees = 0;
  mode_changes = 0;
  answer_to_free = answer_to_add = hipSuccess;
  hip::Api api;
  api.hipGraphCreate = [](hipGraph_t* graph, unsigned) {
    *graph = reinterpret_cast<hipGraph_t>(1);
    return hipSuccess;
  };
  api.hipGraphDestroy = [](hipGraph_t) { return hipSuccess; };
  api.hipGraphAddHostNode = [](hipGraphNode_t* node, hipGraph_t, const hipGraphNode_t* dependencies, size_t count,
                               const hipHostNodeParams* params) {
    return add(node, dependencies, count, {*params, {}, {}});
  };
  api.hipGraphAddMemcpyNode = [](hipGraphNode_t* node, hipGraph_t, const hipGraphNode_t* dependencies, size_t count,
                                 const hipMemcpy3DParms* params) {
    hip::CopyRecord copy;
    copy.params = *params;
    return add(node, dependencies, count, {{}, copy, {}});
  };
  api.hipGraphAddMemcpyNode1D = [](hipGraphNode_t* node, hipGraph_t, const hipGraphNode_t* dependencies, size_t count,
                                   void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
    hip::CopyRecord copy;
    copy.params.dstPtr = {to, bytes, bytes, 1};
    copy.params.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
    copy.params.extent = {bytes, 1, 1};
    copy.params.kind = kind;
    return add(node, dependencies, count, {{}, copy, {}});
  };
  api.hipHostMalloc = [](void** memory, size_t bytes, unsigned) {
    *memory = std::malloc(bytes);
    ++staged;
    return hipSuccess;
  };
  api.hipHostFree = [](void* memory) {
    ++frees;
    if (answer_to_free != hipSuccess) {
      if (never_freed.empty() || never_freed.back() != memory) never_freed.push_back(memory);
      return answer_to_free;
    }
    std::free(memory);
    --staged;
    return hipSuccess;
  };
  api.hipThreadExchangeStreamCaptureMode = [](hipStreamCaptureMode* mode) {
    ++mode_changes;
    *mode = *mode == hipStreamCaptureModeRelaxed ? hipStreamCaptureModeGlobal : hipStreamCaptureModeRelaxed;
    return hipSuccess;
  };
  return api;
}

const hip::ErrorSink kSink{[](void*, const hip::Error& error) { told.push_back(error.message); }, nullptr};

hip::Recording chain_of(const std::vector<hip::RecordedNode>& nodes) {
  hip::Recording recording;
  for (hip::RecordedNode node : nodes) {
    if (!recording.nodes().empty()) {
      node.dependencies = {static_cast<hip::NodeIndex>(recording.nodes().size() - 1)};
    }
    recording.add(std::move(node));
  }
  return recording;
}

void launch(Bytes& to, Bytes& from) {
  for (const Added& node : added) {
    if (node.host.fn != nullptr) {
      node.host.fn(node.host.userData);
    } else {
      run({node.copy, {}, {}}, to, from);
    }
  }
}

void expect_the_same(const hip::RecordedNode& node, Draw& draw, bool to_host, std::size_t nodes) {
  const hip::Api api = noting();
  const hip::Recording recording = chain_of(hip::by_host(node, to_host, kSink));
  ASSERT_EQ(recording.nodes().size(), nodes);
  Bytes to = pattern(draw), from = pattern(draw), other = to;
  run(node, to, from);
  {
    const hip::Result<hip::RecordedGraph> graph = hip::record_graph(api, recording, addresses_of(other, from));
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    EXPECT_FALSE(graph.value().kept.empty());
    ASSERT_EQ(added.size(), nodes);
    if (nodes == 2) {
      EXPECT_EQ(added[1].dependencies, (std::vector<hipGraphNode_t>{number(0)}));
    }
    EXPECT_EQ(staged, nodes - 1);
    launch(other, from);
    EXPECT_EQ(to, other);
    // The host node reads the bytes that are in memory when it runs.
    for (unsigned char& byte : from) byte = static_cast<unsigned char>(draw(0, 255));
    run(node, to, from);
    launch(other, from);
    EXPECT_EQ(to, other);
  }
  EXPECT_EQ(staged, 0u) << "goes with the graph";
  EXPECT_EQ(told, std::vector<std::string>());
}

struct ByHost : testing::Test {
  Draw draw{std::mt19937_64(1)};
  const hip::Api api = noting();
  Bytes to = pattern(draw), from = pattern(draw);
};

TEST_F(ByHost, AMemsetIsAHostNode) {
  for (int i = 0; i < 300; ++i) expect_the_same(memset_of_rows(draw), draw, false, 1);
}

TEST_F(ByHost, ACopyToHostMemoryIsAHostNodeAndAnyOtherOneHasACopyBehindIt) {
  for (int i = 0; i < 600; ++i) {
    const bool to_host = i % 2 == 0;
    hip::RecordedNode node = copy_of_rows(draw, draw(0, 2) == 0);
    if (draw(0, 2) == 0) {
      auto& copy = std::get<hip::CopyRecord>(node.record);
      copy.linear = true;
      copy.params.srcPos = copy.params.dstPos = {};
      copy.params.extent = {draw(1, 200), 1, 1};
    }
    expect_the_same(node, draw, to_host, to_host ? 1 : 2);
  }
}

// Recorded as a node of its own it goes through the 1D form, which has none (hip/recording.cpp).
TEST_F(ByHost, ALinearCopyHasNoPositionsThoughItsRecordMay) {
  for (const bool to_host : {true, false}) {
    hip::RecordedNode node = copy_of_rows(draw, false);
    auto& copy = std::get<hip::CopyRecord>(node.record);
    copy.linear = true;
    copy.params.srcPos = {1, 2, 1};
    copy.params.dstPos = {3, 1, 2};
    copy.params.extent = {100, 1, 1};
    added.clear();
    to = pattern(draw);  // the copy before has left its bytes here
    Bytes other = to;
    const auto itself = hip::record_graph(api, chain_of({node}), addresses_of(to, from));
    ASSERT_TRUE(itself.ok()) << itself.error().message;
    launch(to, from);
    added.clear();
    const auto graph = hip::record_graph(api, chain_of(hip::by_host(node, to_host, kSink)), addresses_of(other, from));
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    ASSERT_EQ(added.size(), to_host ? 1u : 2u);
    launch(other, from);
    EXPECT_EQ(to, other) << (to_host ? "by the host" : "staged");
  }
}

TEST_F(ByHost, AMovedBufferIsRecordedAgainAndNeverPatched) {
  for (const hip::RecordedNode& node : hip::by_host(copy_of_rows(draw, true), false, kSink)) {
    EXPECT_TRUE(node.relocations.empty());
    const auto& opaque = std::get<hip::OpaqueRecord>(node.record);
    EXPECT_TRUE(opaque.by_host);
    EXPECT_EQ(opaque.buffers.front(), kTo);
  }
}

// Each recording has pinned memory of its own, and so has each of two equal nodes in one graph.
TEST_F(ByHost, GraphsShareNothing) {
  std::vector<hip::RecordedNode> nodes = hip::by_host(copy_of_rows(draw, true), false, kSink);
  const std::vector<hip::RecordedNode> same = nodes;
  nodes.insert(nodes.end(), same.begin(), same.end());
  const auto first = hip::record_graph(api, chain_of(nodes), addresses_of(to, from));
  const auto second = hip::record_graph(api, chain_of(nodes), addresses_of(to, from));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(staged, 4u);
  std::vector<const void*> sources;
  for (const Added& node : added) {
    if (node.host.fn == nullptr) sources.push_back(node.copy.params.srcPtr.ptr);
  }
  std::sort(sources.begin(), sources.end());
  EXPECT_EQ(std::unique(sources.begin(), sources.end()) - sources.begin(), 4);
}

TEST_F(ByHost, NothingStaysWhenRecordingFails) {
  const hip::Recording recording = chain_of(hip::by_host(copy_of_rows(draw, true), false, kSink));
  answer_to_add = hipErrorOutOfMemory;
  const auto failed = hip::record_graph(api, recording, addresses_of(to, from));
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, hipErrorOutOfMemory);
  EXPECT_EQ(staged, 0u);
  EXPECT_EQ(told, std::vector<std::string>());
}

TEST_F(ByHost, WhatCannotBeFreedIsToldAndOtherThreadsCapturesAreNotInTheWay) {
  {
    const auto graph =
        hip::record_graph(api, chain_of(hip::by_host(copy_of_rows(draw, true), false, kSink)), addresses_of(to, from));
    ASSERT_TRUE(graph.ok());
    EXPECT_EQ(mode_changes, 2) << "relaxed while it allocates, and as it was";
    answer_to_free = hipErrorIllegalAddress;
  }
  EXPECT_EQ(mode_changes, 4);
  EXPECT_EQ(frees, 2) << "tried again";
  ASSERT_EQ(told.size(), 1u);
  ASSERT_EQ(never_freed.size(), 1u);
  std::free(std::exchange(never_freed, {}).front());
  EXPECT_NE(told.front().find("hipHostFree"), std::string::npos);
}

TEST_F(ByHost, WhatWritesNothingStaysAsItIs) {
  hip::MemsetRecord none;
  none.params.width = 0;
  none.params.height = 1;
  hip::CopyRecord array;
  array.params.extent = {1, 1, 1};
  array.params.srcArray = reinterpret_cast<hipArray_t>(1);
  EXPECT_TRUE(hip::by_host({none, {}, {}}, true, kSink).empty());
  EXPECT_TRUE(hip::by_host({array, {}, {}}, true, kSink).empty());
  EXPECT_TRUE(hip::by_host({hip::EmptyRecord{}, {}, {}}, true, kSink).empty());
}

}  // namespace
