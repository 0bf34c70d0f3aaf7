// The addresses of a captured library call are found: arguments as pointers or as one block, layouts from a driver, and
// memory that the graph itself allocates. The driver and the runtime are scripted. Not checked: CUDA's own answers,
// which hgcheck-library-calls shows on a GPU.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "bench/library_calls/library_graph.h"

namespace {

using bench::LibraryKernel;
using bench::LibraryNode;
using bench::SeenGraph;

constexpr std::size_t kWords = 92;  // a block of 736 bytes, as cuBLAS hands over
constexpr std::uint64_t kBytes = 4096;

hip::Shadows two_places() {
  hip::Shadows shadows;
  shadows.tables = {{0x7f0000100000, 0x7f0000300000}, {0x7f0000500040, 0x7f0000a01040}};
  shadows.bytes = {kBytes, kBytes};
  shadows.buffers = {0, 1};
  return shadows;
}

void write(std::vector<std::byte>& block, std::size_t offset, std::uint64_t word) {
  std::memcpy(block.data() + offset, &word, sizeof word);
}

// One kernel with a struct of addresses: buffer 0 at 16, the end of buffer 1 at 48, the graph's own memory at 376.
SeenGraph capture_at(const hip::AddressTable& table, std::uint64_t memory) {
  LibraryNode node;
  node.type = hipGraphNodeTypeKernel;
  node.block.resize(kWords * 8);
  write(node.block, 16, table[0]);
  write(node.block, 48, table[1] + kBytes);
  write(node.block, 376, memory + 256);
  LibraryKernel kernel;
  kernel.slots = {{0, static_cast<std::uint32_t>(node.block.size())}};
  node.params = kernel;
  return {{node}, {{memory, 1024}}};
}

std::vector<SeenGraph> captures(const hip::Shadows& shadows) {
  return {capture_at(shadows.tables[0], 0x302000000), capture_at(shadows.tables[1], 0x304000000)};
}

TEST(LibraryCalls, AddressesWithinAStructAreFoundAndMemoryOfTheGraphStays) {
  const hip::Shadows shadows = two_places();
  const hip::Result<SeenGraph> found = bench::attribute_graphs(captures(shadows), shadows);
  ASSERT_TRUE(found) << found.error().message;
  const LibraryNode& node = found.value().nodes[0];
  EXPECT_EQ(node.opaque, "");
  const std::vector<hip::Relocation> expected = {{hip::Field::kKernelArgument, 16, 0, 0},
                                                 {hip::Field::kKernelArgument, 48, 1, kBytes}};
  EXPECT_EQ(node.relocations, expected);
}

TEST(LibraryCalls, AWordAtAnotherOffsetOfTheGraphsMemoryMakesTheNodeOpaque) {
  const hip::Shadows shadows = two_places();
  std::vector<SeenGraph> graphs = captures(shadows);
  write(graphs[1].nodes[0].block, 376, 0x304000000 + 264);
  const hip::Result<SeenGraph> found = bench::attribute_graphs(graphs, shadows);
  ASSERT_TRUE(found);
  EXPECT_NE(found.value().nodes[0].opaque, "");
  EXPECT_TRUE(found.value().nodes[0].relocations.empty());
}

TEST(LibraryCalls, AnotherKernelAtAnotherPlaceIsRefused) {
  const hip::Shadows shadows = two_places();
  std::vector<SeenGraph> graphs = captures(shadows);
  std::get<LibraryKernel>(graphs[1].nodes[0].params).params.grid[0] = 2;
  EXPECT_FALSE(bench::attribute_graphs(graphs, shadows));
}

// ---- reading, with a runtime of one kernel node and a driver that tells two arguments: 8 bytes at 0, 4 at 8.

constexpr std::size_t kArgumentBytes = 12;

// Points into itself, so it is set in place and never copied.
struct Script {
  Script() = default;
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  std::array<std::uint64_t, 2> values{0x1122334455667788, 0x99aabbcc};
  std::array<void*, 2> arguments{&values[0], &values[1]};
  std::size_t bytes = kArgumentBytes;
  std::array<void*, 5> extra{reinterpret_cast<void*>(1), &values, reinterpret_cast<void*>(2), &bytes, nullptr};
  bool as_extra = false, as_kernel = false;
};
Script script;

void set_script(bool as_extra, bool as_kernel, std::size_t bytes = kArgumentBytes) {
  script.as_extra = as_extra;
  script.as_kernel = as_kernel;
  script.bytes = bytes;
}

hip::Api scripted_runtime() {
  hip::Api api;
  api.hipGraphGetNodes = [](hipGraph_t, hipGraphNode_t* nodes, std::size_t* count) {
    if (nodes != nullptr) nodes[0] = nullptr;
    *count = 1;
    return hipSuccess;
  };
  api.hipGraphNodeGetType = [](hipGraphNode_t, hipGraphNodeType* type) {
    *type = hipGraphNodeTypeKernel;
    return hipSuccess;
  };
  return api;
}

int two_arguments(void* of, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  if (of == nullptr || index > 1) return 1;
  *offset = 8 * index;
  *bytes = index == 0 ? 8 : 4;
  return 0;
}
int no_arguments(void*, std::size_t, std::size_t*, std::size_t*) {
  return 1;
}

LibraryNode read_kernel() {
  bench::Driver driver;
  driver.get_kernel_node = [](hipGraphNode_t, bench::DriverKernelParams* params) {
    (script.as_kernel ? params->kernel : params->function) = &script;
    params->arguments = script.as_extra ? nullptr : script.arguments.data();
    params->extra = script.as_extra ? script.extra.data() : nullptr;
    return 0;
  };
  driver.function_argument = script.as_kernel ? no_arguments : two_arguments;
  driver.kernel_argument = script.as_kernel ? two_arguments : no_arguments;
  const hip::Result<SeenGraph> seen = bench::read_graph(scripted_runtime(), driver, nullptr);
  EXPECT_TRUE(seen);
  return seen ? seen.value().nodes.at(0) : LibraryNode();
}

void expect_block(const LibraryNode& node) {
  ASSERT_EQ(node.block.size(), kArgumentBytes);
  EXPECT_EQ(node.opaque, "");
  EXPECT_EQ(std::memcmp(node.block.data(), script.values.data(), kArgumentBytes), 0);
}

TEST(LibraryCalls, ArgumentsBehindPointersAreReadWhereTheDriverSaysThatTheyLie) {
  set_script(false, false);
  expect_block(read_kernel());
}

TEST(LibraryCalls, ABlockThatWasHandedOverAsExtraIsReadUntilCudasEnd) {
  set_script(true, false);
  const LibraryNode node = read_kernel();
  expect_block(node);
  EXPECT_TRUE(std::get<LibraryKernel>(node.params).as_extra);
}

TEST(LibraryCalls, ANodeThatNamesAKernelIsAskedThroughTheKernelsFunction) {
  set_script(false, true);
  expect_block(read_kernel());
}

TEST(LibraryCalls, ABlockShorterThanTheArgumentsMakesTheNodeOpaque) {
  set_script(true, false, 8);
  EXPECT_NE(read_kernel().opaque, "");
}

}  // namespace
