// Scenarios of traces and of command buffers, against trace_model.h.
//
// Command c fills one or two of the buffers, each with a value of its own; a buffer of 0 bytes is not filled, so a
// command may have nothing to do. As a trace it is captured; in a command buffer the last command is a traced one and
// the others are nodes of their own. The caller's memory is wiped before each step and looked at behind it.
#include <algorithm>
#include <cstring>

#include "hip/traced_command.h"
#include "verify/systems/bench.h"
#include "verify/systems/trace_model.h"

namespace verify {
namespace {

constexpr std::size_t kArena = std::size_t{kTracePlaces} * kMaxTraceBytes;
constexpr unsigned char kWiped = 0xee;
constexpr int kTracedCommand = kTraceCommands - 1;  // of a command buffer

std::vector<std::size_t> buffers_of(int command) {
  if (command == 0) return {0};
  return command == 1 ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{1, 2};
}

int value_of(int command, std::size_t buffer) {
  return 10 * (command + 1) + static_cast<int>(buffer);
}

class TraceBench final : public SystemBench {
 public:
  TraceBench(BenchContext& context, const Parts& parts)
      : context_(context), part_(parts.traces(context.api(), context.sink())), model_(kScenarioTraces) {
    const AtHome home(context.inner());
    static_cast<void>(context.inner().hipMalloc(&arena_, kArena));
    static_cast<void>(context.inner().hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking));
    static_cast<void>(context.inner().hipStreamCreateWithFlags(&capturing_, hipStreamNonBlocking));
    for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i] = {++identities_, i, 64};
  }

  int run(const SystemAction& action) override {
    const auto first = static_cast<std::size_t>(action.fields[0]);
    switch (action.verb) {
      case SystemVerb::kTraceBuffer:
        buffers_[first] = {++identities_, static_cast<std::size_t>(action.fields[1]),
                           static_cast<std::size_t>(action.fields[2])};
        ++version_;
        return hipSuccess;
      case SystemVerb::kTraceMove:
        buffers_[first].at = static_cast<std::size_t>(action.fields[1]);
        return hipSuccess;
      case SystemVerb::kTraceStep:
        return step(action);
      default:
        return body(action);
    }
  }

  void finish() override {
    part_.reset();
    const AtHome home(context_.inner());
    const hip::Api& api = context_.inner();
    static_cast<void>(api.hipDeviceSynchronize());
    static_cast<void>(api.hipFree(arena_));
    static_cast<void>(api.hipStreamDestroy(stream_));
    static_cast<void>(api.hipStreamDestroy(capturing_));
  }

 private:
  // As the caller has it now.
  struct Buffer {
    std::uint64_t identity = 0;
    std::size_t at = 0;  // which place
    std::size_t bytes = 0;
  };
  using Bytes = std::vector<unsigned char>;

  [[nodiscard]] std::uint64_t address(const Buffer& buffer) const {
    return reinterpret_cast<std::uint64_t>(arena_) + buffer.at * kMaxTraceBytes;
  }
  [[nodiscard]] hip::StreamRef stream() const { return {context_.api(), stream_, 0}; }

  // What the command enqueues for the buffers as they are now, wherever they are put.
  [[nodiscard]] hip::Status enqueue(int command, hipStream_t stream, std::span<const std::uint64_t> addresses) const {
    const std::vector<std::size_t> named = buffers_of(command);
    for (std::size_t i = 0; i < named.size(); ++i) {
      const Buffer& buffer = buffers_[named[i]];
      if (buffer.bytes == 0) continue;
      const hipError_t status = context_.inner().hipMemsetAsync(reinterpret_cast<void*>(addresses[i]),
                                                                value_of(command, named[i]), buffer.bytes, stream);
      if (status != hipSuccess) return hip::called(status, "hipMemsetAsync");
    }
    return {};
  }
  void fill(int command, Bytes& bytes) const {
    for (const std::size_t i : buffers_of(command)) {
      std::memset(bytes.data() + buffers_[i].at * kMaxTraceBytes, value_of(command, i), buffers_[i].bytes);
    }
  }
  [[nodiscard]] bool works(int command) const {
    const std::vector<std::size_t> named = buffers_of(command);
    return std::any_of(named.begin(), named.end(), [&](std::size_t i) { return buffers_[i].bytes != 0; });
  }

  void wipe() const {
    const AtHome home(context_.inner());
    static_cast<void>(context_.inner().hipMemset(arena_, kWiped, kArena));
    static_cast<void>(context_.inner().hipDeviceSynchronize());
  }
  [[nodiscard]] Bytes look() const {
    const AtHome home(context_.inner());
    Bytes seen(kArena);
    static_cast<void>(context_.inner().hipDeviceSynchronize());
    static_cast<void>(context_.inner().hipMemcpy(seen.data(), arena_, kArena, hipMemcpyDeviceToHost));
    return seen;
  }

  int step(const SystemAction& action) {
    const int command = action.fields[0];
    const std::string where = print_action(action);
    std::vector<hip::TraceBuffer> given;
    for (const std::size_t i : buffers_of(command)) given.push_back({buffers_[i].identity, address(buffers_[i])});
    const bool kept = model_.kept(static_cast<std::uint64_t>(command), given);
    const bool known = model_.done_before(static_cast<std::uint64_t>(command), given);
    wipe();
    const std::uint64_t captured = context_.interposer.calls_of(Function::k_hipStreamBeginCapture);
    const std::uint64_t instantiated = context_.interposer.calls_of(Function::k_hipGraphInstantiate);
    const std::uint64_t fired = context_.interposer.fired();
    const hip::Status status = part_->step(static_cast<std::uint64_t>(command), given, stream(),
                                           [&](hipStream_t on, std::span<const hip::TraceBuffer> now) {
                                             std::vector<std::uint64_t> addresses;
                                             for (const hip::TraceBuffer& buffer : now)
                                               addresses.push_back(buffer.address);
                                             return enqueue(command, on, addresses);
                                           });
    const bool captures = context_.interposer.calls_of(Function::k_hipStreamBeginCapture) != captured;
    const bool instantiates = context_.interposer.calls_of(Function::k_hipGraphInstantiate) != instantiated;
    const bool failed = context_.interposer.fired() != fired;
    model_.executed(static_cast<std::uint64_t>(command), given, status.ok());
    context_.expect(status.ok() || failed, PropertyId::kP4, where, "a step", status.ok() ? "" : status.error().message);
    context_.expect(works(command) || !instantiates, PropertyId::kP11, where,
                    "nothing is instantiated for a command without work", "a graph without nodes");
    context_.expect(!kept || !captures, PropertyId::kP10, where, "launched as it was captured", "captured again");
    context_.expect(known || captures || failed, PropertyId::kA3, where,
                    "captured: these buffers were never there for it", "launched as it was captured");
    if (status) compare(where, PropertyId::kA3, [&](Bytes& bytes) { fill(command, bytes); });
    return status.ok() ? hipSuccess : status.error().code;
  }

  template <class Fill>
  void compare(const std::string& where, PropertyId property, const Fill& filled) {
    Bytes expected(kArena, kWiped);
    filled(expected);
    context_.expect(look() == expected, property, where, "the bytes of the command's buffers as they are now",
                    "others");
  }

  // The commands of a command buffer, each behind the one before.
  [[nodiscard]] hip::Recording commands_of(int mask) const {
    hip::Recording commands;
    const auto add = [&commands](hip::RecordedNode node) {
      const auto count = static_cast<hip::NodeIndex>(commands.nodes().size());
      if (count != 0) node.dependencies = {count - 1};
      commands.add(std::move(node));
    };
    for (int command = 0; command < kTraceCommands; ++command) {
      if ((mask >> command & 1) == 0) continue;
      const std::vector<std::size_t> named = buffers_of(command);
      if (command == kTracedCommand) {
        add(traced(command, named));
        continue;
      }
      for (const std::size_t i : named) {
        if (buffers_[i].bytes == 0) continue;
        hipMemsetParams params{};
        params.dst = reinterpret_cast<void*>(address(buffers_[i]));
        params.elementSize = 1;
        params.value = static_cast<unsigned>(value_of(command, i));
        params.width = params.pitch = buffers_[i].bytes;
        params.height = 1;
        add({hip::MemsetRecord{params},
             {},
             {{hip::Field::kMemsetDestination, 0, static_cast<hip::BufferIndex>(i), 0}}});
      }
    }
    return commands;
  }
  [[nodiscard]] hip::RecordedNode traced(int command, const std::vector<std::size_t>& named) const {
    std::vector<hip::BufferIndex> buffers;
    for (const std::size_t i : named) buffers.push_back(static_cast<hip::BufferIndex>(i));
    hip::TracedWork work;
    work.command = version_ * kTraceCommands + static_cast<std::uint64_t>(command);  // with the buffers' sizes
    work.stream = capturing_;
    work.buffers = std::move(buffers);
    work.work = [this, command, named](hipStream_t on, std::span<const hip::DeviceAddress> at) {
      std::vector<std::uint64_t> addresses;
      for (const std::size_t i : named) addresses.push_back(at[i]);
      return enqueue(command, on, addresses);
    };
    work.errors = context_.sink();
    return hip::traced_command(std::move(work));
  }

  struct Body {
    std::uint64_t version = 0;
    std::vector<hip::DeviceAddress> addresses;
    bool there = false;  // its last step succeeded
  };

  int body(const SystemAction& action) {
    const int mask = action.fields[0];
    const std::string where = print_action(action);
    Body& last = bodies_[static_cast<std::size_t>(mask)];
    std::vector<hip::DeviceAddress> addresses;
    for (const Buffer& buffer : buffers_) addresses.push_back(address(buffer));
    const bool same = last.there && last.version == version_;
    const bool patches = same && (mask >> kTracedCommand & 1) == 0;  // every address is known
    const bool launches = same && last.addresses == addresses;
    wipe();
    const auto recordings = [&] {
      return context_.interposer.calls_of(Function::k_hipGraphInstantiate) +
             context_.interposer.calls_of(Function::k_hipGraphCreate);
    };
    const std::uint64_t recorded = recordings(), fired = context_.interposer.fired();
    const hip::Recording commands = commands_of(mask);
    const hip::Status status = part_->body({static_cast<std::size_t>(mask), version_, commands, addresses}, stream(),
                                           [&](hipGraph_t graph) { expect_nodes(where, graph); });
    const bool failed = context_.interposer.fired() != fired;
    context_.expect(status.ok() || failed, PropertyId::kP4, where, "a step", status.ok() ? "" : status.error().message);
    context_.expect(!(patches || launches) || failed || recordings() == recorded, PropertyId::kP10, where,
                    launches ? "launched as it is" : "patched", "recorded again");
    last = {version_, std::move(addresses), status.ok()};
    if (status) {
      compare(where, PropertyId::kP3, [&](Bytes& bytes) {
        for (int command = 0; command < kTraceCommands; ++command) {
          if ((mask >> command & 1) != 0) fill(command, bytes);
        }
      });
    }
    return status.ok() ? hipSuccess : status.error().code;
  }

  // No graph without nodes, here and in children.
  void expect_nodes(const std::string& where, hipGraph_t graph) {
    const hip::Api& api = context_.inner();
    std::size_t count = 0;
    static_cast<void>(api.hipGraphGetNodes(graph, nullptr, &count));
    context_.expect(count != 0, PropertyId::kP11, where, "a graph has a node, be it an empty one", "none");
    std::vector<hipGraphNode_t> nodes(count);
    if (count != 0) static_cast<void>(api.hipGraphGetNodes(graph, nodes.data(), &count));
    for (const hipGraphNode_t node : nodes) {
      hipGraphNodeType type{};
      static_cast<void>(api.hipGraphNodeGetType(node, &type));
      hipGraph_t child = nullptr;
      if (type != hipGraphNodeTypeGraph || api.hipGraphChildGraphNodeGetGraph(node, &child) != hipSuccess) continue;
      expect_nodes(where, child);
    }
  }

  BenchContext& context_;
  std::unique_ptr<TracesPart> part_;
  TraceModel model_;
  void* arena_ = nullptr;
  hipStream_t stream_ = nullptr, capturing_ = nullptr;
  std::array<Buffer, kTraceBuffers> buffers_;
  std::uint64_t identities_ = 0;
  std::uint64_t version_ = 1;  // of the buffers' sizes, which command buffers hold
  std::array<Body, kTraceBodies> bodies_;
};

}  // namespace

std::unique_ptr<SystemBench> make_trace_bench(BenchContext& context, const Parts& parts) {
  return std::make_unique<TraceBench>(context, parts);
}

}  // namespace verify
