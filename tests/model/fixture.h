// Small machines for the tests of the model: kernels made by hand, and a runtime with shorthands.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "model/runtime.h"

namespace model {

// out[0] = in[0] + add, on 32-bit words: (out, in, add).
inline std::shared_ptr<const Kernel> add_kernel(std::string name = "add") {
  Kernel kernel;
  kernel.name = std::move(name);
  kernel.signature = {20,
                      {{0, 8, ArgumentKind::kPointer}, {8, 8, ArgumentKind::kPointer}, {16, 4, ArgumentKind::kValue}}};
  kernel.semantics = [](std::span<const std::byte> arguments, const LaunchShape&, MemoryAccess& memory) {
    Address out = 0, in = 0;
    std::uint32_t add = 0;
    std::memcpy(&out, arguments.data(), 8);
    std::memcpy(&in, arguments.data() + 8, 8);
    std::memcpy(&add, arguments.data() + 16, 4);
    memory.store(out, memory.load<std::uint32_t>(in) + add);
  };
  return std::make_shared<const Kernel>(std::move(kernel));
}

// The options of a machine with a schedule that `seed` chooses.
inline Options seeded(std::uint64_t seed) {
  Options options;
  options.schedule_seed = seed;
  return options;
}

struct Machine {
  explicit Machine(const Options& options = {}) : runtime(options) {}

  Address allocate(std::size_t size = 64, MemoryKind kind = MemoryKind::kDevice) {
    Address address = 0;
    EXPECT_EQ(runtime.memory().allocate(size, kind, 0, &address), Status::kSuccess);
    return address;
  }
  std::uint32_t word(Address address) {
    std::uint32_t value = 0;
    const std::byte* bytes = runtime.memory().peek(address, 4);
    EXPECT_NE(bytes, nullptr);
    if (bytes != nullptr) std::memcpy(&value, bytes, 4);
    return value;
  }
  KernelParams add(Address out, Address in, std::uint32_t amount) {
    if (module == nullptr) module = &runtime.load_module({add_kernel(), add_kernel("add_twin")});
    KernelParams params{module->find("add")->kernel(), {}, std::vector<std::byte>(20)};
    std::memcpy(params.arguments.data(), &out, 8);
    std::memcpy(params.arguments.data() + 8, &in, 8);
    std::memcpy(params.arguments.data() + 16, &amount, 4);
    return params;
  }
  static MemsetParams set(Address dst, std::uint32_t value, std::size_t words = 1) {
    return {dst, 0, value, 4, words, 1};
  }
  static CopyParams copy(Address dst, Address src, std::size_t bytes = 4, CopyKind kind = CopyKind::kDefault) {
    return linear_copy(dst, src, bytes, kind);
  }
  Node* node(Graph& graph, NodeParams params, std::vector<Node*> after = {}) {
    Node* out = nullptr;
    EXPECT_EQ(graph.add(std::move(params), after, &out), Status::kSuccess);
    return out;
  }
  Node* child(Graph& graph, const Graph& inner, std::vector<Node*> after = {}) {
    Node* out = nullptr;
    EXPECT_EQ(graph.add_child(inner, after, &out), Status::kSuccess);
    return out;
  }
  GraphExec& exec(const Graph& graph) {
    GraphExec* out = nullptr;
    EXPECT_EQ(runtime.instantiate(graph, &out), Status::kSuccess);
    return *out;
  }
  void run(GraphExec& what) {
    EXPECT_EQ(runtime.launch(what, runtime.null_stream()), Status::kSuccess);
    EXPECT_EQ(runtime.synchronize_device(), Status::kSuccess);
  }

  Stream& nonblocking() { return runtime.create_stream(kStreamNonBlocking, 0, 0); }

  Runtime runtime;
  Module* module = nullptr;
};

// A machine, a few words and a graph.
struct WithGraph : testing::Test {
  Machine m;
  const Address at = m.allocate();
  Graph& graph = m.runtime.create_graph();
};

// A few words, two streams that nothing orders, an event, and calls that have to succeed.
struct TwoStreams : Machine {
  explicit TwoStreams(std::uint64_t seed = 0) : Machine(seeded(seed)) {}
  void enqueue(Stream& on, NodeParams params) { EXPECT_EQ(runtime.enqueue(on, std::move(params)), Status::kSuccess); }
  void launch(GraphExec& what, Stream& on) { EXPECT_EQ(runtime.launch(what, on), Status::kSuccess); }
  void record(Stream& on) { EXPECT_EQ(runtime.record(event, on), Status::kSuccess); }
  void wait(Stream& on) { EXPECT_EQ(runtime.wait(on, event), Status::kSuccess); }
  template <class StreamOrEvent>
  void synchronize(StreamOrEvent& with) {
    EXPECT_EQ(runtime.synchronize(with), Status::kSuccess);
  }
  void finish() { EXPECT_EQ(runtime.synchronize_device(), Status::kSuccess); }
  void expect_races(std::uint64_t count) { EXPECT_EQ(runtime.races_seen(), count); }

  const Address at = allocate();
  Stream& one = nonblocking();
  Stream& other = nonblocking();
  Event& event = runtime.create_event(0);
};

}  // namespace model
