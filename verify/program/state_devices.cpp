#include "verify/program/state_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace verify {

using Reason = std::optional<std::string>;

Id State::device_of_stream(Id stream) const {
  const StreamState* found = find(streams_, stream);
  return found == nullptr ? 0 : found->device;
}

Id State::device_of_event(Id event) const {
  const EventState* found = find(events_, event);
  return found == nullptr ? 0 : found->device;
}

std::vector<Id> State::devices_of(const NodeParams& params) const {
  const auto of = [this](const BufferRef& ref) { return buffers_.at(ref.buffer).device; };
  if (const auto* kernel = std::get_if<KernelParams>(&params)) return {kernel->device};
  if (const auto* copy = std::get_if<CopyParams>(&params)) return {of(copy->dst.ref), of(copy->src.ref)};
  if (const auto* memset = std::get_if<MemsetParams>(&params)) return {of(memset->dst)};
  return {};
}

// hipDeviceEnablePeerAccess maps the memory of a peer; what is not mapped faults.
Reason State::unreachable(const KernelParams& kernel) const {
  Reason reason;
  for_each_ref(kernel, [&](const BufferRef& ref) {
    const BufferState& buffer = buffers_.at(ref.buffer);
    if (buffer.memory != MemoryKind::kDevice || buffer.device == kernel.device) return;
    if (!reason && !peer_enabled(kernel.device, buffer.device))
      reason = fmt::format("device {} has no access to b{} of device {}", kernel.device, ref.buffer, buffer.device);
  });
  return reason;
}

Reason State::unreachable(const GraphState& graph) const {
  for (const NodeState& node : graph.nodes) {
    const auto* kernel = std::get_if<KernelParams>(&node.params);
    if (kernel != nullptr) {
      if (Reason reason = unreachable(*kernel)) return reason;
    }
    if (node.child) {
      if (Reason reason = unreachable(*node.child)) return reason;
    }
  }
  return {};
}

namespace {

Reason no(std::string reason) {
  return reason;
}

// Pairs of nodes; what differs otherwise is found elsewhere.
bool same_devices(const GraphState& a, const GraphState& b) {
  for (std::size_t i = 0; i < std::min(a.nodes.size(), b.nodes.size()); ++i) {
    const NodeState &x = a.nodes[i], &y = b.nodes[i];
    if (x.params.index() != y.params.index()) continue;
    if (x.devices != y.devices) return false;
    if (x.child && y.child && !same_devices(*x.child, *y.child)) return false;
  }
  return true;
}

struct DeviceChecker {
  const State& state;

  static Reason known(Id device) {
    if (device < kMaxDevices) return {};
    return no(fmt::format("devices are numbered to {}", kMaxDevices - 1));
  }
  static Reason node(const NodeParams& params) {
    if (const auto* kernel = std::get_if<KernelParams>(&params)) return known(kernel->device);
    const auto* copy = std::get_if<CopyParams>(&params);
    if (copy == nullptr || copy->peer == PeerCopy::kNone) return {};
    return no("nodes are not told the devices of a copy's ends");
  }
  // What HIP documents of graphs with event nodes and memory nodes says nothing of other devices.
  Reason event_node(const NodeParams& params) const {
    const auto* record = std::get_if<EventRecordParams>(&params);
    const auto* wait = std::get_if<EventWaitParams>(&params);
    if (record == nullptr && wait == nullptr) return {};
    if (state.device_of_event(record != nullptr ? record->event : wait->event) == 0) return {};
    return no("which device's streams a node records an event on is not documented");
  }

  // CUDA, stream-ordered allocation: access to a pool's memory is granted by hipMemPoolSetAccess, and not by enabling
  // peers. Programs grant none.
  Reason pooled(const NodeParams& params, Id device) const {
    std::vector<Id> devices = state.devices_of(params);
    devices.push_back(device);
    bool of_pool = false;
    for_each_ref(params,
                 [&](const BufferRef& ref) { of_pool = of_pool || state.buffer(ref.buffer)->runtime_places(); });
    const bool strange = std::any_of(devices.begin(), devices.end(), [](Id one) { return one != 0; });
    return of_pool && strange ? no("what graphs and streams allocate is device 0's, and no other device reaches it")
                              : Reason{};
  }

  Reason operator()(const DeclareBuffer& c) const {
    if (c.device != 0 && (c.memory != MemoryKind::kDevice || c.symbol))
      return no("memory of the host is every device's, and a variable is device 0's");
    return known(c.device);
  }
  Reason operator()(const DeclareStream& c) const {
    if (c.device != 0 && c.per_thread) return no("the per-thread stream is that of device 0");
    return known(c.device);
  }
  Reason operator()(const DeclareEvent& c) const { return known(c.device); }
  Reason operator()(const AddNode& c) const {
    if (Reason reason = event_node(c.params)) return reason;
    if (Reason reason = pooled(c.params, 0)) return reason;
    return node(c.params);
  }
  // CUDA, cudaGraphExecKernelNodeSetParams: the function stays in its context; cudaGraphExecMemcpyNodeSetParams and
  // cudaGraphExecMemsetNodeSetParams: memory from the same contexts as the original.
  Reason operator()(const SetNode& c) const {
    if (Reason reason = event_node(c.params)) return reason;
    if (Reason reason = pooled(c.params, 0)) return reason;
    if (Reason reason = node(c.params)) return reason;
    const GraphState& graph = c.target == Target::kGraph ? *state.graph(c.id) : state.exec(c.id)->graph;
    const NodeState& before = *graph.find(c.node);
    const bool kernel = std::holds_alternative<KernelParams>(c.params);
    const bool keeps = c.target == Target::kExec || kernel;
    if (keeps && before.devices != state.devices_of(c.params)) return no("a setter keeps the devices of its node");
    const auto* child = std::get_if<ChildParams>(&c.params);
    if (child == nullptr || same_devices(*before.child, *state.graph(child->graph))) return {};
    return no("a child that is set keeps the devices of its nodes");
  }
  // CUDA, cudaGraphExecUpdate: neither the context of a function nor the device of an operand can change; what is
  // answered when it does is not said.
  Reason operator()(const Update& c) const {
    if (same_devices(state.exec(c.exec)->graph, *state.graph(c.graph))) return {};
    return no("what an update does with memory or kernels of another device is not documented");
  }
  Reason operator()(const Launch& c) const {
    const ExecState& exec = *state.exec(c.exec);
    if (exec.graph.has_memory && state.device_of_stream(c.stream) != 0)
      return no("what graphs allocate is device 0's, and so are the streams that they are launched on");
    return state.capture_of(c.stream) != nullptr ? Reason{} : state.unreachable(exec.graph);
  }
  Reason on_first_device(Id stream) const {
    return state.device_of_stream(stream) == 0 ? Reason{} : no("what graphs and streams allocate is device 0's");
  }
  Reason operator()(const FreeAsync& c) const { return on_first_device(c.stream); }
  Reason operator()(const MallocAsync& c) const { return on_first_device(c.stream); }
  // HIP, multi-device management: a kernel that is given to a stream of another device fails; a copy does not.
  Reason operator()(const Enqueue& c) const {
    const Id device = state.device_of_stream(c.stream);
    if (Reason reason = pooled(c.params, device)) return reason;
    if (Reason reason = event_node(c.params)) return reason;
    if (is_event_node(c.params) && device != 0)
      return no("which device's streams a node records an event on is not documented");
    if (const auto* kernel = std::get_if<KernelParams>(&c.params)) {
      if (kernel->device != device) return no(fmt::format("s{} is a stream of device {}", c.stream, device));
      return state.capture_of(c.stream) != nullptr ? Reason{} : state.unreachable(*kernel);
    }
    if (const auto* memset = std::get_if<MemsetParams>(&c.params)) {
      const BufferState& buffer = *state.buffer(memset->dst.buffer);
      if (buffer.memory == MemoryKind::kDevice && buffer.device != device)
        return no(fmt::format("s{} is a stream of device {}", c.stream, device));
    }
    const auto* copy = std::get_if<CopyParams>(&c.params);
    if (copy != nullptr && copy->symbol != CopySymbol::kNone && device != 0)
      return no("a symbol that is given to a stream of another device stands for that one's variable");
    return copy == nullptr ? Reason{} : peer_copy(c, *copy);
  }
  Reason peer_copy(const Enqueue& c, const CopyParams& copy) const {
    if (copy.peer == PeerCopy::kNone) return {};
    if (!copy.linear || copy.symbol != CopySymbol::kNone || copy.kind != CopyKind::kDeviceToDevice)
      return no("a copy between peers is linear and from device to device");
    for (const CopyEnd* end : {&copy.dst, &copy.src}) {
      if (state.buffer(end->ref.buffer)->memory != MemoryKind::kDevice)
        return no("a copy between peers is of their own memory");
    }
    if (copy.peer == PeerCopy::kAsync) return {};
    if (c.stream != kNullStream) return no("a copy that the host waits for is the null stream's");
    if (!state.captures().empty()) return no("a copy that waits is 'unsafe' while a stream captures");
    return state.idle() ? Reason{} : no("which work a copy between peers waits for is not documented: synchronise");
  }
  Reason operator()(const RecordEvent& c) const {
    if (state.capture_of(c.stream) == nullptr || state.device_of_event(c.event) == state.device_of_stream(c.stream))
      return {};
    return no("what a capture does with an event of another device is not documented");
  }
  Reason operator()(const PeerAccess& c) const {
    if (Reason reason = known(std::max(c.device, c.peer))) return reason;
    if (c.verb == PeerVerb::kCan) return {};
    if (c.device == c.peer) return no("a device is no peer of itself");
    if (!state.captures().empty()) return no("access is not changed while a stream captures");
    return state.idle() ? Reason{} : no("work that is running may need what it reaches: synchronise first");
  }
  template <class Other>
  Reason operator()(const Other&) const {
    return {};
  }
};

struct Highest {
  Id device = 0;
  void note(Id other) { device = std::max(device, other); }
  void params(const NodeParams& params) {
    if (const auto* kernel = std::get_if<KernelParams>(&params)) note(kernel->device);
  }
  void operator()(const DeclareBuffer& c) { note(c.device); }
  void operator()(const DeclareStream& c) { note(c.device); }
  void operator()(const DeclareEvent& c) { note(c.device); }
  void operator()(const AddNode& c) { params(c.params); }
  void operator()(const SetNode& c) { params(c.params); }
  void operator()(const Enqueue& c) { params(c.params); }
  void operator()(const PeerAccess& c) { note(std::max(c.device, c.peer)); }
  void operator()(const SystemAction& c) { note(static_cast<Id>(device_of(c))); }
  template <class Other>
  void operator()(const Other&) {}
};

}  // namespace

Reason check_devices(const State& state, const Command& command) {
  return std::visit(DeviceChecker{state}, command);
}

bool peer_refused(const State& state, const Command& command) {
  const auto* access = std::get_if<PeerAccess>(&command);
  if (access == nullptr || access->verb == PeerVerb::kCan) return false;
  return state.peer_enabled(access->device, access->peer) == (access->verb == PeerVerb::kEnable);
}

namespace {

void add_devices(const GraphState& graph, std::set<Id>& devices) {
  for (const NodeState& node : graph.nodes) {
    const bool copies = std::holds_alternative<CopyParams>(node.params);
    if (!copies) devices.insert(node.devices.begin(), node.devices.end());
    if (node.child) add_devices(*node.child, devices);
  }
}

}  // namespace

Id home_of(const GraphState& graph) {
  std::set<Id> devices;
  add_devices(graph, devices);
  return devices.size() == 1 ? *devices.begin() : 0;
}

bool runs_on(const GraphState& graph, Id device) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [device](const NodeState& node) {
    if (node.child) return runs_on(*node.child, device);
    const bool runs =
        std::holds_alternative<KernelParams>(node.params) || std::holds_alternative<MemsetParams>(node.params);
    return runs && node.added_on == device;
  });
}

Id devices_needed(const Program& program) {
  Highest highest;
  for (const Step& step : program.steps) std::visit(highest, step.command);
  return highest.device + 1;
}

}  // namespace verify
