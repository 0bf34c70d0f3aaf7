#include "verify/program/features.h"

#include <cassert>
#include <set>
#include <unordered_map>

#include "verify/program/text.h"

namespace verify {

namespace {

std::vector<std::string> make_names() {
  std::vector<std::string> names = {"placement arena", "placement native"};
  for (const char* word : {"buffer",        "graph",        "stream",         "event",      "instantiate",
                           "launch",        "move",         "patch",          "set",        "update",
                           "sync",          "record",       "wait",           "read",       "write",
                           "free",          "destroy",      "fail",           "bad",        "repeat",
                           "clone",         "find",         "edge",           "unedge",     "remove",
                           "enable",        "disable",      "upload",         "inspect",    "on",
                           "query",         "elapsed",      "capture",        "endcapture", "capture_info",
                           "capture_after", "capture_mode", "unsafe",         "userobject", "retain",
                           "release",       "dot",          "free_async",     "attribute",  "copy_attributes",
                           "malloc_async",  "pool",         "pool_attribute", "pool_trim",  "pool_access",
                           "pool_use",      "peer"}) {
    names.push_back(std::string("command ") + word);
  }
  for (std::size_t i = 0; i < kSystemVerbs; ++i) {
    names.push_back("command " + std::string(describe(static_cast<SystemVerb>(i)).words));
  }
  for (const char* word : {"kernel", "memcpy", "memcpy3d", "memset", "host", "empty", "child", "eventrecord",
                           "eventwait", "alloc", "free"}) {
    names.push_back(std::string("node ") + word);
    if (word == std::string_view("alloc") || word == std::string_view("free")) continue;  // HIP has no setter
    if (word != std::string_view("empty")) names.push_back(std::string("set exec ") + word);
    if (word != std::string_view("empty") && word != std::string_view("child"))
      names.push_back(std::string("set graph ") + word);
  }
  for (const KernelSpec& spec : drawn_kernels()) names.push_back("kernel " + spec.name);
  for (const char* size : {"1", "2", "4", "8"}) {
    names.push_back(std::string("scalar number in ") + size + " bytes");
    names.push_back(std::string("scalar addr() in ") + size + " bytes");
  }
  for (const char* rest : {"pointer base",
                           "pointer interior",
                           "pointer one past the end",
                           "pointer in a struct",
                           "style params",
                           "style extra",
                           "opaque kernel",
                           "memory device",
                           "memory pinned",
                           "memory pageable",
                           "memory managed",
                           "memory registered",
                           "memory symbol",
                           "memory of another device",
                           "copy between devices",
                           "copy to a peer",
                           "kernel of another device",
                           "stream of another device",
                           "event of another device",
                           "peer can",
                           "peer enable",
                           "peer disable",
                           "copy to a symbol",
                           "copy from a symbol",
                           "attribute priority",
                           "attribute cooperative",
                           "copy h2h",
                           "copy h2d",
                           "copy d2h",
                           "copy d2d",
                           "copy default",
                           "copy with positions",
                           "copy of one row",
                           "copy of many rows",
                           "copy of many slices",
                           "memset 1D",
                           "memset 2D",
                           "memset element 1",
                           "memset element 2",
                           "memset element 4",
                           "move one",
                           "move several",
                           "move swap",
                           "move cycle",
                           "move chain",
                           "empty graph",
                           "nest",
                           "fan",
                           "patch exec",
                           "patch graph",
                           "host with memory",
                           "instantiate flags",
                           "instantiate params",
                           "instantiate a circle",
                           "inspect exec",
                           "shared memory",
                           "generic add",
                           "driver add",
                           "driver set exec",
                           "driver set graph",
                           "generic set exec",
                           "generic set graph",
                           "non-blocking stream",
                           "stream with a priority",
                           "per-thread stream",
                           "event with timing",
                           "event that blocks",
                           "event with a release",
                           "eager work",
                           "captured work",
                           "captured event node",
                           "captured launch",
                           "capture global",
                           "capture thread",
                           "capture relaxed",
                           "capture into a graph",
                           "capture fork",
                           "captured allocation",
                           "captured free",
                           "default pool",
                           "pool of one's own",
                           "destroy a pool",
                           "capture refused",
                           "capture invalidated",
                           "helper thread"}) {
    names.emplace_back(rest);
  }
  return names;
}

class Counter {
 public:
  explicit Counter(std::span<std::uint64_t> counts) : counts_(counts) {}

  void add(std::string_view name) const {
    static const std::unordered_map<std::string_view, std::size_t> index = [] {
      std::unordered_map<std::string_view, std::size_t> map;
      for (std::size_t i = 0; i < feature_names().size(); ++i) map.emplace(feature_names()[i], i);
      return map;
    }();
    const auto found = index.find(name);
    assert(found != index.end());
    ++counts_[found->second];
  }
  void add(const char* prefix, std::string_view rest) const {
    char text[96];
    std::size_t length = 0;
    for (const char* c = prefix; *c != 0; ++c) text[length++] = *c;
    for (const char c : rest) {
      if (length < sizeof text) text[length++] = c;
    }
    add(std::string_view(text, length));
  }

  void node(const NodeParams& params, const std::vector<std::uint64_t>& buffer_bytes) const {
    if (const auto* kernel = std::get_if<KernelParams>(&params)) return kernel_node(*kernel, buffer_bytes);
    if (const auto* copy = std::get_if<CopyParams>(&params)) return copy_node(*copy);
    if (const auto* memset = std::get_if<MemsetParams>(&params)) {
      add(memset->height == 1 ? "memset 1D" : "memset 2D");
      add(memset->element == 1 ? "memset element 1" : memset->element == 2 ? "memset element 2" : "memset element 4");
    } else if (const auto* host = std::get_if<HostParams>(&params)) {
      if (host->memory) add("host with memory");
    } else if (const auto* child = std::get_if<ChildParams>(&params)) {
      if (child->nest > 1) add("nest");
    }
  }

  void moves(const MoveBuffers& command) const {
    std::size_t onto = 0;
    for (const BufferMove& move : command.moves) onto += move.onto ? 1 : 0;
    if (command.moves.size() == 1) add("move one");
    if (command.moves.size() > 1 && onto == 0) add("move several");
    if (onto == 2 && command.moves.size() == 2) add("move swap");
    if (onto > 2 && onto == command.moves.size()) add("move cycle");
    if (onto > 0 && onto < command.moves.size()) add("move chain");
  }

 private:
  void kernel_node(const KernelParams& kernel, const std::vector<std::uint64_t>& buffer_bytes) const {
    // Another's is nobody's to draw.
    if (kernel.kernel->object == nullptr && kernel.kernel->drawn) add("kernel ", kernel.kernel->name);
    add(kernel.style == ArgumentStyle::kExtra ? "style extra" : "style params");
    if (kernel.opaque) add("opaque kernel");
    if (kernel.shared_bytes != 0) add("shared memory");
    if (kernel.device != 0) add("kernel of another device");
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
      const FieldSpec& field = kernel.kernel->fields[i];
      const ArgumentValue& value = kernel.arguments[i];
      if (value.kind != ArgumentValue::Kind::kPointer) {
        scalar(value.kind == ArgumentValue::Kind::kAddressBits, field.size);
        continue;
      }
      const auto bytes =
          static_cast<std::int64_t>(value.ref.buffer < buffer_bytes.size() ? buffer_bytes[value.ref.buffer] : 0);
      add(value.ref.offset == 0       ? "pointer base"
          : value.ref.offset == bytes ? "pointer one past the end"
                                      : "pointer interior");
      if (field.name.find('.') != std::string::npos) add("pointer in a struct");
    }
  }
  void scalar(bool address, std::uint32_t size) const {
    static constexpr const char* kNumbers[] = {"scalar number in 1 bytes", "scalar number in 2 bytes",
                                               "scalar number in 4 bytes", "scalar number in 8 bytes"};
    static constexpr const char* kAddresses[] = {"scalar addr() in 1 bytes", "scalar addr() in 2 bytes",
                                                 "scalar addr() in 4 bytes", "scalar addr() in 8 bytes"};
    const int index = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    add(address ? kAddresses[index] : kNumbers[index]);
  }
  void copy_node(const CopyParams& copy) const {
    static constexpr const char* kKinds[] = {"copy h2h", "copy h2d", "copy d2h", "copy d2d", "copy default"};
    add(kKinds[static_cast<int>(copy.kind)]);
    if (copy.symbol == CopySymbol::kDestination) add("copy to a symbol");
    if (copy.symbol == CopySymbol::kSource) add("copy from a symbol");
    if (copy.peer != PeerCopy::kNone) add("copy to a peer");
    if (copy.linear) return;
    if (!(copy.dst.position == Position{}) || !(copy.src.position == Position{})) add("copy with positions");
    add(copy.depth > 1 ? "copy of many slices" : copy.height > 1 ? "copy of many rows" : "copy of one row");
  }

  std::span<std::uint64_t> counts_;
};

}  // namespace

std::span<const std::string> feature_names() {
  static const std::vector<std::string> names = make_names();
  return names;
}

namespace {

Id device_in(const std::vector<Id>& devices, const CopyEnd& end) {
  return end.ref.buffer < devices.size() ? devices[end.ref.buffer] : 0;
}

}  // namespace

void count_features(const Program& program, std::span<std::uint64_t> counts) {
  assert(counts.size() == feature_names().size());
  const Counter counter(counts);
  counter.add(program.placement == Placement::kArena ? "placement arena" : "placement native");
  std::vector<std::uint64_t> buffer_bytes;
  std::vector<Id> buffer_devices;
  const auto node = [&](const NodeParams& params) {
    counter.node(params, buffer_bytes);
    const auto* copy = std::get_if<CopyParams>(&params);
    if (copy != nullptr && device_in(buffer_devices, copy->dst) != device_in(buffer_devices, copy->src))
      counter.add("copy between devices");
  };
  std::set<Id> filled, circles;
  for (const Step& step : program.steps) {
    if (step.repeat > 1) counter.add("command repeat");
    if (const auto* added = std::get_if<AddNode>(&step.command)) {
      counter.add("node ", node_word(added->params));
      if (added->fan > 1) counter.add("fan");
      if (added->form == NodeForm::kGeneric) counter.add("generic add");
      if (added->form == NodeForm::kDriver) counter.add("driver add");
      filled.insert(added->graph);
      node(added->params);
      continue;
    }
    counter.add("command ", command_word(step.command));
    if (const auto* buffer = std::get_if<DeclareBuffer>(&step.command)) {
      if (buffer_bytes.size() <= buffer->buffer) buffer_bytes.resize(buffer->buffer + 1);
      buffer_bytes[buffer->buffer] = buffer->bytes;
      static constexpr const char* kMemory[] = {"memory device", "memory pinned", "memory pageable", "memory managed",
                                                "memory registered"};
      counter.add(buffer->symbol ? "memory symbol" : kMemory[static_cast<int>(buffer->memory)]);
      if (buffer->device != 0) counter.add("memory of another device");
      if (buffer_devices.size() <= buffer->buffer) buffer_devices.resize(buffer->buffer + 1);
      buffer_devices[buffer->buffer] = buffer->device;
    } else if (const auto* move = std::get_if<MoveBuffers>(&step.command)) {
      counter.moves(*move);
    } else if (const auto* set = std::get_if<SetNode>(&step.command)) {
      counter.add(set->target == Target::kExec ? "set exec " : "set graph ", node_word(set->params));
      const bool in_exec = set->target == Target::kExec;
      if (set->form == NodeForm::kGeneric) counter.add(in_exec ? "generic set exec" : "generic set graph");
      if (set->form == NodeForm::kDriver) counter.add(in_exec ? "driver set exec" : "driver set graph");
      node(set->params);
    } else if (const auto* patch = std::get_if<Patch>(&step.command)) {
      counter.add(patch->target == Target::kExec ? "patch exec" : "patch graph");
    } else if (const auto* instantiate = std::get_if<Instantiate>(&step.command)) {
      if (!filled.contains(instantiate->graph)) counter.add("empty graph");
      if (instantiate->form == InstantiateForm::kFlags) counter.add("instantiate flags");
      if (instantiate->form == InstantiateForm::kParams) counter.add("instantiate params");
      if (circles.contains(instantiate->graph)) counter.add("instantiate a circle");
    } else if (const auto* clone = std::get_if<CloneGraph>(&step.command)) {
      if (filled.contains(clone->from)) filled.insert(clone->graph);
      if (circles.contains(clone->from)) circles.insert(clone->graph);
    } else if (const auto* edges = std::get_if<ChangeEdges>(&step.command)) {
      if (edges->cycle) circles.insert(edges->graph);
      if (!edges->add) circles.erase(edges->graph);
    } else if (const auto* set_attributes = std::get_if<SetAttributes>(&step.command)) {
      if (set_attributes->attributes.priority) counter.add("attribute priority");
      if (set_attributes->attributes.cooperative) counter.add("attribute cooperative");
    } else if (const auto* access = std::get_if<PeerAccess>(&step.command)) {
      counter.add("peer ", peer_words()[static_cast<std::size_t>(access->verb)]);
    } else if (const auto* inspect = std::get_if<Inspect>(&step.command)) {
      if (inspect->target == Target::kExec) counter.add("inspect exec");
    } else if (const auto* end = std::get_if<EndCapture>(&step.command)) {
      filled.insert(end->graph);
    } else if (const auto* work = std::get_if<Enqueue>(&step.command)) {
      node(work->params);
    } else if (const auto* pool = std::get_if<DeclarePool>(&step.command)) {
      if (pool->of_device) counter.add("default pool");
    } else if (std::holds_alternative<DestroyPool>(step.command)) {
      counter.add("destroy a pool");
    } else if (const auto* memory = std::get_if<MallocAsync>(&step.command)) {
      if (buffer_bytes.size() <= memory->buffer) buffer_bytes.resize(memory->buffer + 1);
      buffer_bytes[memory->buffer] = memory->bytes;
      if (memory->pool) counter.add("pool of one's own");
    }
  }
  count_stream_features(program, [&counter](std::string_view name) { counter.add(name); });
}

}  // namespace verify
