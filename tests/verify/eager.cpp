#include "eager.h"

#include <cstring>

#include "hip/kernels/host_kernels.h"
#include "verify/execute/placement.h"
#include "verify/program/state.h"

namespace verify {

namespace {

using Buffers = std::map<Id, std::vector<std::byte>>;

// A buffer's made-up address for the host functions: its number in the upper half, the offset in the lower.
std::uint64_t made_up(const BufferRef& ref) {
  return ((std::uint64_t{ref.buffer} + 1) << 32) + static_cast<std::uint64_t>(ref.offset);
}

class MadeUpMemory final : public hg::HostMemory {
 public:
  explicit MadeUpMemory(Buffers& buffers) : buffers_(buffers) {}
  std::byte* access(std::uint64_t address, std::size_t size, bool) override {
    const auto found = buffers_.find(static_cast<Id>((address >> 32) - 1));
    const std::uint64_t offset = address & 0xffffffffU;
    if (found == buffers_.end() || offset + size > found->second.size()) return nullptr;
    return found->second.data() + offset;
  }

 private:
  Buffers& buffers_;
};

// One overload a node type.
struct NodeRunner {
  Buffers& buffers;

  std::byte* at(const BufferRef& ref) const { return buffers.at(ref.buffer).data() + ref.offset; }

  void operator()(const KernelParams& p) const {
    std::vector<std::byte> arguments(p.kernel->argument_bytes);
    for (std::size_t i = 0; i < p.arguments.size(); ++i) {
      const ArgumentValue& value = p.arguments[i];
      const std::uint64_t bits = value.kind == ArgumentValue::Kind::kPointer ? made_up(value.ref) : value.number;
      std::memcpy(arguments.data() + p.kernel->fields[i].offset, &bits, p.kernel->fields[i].size);
    }
    MadeUpMemory memory(buffers);
    for (const hg::HostKernel& kernel : hg::host_kernels()) {
      if (kernel.name == p.kernel->name) kernel.run(arguments, memory);
    }
  }
  void operator()(const CopyParams& p) const {
    if (p.linear) {
      std::memcpy(at(p.dst.ref), at(p.src.ref), p.width);
      return;
    }
    const auto row = [&](const CopyEnd& end, std::uint64_t y, std::uint64_t z) {
      const Position& from = end.position;
      return at(end.ref) + (from.z + z) * end.pitch * end.rows + (from.y + y) * end.pitch + from.x;
    };
    for (std::uint64_t z = 0; z < p.depth; ++z) {
      for (std::uint64_t y = 0; y < p.height; ++y) std::memcpy(row(p.dst, y, z), row(p.src, y, z), p.width);
    }
  }
  void operator()(const MemsetParams& p) const {
    for (std::uint64_t y = 0; y < p.height; ++y) {
      for (std::uint64_t x = 0; x < p.width; ++x) {
        std::memcpy(at(p.dst) + y * p.pitch + x * p.element, &p.value, p.element);  // little-endian: the low bytes
      }
    }
  }
  void operator()(const BatchParams& p) const {
    for (const MemoryOperation& operation : p.operations) {
      if (!operation.waits) std::memcpy(at(operation.ref), &operation.value, operation.bytes);  // the low bytes
    }
  }
  // Everything runs in one order here.
  void operator()(const EventRecordParams&) const {}
  void operator()(const EventWaitParams&) const {}
  void operator()(const SemaphoreParams&) const {}
  void operator()(const HostParams& p) const {
    if (!p.memory) return;
    std::byte* bytes = at(*p.memory);
    for (std::uint32_t i = 0; i < p.bytes; ++i) {
      bytes[i] = static_cast<std::byte>(std::to_integer<unsigned>(bytes[i]) * 31 + p.tag + i);
    }
  }
  void operator()(const EmptyParams&) const {}
  void operator()(const ChildParams&) const {}
  void operator()(const MemoryAllocParams& p) const { buffers[p.buffer].assign(p.bytes, std::byte{0}); }
  void operator()(const MemoryFreeParams& p) const { buffers.erase(p.buffer); }
};

void run_graph(const GraphState& graph, Buffers& buffers);

// Runs a node after the nodes that it depends on, whatever the order in which the nodes were added.
void run_node(const GraphState& graph, std::size_t index, std::vector<bool>& done, Buffers& buffers) {
  if (done[index]) return;
  done[index] = true;
  const NodeState& node = graph.nodes[index];
  for (const std::uint32_t before : node.after) run_node(graph, before, done, buffers);
  if (!node.enabled) return;
  if (node.child) run_graph(*node.child, buffers);
  for (std::uint32_t k = 0; k < node.fan; ++k) std::visit(NodeRunner{buffers}, fan_instance(node.params, k));
}

void run_graph(const GraphState& graph, Buffers& buffers) {
  std::vector<bool> done(graph.nodes.size(), false);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) run_node(graph, i, done, buffers);
}

void remove_addresses(NodeParams& params) {
  auto* kernel = std::get_if<KernelParams>(&params);
  if (kernel == nullptr) return;
  for (ArgumentValue& value : kernel->arguments) {
    if (value.kind == ArgumentValue::Kind::kAddressBits) value = {ArgumentValue::Kind::kNumber, 5, {}};
  }
}

}  // namespace

Program without_addresses(Program program) {
  for (Step& step : program.steps) {
    if (auto* add = std::get_if<AddNode>(&step.command)) remove_addresses(add->params);
    if (auto* set = std::get_if<SetNode>(&step.command)) remove_addresses(set->params);
    if (auto* work = std::get_if<Enqueue>(&step.command)) remove_addresses(work->params);
  }
  return program;
}

std::vector<BytesSeen> run_eagerly(const Program& program) {
  State state;
  Buffers buffers;
  std::vector<BytesSeen> reads;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    for (std::uint32_t k = 0; k < step.repeat; ++k) {
      const bool refused = state.answer(step.command).status != 0;
      const auto* given = std::get_if<Enqueue>(&step.command);
      const auto* started = std::get_if<Launch>(&step.command);
      const auto* taken = std::get_if<MallocAsync>(&step.command);
      const auto* plain = std::get_if<Malloc>(&step.command);
      const auto* given_back = std::get_if<FreeAsync>(&step.command);
      const auto captured = [&state](const auto* c) { return c != nullptr && state.capture_of(c->stream) != nullptr; };
      const bool adds_to_a_graph = captured(given) || captured(taken) || captured(given_back) || captured(started);
      // Launched again over memory that nobody freed.
      const bool held = started != nullptr && state.unfreed_memory(state.exec(started->exec)->graph) &&
                        (state.exec(started->exec)->flags & kAutoFreeOnLaunch) == 0;
      state.apply(step.command);
      if (refused || adds_to_a_graph || held) continue;
      if (const auto* c = std::get_if<DeclareBuffer>(&step.command)) {
        buffers[c->buffer].resize(c->bytes);
        fill_pattern(c->buffer, 0, buffers[c->buffer]);
      } else if (const auto* write = std::get_if<Write>(&step.command)) {
        fill_pattern(write->buffer, write->seed, buffers[write->buffer]);
      } else if (taken != nullptr) {
        buffers[taken->buffer].resize(taken->bytes);
      } else if (plain != nullptr) {
        buffers[plain->buffer].resize(plain->bytes);
      } else if (const auto* freed = std::get_if<Free>(&step.command)) {
        buffers.erase(freed->buffer);
      } else if (given_back != nullptr) {
        buffers.erase(given_back->buffer);
      } else if (const auto* read = std::get_if<Read>(&step.command)) {
        reads.push_back({i, read->buffer, buffers.at(read->buffer)});
      } else if (started != nullptr) {
        run_graph(state.exec(started->exec)->graph, buffers);
      } else if (given != nullptr) {
        std::visit(NodeRunner{buffers}, given->params);
      }
    }
  }
  for (const auto& [id, bytes] : buffers) {
    if (state.buffer(id)->alive && !state.buffer(id)->runtime_places())
      reads.push_back({program.steps.size(), id, bytes});
  }
  return reads;
}

}  // namespace verify
