// The fixture of command buffer tests: a runtime behind an interposer, some memory, two streams and commands
// that fill a buffer. A thread has one bed at a time; each rank of a test has its own.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "hip/captured_graph.h"
#include "hip/command_buffer.h"
#include "hip/traced_command.h"
#include "test_runtime.h"
#include "verify/execute/interposer.h"

// One call that is to fail, and whether it did: of any function of HIP, between arm() and disarm().
class FailingCall {
 public:
  FailingCall(verify::Function function, std::uint32_t nth) : function_(function), nth_(nth) {}

  void arm(verify::Interposer& interposer) {
    before_ = interposer.fired();
    interposer.fail(function_, nth_);
  }
  void disarm(verify::Interposer& interposer) {
    interposer.fail(function_, 0);
    fired_ = interposer.fired() != before_;
  }
  [[nodiscard]] bool fired() const { return fired_; }
  [[nodiscard]] verify::Function function() const { return function_; }
  friend std::ostream& operator<<(std::ostream& out, const FailingCall& call) {
    return out << verify::function_name(call.function_) << " " << call.nth_;
  }

 private:
  verify::Function function_;
  std::uint32_t nth_;
  std::uint64_t before_ = 0;
  bool fired_ = false;
};
// Every call that `scene` makes while one is armed fails in turn. So many do at least. A failing expectation names the
// call.
template <class Scene>
void fail_each_call(std::size_t least, const Scene& scene) {
  std::size_t failures = 0;
  for (std::size_t function = 0; function < verify::kFunctions; ++function) {
    for (std::uint32_t nth = 1;; ++nth) {
      FailingCall call(static_cast<verify::Function>(function), nth);
      SCOPED_TRACE(call);
      scene(call);
      if (!call.fired()) break;  // it takes fewer calls than this
      ++failures;
    }
  }
  EXPECT_GE(failures, least);
}

// Has its commands from the beginning.
struct FilledBuffer : hip::CommandBuffer {
  FilledBuffer(const hip::Api& api, hip::Recording commands, hip::CommandBufferOptions options = {})
      : hip::CommandBuffer(api, std::move(options)) {
    set(std::move(commands));
  }
};

// The node with one other that it waits for.
inline hip::RecordedNode behind(std::size_t other, hip::RecordedNode node) {
  node.dependencies = {static_cast<hip::NodeIndex>(other)};
  return node;
}

// The graph of the commands with the buffers at the addresses, and an executable graph of it.
class BuiltGraph {
 public:
  BuiltGraph(const hip::Api& api, const hip::Recording& commands, const hip::AddressTable& addresses) : api_(api) {
    hip::Result<hip::RecordedGraph> recorded = hip::record_graph(api, commands, addresses);
    EXPECT_TRUE(recorded);
    if (recorded) recorded_ = std::move(recorded).value();
    EXPECT_EQ(api.hipGraphInstantiate(&exec_, graph(), nullptr, nullptr, 0), hipSuccess);
  }
  BuiltGraph(const BuiltGraph&) = delete;
  BuiltGraph& operator=(const BuiltGraph&) = delete;
  ~BuiltGraph() {
    EXPECT_EQ(api_.hipGraphExecDestroy(exec_), hipSuccess);
    EXPECT_EQ(api_.hipGraphDestroy(graph()), hipSuccess);
  }
  [[nodiscard]] const hip::RecordedGraph& recorded() const { return recorded_; }
  [[nodiscard]] hipGraph_t graph() const { return recorded_.graph; }
  [[nodiscard]] hipGraphExec_t exec() const { return exec_; }

 private:
  const hip::Api& api_;
  hip::RecordedGraph recorded_;
  hipGraphExec_t exec_ = nullptr;
};

struct CommandBed {
  static constexpr std::size_t kBytes = 64, kPlaces = 8;

  // Its memory and streams are of the device, which is the thread's current one from now on.
  explicit CommandBed(int device = 0) : device_(device) {
    interposer_.begin(runtime_.platform().api(), false);
    scope_.emplace(interposer_);
    EXPECT_EQ(api().hipSetDevice(device), hipSuccess);
    EXPECT_EQ(api().hipMalloc(&memory_, kPlaces * kBytes), hipSuccess);
    EXPECT_EQ(api().hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking), hipSuccess);
    EXPECT_EQ(api().hipStreamCreateWithFlags(&capturing_, hipStreamNonBlocking), hipSuccess);
  }
  CommandBed(const CommandBed&) = delete;
  CommandBed& operator=(const CommandBed&) = delete;
  // No command buffer is left.
  ~CommandBed() {
    EXPECT_EQ(api().hipStreamDestroy(stream_), hipSuccess);
    EXPECT_EQ(api().hipStreamDestroy(capturing_), hipSuccess);
    EXPECT_EQ(api().hipFree(memory_), hipSuccess);
    scope_.reset();
  }

  const hip::Api& api() { return interposer_.table(); }
  hip::StreamRef stream() { return {api(), stream_, device_}; }
  int device() const { return device_; }
  hip::DeviceAddress at(std::size_t place) const {
    return reinterpret_cast<hip::DeviceAddress>(memory_) + place * kBytes;
  }
  hip::RecordedNode fill(int value, hip::BufferIndex buffer = 0) const {
    hipMemsetParams params{};
    params.dst = memory_;
    params.elementSize = 1;
    params.value = static_cast<unsigned>(value);
    params.width = params.pitch = kBytes;
    params.height = 1;
    return {hip::MemsetRecord{params}, {}, {{hip::Field::kMemsetDestination, 0, buffer, 0}}};
  }
  // Fills the buffer as a library would; 0: enqueues nothing.
  hip::EnqueueAt filling(int value, hip::BufferIndex buffer = 0) {
    return [this, value, buffer](hipStream_t on, std::span<const hip::DeviceAddress> addresses) {
      if (value == 0) return hip::Status();
      return hip::called(api().hipMemsetAsync(reinterpret_cast<void*>(addresses[buffer]), value, kBytes, on), "memset");
    };
  }
  // A command of a library. It is captured on the bed's stream if the work names no stream.
  hip::RecordedNode traced(hip::TracedWork work) const {
    if (work.stream == nullptr) work.stream = capturing_;
    return hip::traced_command(std::move(work));
  }
  hip::RecordedNode library_work(hip::EnqueueAt work, std::optional<hip::Shadows> shadows = {},
                                 std::vector<hip::BufferIndex> buffers = {0}) {
    return traced(
        {.command = 1, .buffers = std::move(buffers), .work = std::move(work), .shadows = std::move(shadows)});
  }
  // Two places where the work of buffer 0 alone is captured.
  hip::Shadows shadows() const { return {{{at(4)}, {at(6)}}, {kBytes}, {0}}; }
  hip::Shadows shadows_of_two() const { return {{{at(4), at(6)}, {at(7), at(1)}}, {kBytes / 2, kBytes / 2}, {0, 1}}; }
  static hip::Recording of(hip::RecordedNode node) {
    hip::Recording commands;
    commands.add(std::move(node));
    return commands;
  }
  // Adds the node behind the last one, if there is one.
  static void append(hip::Recording& commands, hip::RecordedNode node) {
    const std::size_t count = commands.nodes().size();
    commands.add(count == 0 ? std::move(node) : behind(count - 1, std::move(node)));
  }
  static hip::Recording in_a_row(std::initializer_list<hip::RecordedNode> nodes) {
    hip::Recording commands;
    for (const hip::RecordedNode& node : nodes) append(commands, node);
    return commands;
  }
  // A linear copy from one buffer to another.
  static hip::RecordedNode copy(hip::BufferIndex from, hip::BufferIndex to, hipMemcpyKind kind) {
    hip::CopyRecord record;
    record.linear = true;
    record.params.extent = {kBytes, 1, 1};
    record.params.kind = kind;
    return {record, {}, {{hip::Field::kCopyDestination, 0, to, 0}, {hip::Field::kCopySource, 0, from, 0}}};
  }
  static hip::RecordedNode child(hip::Recording nodes) {
    return {hip::ChildRecord{std::make_shared<const hip::Recording>(std::move(nodes))}, {}, {}};
  }
  int byte_at(hip::DeviceAddress address) {
    unsigned char value = 0;
    EXPECT_EQ(api().hipDeviceSynchronize(), hipSuccess);
    EXPECT_EQ(api().hipMemcpy(&value, reinterpret_cast<void*>(address), 1, hipMemcpyDeviceToHost), hipSuccess);
    return value;
  }
  int value_at(std::size_t place) { return byte_at(at(place)); }
  // A step that succeeds.
  static hip::CommandStep step_of(hip::CommandBuffer& buffer, std::span<const hip::DeviceAddress> addresses,
                                  const hip::StreamRef& on) {
    const hip::Result<hip::CommandStep> step = buffer.step(addresses, on);
    EXPECT_TRUE(step) << step.error().message;
    return step ? step.value() : hip::CommandStep{};
  }
  int current_device() {
    int current = -1;
    EXPECT_EQ(api().hipGetDevice(&current), hipSuccess);
    return current;
  }
  // A stream of the device, which is not current otherwise.
  hipStream_t stream_of(int device, unsigned flags = hipStreamNonBlocking) {
    hipStream_t made = nullptr;
    EXPECT_EQ(api().hipSetDevice(device), hipSuccess);
    EXPECT_EQ(api().hipStreamCreateWithFlags(&made, flags), hipSuccess);
    EXPECT_EQ(api().hipSetDevice(device_), hipSuccess);
    return made;
  }
  std::size_t nodes_in(hipGraph_t graph) {
    std::size_t nodes = 0;
    EXPECT_EQ(api().hipGraphGetNodes(graph, nullptr, &nodes), hipSuccess);
    return nodes;
  }
  std::size_t edges_in(hipGraph_t graph) {
    std::size_t edges = 0;
    EXPECT_EQ(api().hipGraphGetEdges(graph, nullptr, nullptr, &edges), hipSuccess);
    return edges;
  }
  hipGraphNodeType type_of_first_node(hipGraph_t graph) {
    hipGraphNode_t node = nullptr;
    std::size_t nodes = 1;
    hipGraphNodeType type{};
    EXPECT_EQ(api().hipGraphGetNodes(graph, &node, &nodes), hipSuccess);
    EXPECT_EQ(api().hipGraphNodeGetType(node, &type), hipSuccess);
    return type;
  }
  void wipe() { set(memory_, 0, kPlaces * kBytes); }
  void put(std::size_t place, int value) { set(reinterpret_cast<void*>(at(place)), value, kBytes); }
  std::uint64_t calls_of(const char* function) { return interposer_.calls_of(*verify::find_function(function)); }
  // How often `body` calls the function.
  template <class Body>
  std::uint64_t calls_in(const char* function, const Body& body) {
    const std::uint64_t before = calls_of(function);
    body();
    return calls_of(function) - before;
  }
  // Whether `work` succeeds while the call is armed. If the call failed and the work succeeded all the same, the sink
  // has to know of the failure.
  template <class Work>
  bool succeeds_or_says_so(FailingCall& call, const Work& work) {
    told_.clear();
    call.arm(interposer_);
    const bool succeeded = work();
    call.disarm(interposer_);
    EXPECT_TRUE(!call.fired() || !succeeded || !told_.empty());
    return succeeded;
  }
  hip::ErrorSink sink() {
    return {[](void* self, const hip::Error& error) { static_cast<CommandBed*>(self)->told_.push_back(error.message); },
            this};
  }

  // Behind everything that was launched and before everything that will be: a fill of device memory returns before it
  // is done, and the bed's streams do not wait for it.
  void set(void* memory, int value, std::size_t bytes) {
    EXPECT_EQ(api().hipDeviceSynchronize(), hipSuccess);
    EXPECT_EQ(api().hipMemset(memory, value, bytes), hipSuccess);
    EXPECT_EQ(api().hipDeviceSynchronize(), hipSuccess);
  }

  TestRuntime runtime_;  // first member: it looks for leaks last
  const int device_;
  verify::Interposer interposer_;
  std::optional<verify::Interposer::Scope> scope_;
  void* memory_ = nullptr;
  hipStream_t stream_ = nullptr, capturing_ = nullptr;
  std::vector<std::string> told_;
};
