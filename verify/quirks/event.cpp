#include "verify/quirks/event.h"

#include <algorithm>

#include "hip/spread/stream_spread.h"
#include "verify/errors/error_cases.h"
#include "verify/program/state_devices.h"

namespace verify {

namespace {

using enum Attribute;

struct AttributeText {
  std::string_view name, words;
};
constexpr std::array<AttributeText, kAttributes> kTexts = {{
#define ATTRIBUTE(name, words) {#name, words},
#include "verify/quirks/attributes.inc"
#undef ATTRIBUTE
}};

enum Op : std::uint8_t {
  kAdd,
  kSet,
  kInstantiate,
  kLaunch,
  kUpdate,
  kPatch,
  kDestroy,
  kClone,
  kEdges,
  kRemove,
  kEnable,
  kUpload,
  kInspect,
  kRetain,
  kRelease,
  kDot,
  kOn,
  kSync,
  kQuery,
  kRecord,
  kWait,
  kCapture,
  kEndCapture,
  kCaptureInfo,
  kCaptureAfter,
  kCaptureMode,
  kUnsafe,
  kElapsed,
  kBad,
  kFreeAsync,
  kFree,
  kRead,
  kAttribute,
  kCopyAttributes,
  kMallocAsync,
  kPeer
};

std::uint64_t nodes_of(const GraphState& graph) {
  std::uint64_t nodes = 0;
  for (const NodeState& node : graph.nodes) nodes += node.fan;
  return nodes;
}

std::uint64_t roots_of(const GraphState& graph) {
  std::uint64_t roots = 0;
  for (const NodeState& node : graph.nodes) roots += node.after.empty() ? node.fan : 0;
  return roots;
}

std::uint64_t leaves_of(const GraphState& graph) {
  std::vector<bool> followed(graph.nodes.size(), false);
  for (const NodeState& node : graph.nodes) {
    for (const std::uint32_t before : node.after) followed[before] = true;
  }
  std::uint64_t leaves = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) leaves += followed[i] ? 0 : graph.nodes[i].fan;
  return leaves;
}

// As many dependencies at each node, whichever they are.
bool same_counts(const GraphState& a, const GraphState& b) {
  return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                    [](const NodeState& x, const NodeState& y) { return x.after.size() == y.after.size(); });
}

std::uint64_t most_dependents(const GraphState& graph) {
  std::vector<std::uint64_t> dependents(graph.nodes.size(), 0);
  for (const NodeState& node : graph.nodes) {
    for (const std::uint32_t before : node.after) dependents[before] += node.fan;
  }
  return dependents.empty() ? 0 : *std::max_element(dependents.begin(), dependents.end());
}

// hip/spread/stream_spread.h, of graphs that are spread.
bool leaves_stream_out(const GraphState& graph) {
  if (nodes_of(graph) < hip::kSpreadNodes) return false;  // nor worth its edges
  std::vector<std::uint32_t> first;                       // of each node and its fans
  std::vector<std::vector<std::uint32_t>> dependencies;
  for (const NodeState& node : graph.nodes) {
    first.push_back(static_cast<std::uint32_t>(dependencies.size()));
    for (std::uint32_t k = 0; k < node.fan; ++k) dependencies.emplace_back();
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::uint32_t before : graph.nodes[i].after) {
      for (std::uint32_t k = 0; k < graph.nodes[i].fan; ++k) {
        for (std::uint32_t b = 0; b < graph.nodes[before].fan; ++b)
          dependencies[first[i] + k].push_back(first[before] + b);
      }
    }
  }
  return hip::leaves_stream_out(dependencies);
}

// Nodes at any depth that `holds` holds of, fans counted.
template <class Holds>
std::uint64_t count_in(const GraphState& graph, const Holds& holds) {
  std::uint64_t count = 0;
  for (const NodeState& node : graph.nodes) {
    if (holds(node)) count += node.fan;
    if (node.child) count += count_in(*node.child, holds);
  }
  return count;
}

std::uint64_t hosts_in(const GraphState& graph) {
  return count_in(graph, [](const NodeState& node) { return std::holds_alternative<HostParams>(node.params); });
}

bool branches(const GraphState& graph) {
  return roots_of(graph) > 1 || most_dependents(graph) > 1;
}

bool on_device(const State& state, const CopyEnd& end) {
  const BufferState* buffer = state.buffer(end.ref.buffer);
  return buffer != nullptr && buffer->memory == MemoryKind::kDevice;
}

// Memory of the host that the device reaches.
bool on_locked_host(const State& state, const CopyEnd& end) {
  const BufferState* buffer = state.buffer(end.ref.buffer);
  return buffer != nullptr && buffer->memory != MemoryKind::kDevice && buffer->memory != MemoryKind::kPageable;
}

// Nodes for which no packet is recorded when the graph is instantiated: a copy from one device to another has none.
std::uint64_t idle_in(const State& state, const GraphState& graph) {
  std::uint64_t idle = 0;
  for (const NodeState& node : graph.nodes) {
    const auto* copy = std::get_if<CopyParams>(&node.params);
    const auto pageable = [&](const CopyEnd& end) { return !on_device(state, end) && !on_locked_host(state, end); };
    const bool packets = std::holds_alternative<KernelParams>(node.params) ||
                         std::holds_alternative<MemsetParams>(node.params) ||
                         (copy != nullptr && !pageable(copy->dst) && !pageable(copy->src) &&
                          node.devices.front() == node.devices.back());
    if (!packets) idle += node.fan;
  }
  return idle;
}

// Copies of rows to, from or within a device other than the first, at any depth, in graphs with branches or children.
std::uint64_t rows_beside_in(const State& state, const GraphState& graph) {
  const bool beside = branches(graph) || graph.depth > 1;
  std::uint64_t rows = 0;
  for (const NodeState& node : graph.nodes) {
    if (node.child) rows += rows_beside_in(state, *node.child);
    const auto* copy = std::get_if<CopyParams>(&node.params);
    if (!beside || copy == nullptr || copy->linear) continue;
    if (std::any_of(node.devices.begin(), node.devices.end(), [](Id device) { return device != 0; })) rows += node.fan;
  }
  return rows;
}

// Copies of rows to or from the memory of a device other than `device`, at any depth.
std::uint64_t rows_elsewhere_in(const State& state, const GraphState& graph, Id device) {
  return count_in(graph, [&](const NodeState& node) {
    const auto* copy = std::get_if<CopyParams>(&node.params);
    if (copy == nullptr || copy->linear) return false;
    const bool to = on_device(state, copy->dst) && node.devices.front() != device;
    return to || (on_device(state, copy->src) && node.devices.back() != device);
  });
}

// Kernels and memsets of other devices than `device`, and what kernels of the runtime make: copies within one of those
// or within one that is not `home`, and, of a graph whose home is not device 0 or captured on another device than it is
// launched on, rows between devices that are said to be within one. Then symbols, which are looked up where the graph
// is launched, rows within such a device that may go to another stream of the runtime's than the launching one, as a
// graph with branches has, and 1D copies from and to pinned, registered or managed memory whose other end is on a
// device that is neither (host memory counts as device 0's). `stabilised`: host memory has a buffer on its device that
// stands for it.
std::uint64_t astray_in(const State& state, const GraphState& graph, Id device, Id home, bool stabilised) {
  std::uint64_t astray = 0;
  for (const NodeState& node : graph.nodes) {
    // A child beside other branches is where its own nodes were added.
    if (node.child) {
      astray += astray_in(state, *node.child, device, branches(graph) ? home_of(*node.child) : home, stabilised);
    }
    if (node.devices.empty()) continue;
    const Id own = node.devices.front();
    const auto* copy = std::get_if<CopyParams>(&node.params);
    bool strays = own != device || node.added_on != own;
    if (copy != nullptr) {
      const bool in_one = own == node.devices.back(),
                 on_devices = stabilised || (on_device(state, copy->dst) && on_device(state, copy->src));
      const bool rows = !copy->linear && copy->kind == CopyKind::kDeviceToDevice;
      const bool within = own != device || own != home || (rows && own != 0 && branches(graph));
      const bool of_one = home != 0 || (node.added_on != 0 && node.added_on != device);
      strays = on_devices && (in_one ? within : rows && of_one);
      const bool to_host = on_locked_host(state, copy->dst), from_host = on_locked_host(state, copy->src);
      const Id other = to_host ? node.devices.back() : own;
      strays = strays || (copy->linear && (to_host || from_host) && other != device && other != home);
      strays = strays || (copy->symbol != CopySymbol::kNone && device != 0);
    }
    if (strays) astray += node.fan;
  }
  return astray;
}

// Copies of rows within a device that has no kernel or memset of the graph and is not `home`, or that a stream of
// another device captured.
std::uint64_t rows_away_in(const GraphState& whole, Id home) {
  return count_in(whole, [&](const NodeState& node) {
    const auto* copy = std::get_if<CopyParams>(&node.params);
    if (copy == nullptr || copy->linear || copy->kind != CopyKind::kDeviceToDevice) return false;
    const Id own = node.devices.front();
    const bool away = own != home || (node.captured && node.added_on != own);
    return own == node.devices.back() && away && !runs_on(whole, own);
  });
}

std::uint64_t aways_in(const GraphState& graph) {
  return count_in(graph, [](const NodeState& node) {
    return std::any_of(node.devices.begin(), node.devices.end(), [](Id device) { return device != 0; });
  });
}

std::uint64_t taken_away_in(const GraphState& graph) {
  return count_in(graph, [](const NodeState& node) { return node.captured && node.added_on != 0; });
}

std::uint64_t empties_in(const GraphState& graph) {
  std::uint64_t empties = graph.nodes.empty() ? 1 : 0;
  for (const NodeState& node : graph.nodes) {
    if (node.child) empties += empties_in(*node.child);
  }
  return empties;
}

std::uint64_t memory_nodes(const GraphState& graph) {
  return static_cast<std::uint64_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const NodeState& node) {
    return std::holds_alternative<MemoryAllocParams>(node.params) ||
           std::holds_alternative<MemoryFreeParams>(node.params);
  }));
}

std::uint64_t offset_of(const CopyEnd& end) {
  return end.position.x + end.pitch * (end.position.y + end.rows * end.position.z);
}

class Describer {
 public:
  Describer(const State& state, int strategy, const std::function<bool(const Event&)>& visit)
      : state_(state), visit_(visit) {
    // Those record again as well: `careful` and a command buffer do wherever the release does wrong what would change a
    // graph in place, and change it in place elsewhere.
    in_place_too_ = strategy == kBeingCareful || strategy == kByCommandBuffer;
    stabilised_ = strategy == kStabilising;
    base_.set(k_strategy, in_place_too_ || strategy == kStabilising ? kRebuilding : strategy);
    base_.set(k_busy, state.idle() ? 0 : 1);
    base_.set(k_captures, state.captures().size());
    base_.set(k_invalid, std::count_if(state.captures().begin(), state.captures().end(),
                                       [](const CaptureState& c) { return !c.valid; }));
    base_.set(k_failed, state.captures_failed());
  }

  bool operator()(const AddNode& c) {
    const GraphState* graph = state_.graph(c.graph);
    if (graph == nullptr) return false;
    base_.set(k_op, kAdd);
    about(*graph);
    base_.set(k_fan, c.fan);
    base_.set(k_deps, c.after.size());
    base_.set(k_generic, c.form == NodeForm::kGeneric ? 1 : 0);
    base_.set(k_driver, c.form == NodeForm::kDriver ? 1 : 0);
    base_.set(k_freed, names_freed(c.params) ? 1 : 0);
    const auto* child = std::get_if<ChildParams>(&c.params);
    return node(c.params, child == nullptr ? nullptr : state_.graph(child->graph), nullptr, 0);
  }
  bool operator()(const SetNode& c) {
    const GraphState* graph = target(c.target, c.id);
    const NodeState* before = graph == nullptr ? nullptr : graph->find(c.node);
    if (before == nullptr) return false;
    const auto* child = std::get_if<ChildParams>(&c.params);
    const GraphState* inner = child == nullptr ? nullptr : state_.graph(child->graph);
    about(*graph);
    base_.set(k_generic, c.form == NodeForm::kGeneric ? 1 : 0);
    base_.set(k_driver, c.form == NodeForm::kDriver ? 1 : 0);
    return in_each_way(kSet, [&](Op op) {
      if (op == kSet) base_.set(k_freed, names_freed(c.params) ? 1 : 0);  // recorded again it has other memory
      if (node(c.params, inner, before, 0)) return true;
      if (op == kSet) return inner != nullptr && pairs(*inner, before->child.get(), 1);
      return inside(*graph, 0) || (inner != nullptr && inside(*inner, 1));  // recorded again, with its new child
    });
  }
  bool operator()(const Instantiate& c) {
    const GraphState* graph = state_.graph(c.graph);
    base_.set(k_op, kInstantiate);
    base_.set(k_form, c.form);
    base_.set(k_flags, c.flags);
    base_.set(k_again, std::count_if(state_.execs().begin(), state_.execs().end(),
                                     [&](const auto& exec) { return exec.second.origin == c.graph; }));
    if (graph == nullptr) return false;
    base_.set(k_rowsaway, rows_away_in(*graph, home_of(*graph)));
    return whole(*graph);
  }
  bool operator()(const Launch& c) {
    const ExecState* exec = state_.exec(c.exec);
    base_.set(k_op, kLaunch);
    stream(c.stream);
    rules(c);
    if (exec == nullptr) return false;
    // Those launch on a stream of the graph's own device where the program names another's.
    const Id home = home_of(exec->graph), device = in_place_too_ ? home : state_.device_of_stream(c.stream);
    base_.set(k_astray, astray_in(state_, exec->graph, device, home, stabilised_));
    base_.set(k_athome, astray_in(state_, exec->graph, home, home, stabilised_));
    base_.set(k_foreign, device != home ? 1 : 0);
    base_.set(k_beside, state_.exec_runs_beside(c.exec, c.stream) ? 1 : 0);
    base_.set(k_idle, idle_in(state_, exec->graph));
    base_.set(k_leftout, leaves_stream_out(exec->graph) ? 1 : 0);
    base_.set(k_rowsbeside, rows_beside_in(state_, exec->graph));
    base_.set(k_rowselsewhere, rows_elsewhere_in(state_, exec->graph, device));
    base_.set(k_autofree, (exec->flags & kAutoFreeOnLaunch) != 0 ? 1 : 0);
    base_.set(k_strange, std::count_if(state_.buffers().begin(), state_.buffers().end(), [&](const auto& entry) {
                return entry.second.unfreed && !exec->graph.addresses.contains(entry.first);
              }));
    return whole(exec->graph);
  }
  bool operator()(const Enqueue& c) {
    base_.set(k_op, kOn);
    stream(c.stream);
    rules(c);
    base_.set(k_thread, c.thread);
    if (const auto* copy = std::get_if<CopyParams>(&c.params)) {
      const auto away = [&, own = state_.device_of_stream(c.stream)](const CopyEnd& end) {
        return on_device(state_, end) && device(end.ref) != own;
      };
      base_.set(k_away, away(copy->dst) || away(copy->src) ? 1 : 0);
    }
    if (const CaptureState* capture = state_.capture_of(c.stream))
      base_.set(k_deps, capture->behind.at(c.stream).size());
    return node(c.params, nullptr, nullptr, 0);
  }
  bool operator()(const Synchronize& c) { return meets(kSync, c, c.target, c.id, c.thread); }
  bool operator()(const Query& c) { return meets(kQuery, c, c.target, c.id, c.thread); }
  bool operator()(const Elapsed& c) { return meets(kElapsed, c, Target::kEvent, c.from, 0); }
  bool operator()(const UnsafeCall& c) { return meets(kUnsafe, c, Target::kDevice, 0, c.thread); }
  bool operator()(const ExchangeCaptureMode& c) { return meets(kCaptureMode, c, Target::kDevice, 0, c.thread); }
  bool operator()(const CaptureInfo& c) { return meets(kCaptureInfo, c, Target::kStream, c.stream, 0); }
  bool operator()(const CaptureAfter& c) { return meets(kCaptureAfter, c, Target::kStream, c.stream, 0); }
  bool operator()(const RecordEvent& c) {
    stream(c.stream);
    base_.set(k_own, state_.event_captured_on(c.event, c.stream) ? 1 : 0);
    return meets(kRecord, c, Target::kEvent, c.event, 0);
  }
  bool operator()(const WaitEvent& c) {
    stream(c.stream);
    base_.set(k_own, state_.event_captured_on(c.event, c.stream) ? 1 : 0);
    base_.set(k_nowcaptures, state_.event_stream_captures(c.event) ? 1 : 0);
    base_.set(k_streamgone, state_.event_stream_gone(c.event) ? 1 : 0);
    return meets(kWait, c, Target::kEvent, c.event, 0);
  }
  bool operator()(const BeginCapture& c) {
    base_.set(k_mode, c.mode);
    base_.set(k_into, c.into ? 1 : 0);
    return meets(kCapture, c, Target::kStream, c.stream, c.thread);
  }
  bool operator()(const EndCapture& c) {
    if (const CaptureState* capture = state_.capture_of(c.stream)) {
      base_.set(k_mode, capture->mode);
      base_.set(k_into, capture->into ? 1 : 0);
      base_.set(k_takenout, capture->taken_out.size());
      base_.set(k_takenaside, capture->taken_from_side ? 1 : 0);
      about(capture->graph);
    }
    return meets(kEndCapture, c, Target::kStream, c.stream, c.thread);
  }
  bool operator()(const Patch& c) {
    const GraphState* graph = target(c.target, c.id);
    return graph != nullptr && in_each_way(kPatch, [&](Op) { return whole(*graph); });
  }
  bool operator()(const Update& c) {
    const ExecState* exec = state_.exec(c.exec);
    const GraphState* graph = state_.graph(c.graph);
    if (exec == nullptr || graph == nullptr) return false;
    base_.set(k_target, Target::kExec);
    base_.set(k_outcome, update_outcome(exec->graph, *graph));
    base_.set(k_evenedges, same_counts(exec->graph, *graph) ? 1 : 0);
    base_.set(k_retaken, exec->graph.edges_taken != graph->edges_taken ? 1 : 0);
    base_.set(k_samenodes, nodes_of(exec->graph) == nodes_of(*graph) ? 1 : 0);
    base_.set(k_takenaway, taken_away_in(*graph));
    about(*graph);
    return in_each_way(kUpdate, [&](Op) { return visit_(base_) || pairs(*graph, &exec->graph, 0); });
  }
  bool operator()(const Destroy& c) {
    base_.set(k_op, kDestroy);
    if (c.target == Target::kStream || c.target == Target::kEvent) return meets(kDestroy, c, c.target, c.id, 0);
    const GraphState* graph = target(c.target, c.id);
    return graph != nullptr && whole(*graph);
  }
  bool operator()(const CloneGraph& c) { return asks(kClone, Target::kGraph, c.from); }
  bool operator()(const ChangeEdges& c) {
    base_.set(k_deps, c.after.size());
    base_.set(k_circle, c.cycle ? 1 : 0);
    return asks(kEdges, Target::kGraph, c.graph);
  }
  bool operator()(const RemoveNode& c) { return asks(kRemove, Target::kGraph, c.graph); }
  bool operator()(const EnableNode& c) {
    base_.set(k_enabled, c.enabled ? 1 : 0);
    const GraphState* graph = target(Target::kExec, c.exec);
    const NodeState* before = graph == nullptr ? nullptr : graph->find(c.node);
    if (before == nullptr) return false;
    base_.set(k_op, kEnable);
    base_.set(k_moved, names_moved(*graph, before->params) ? 1 : 0);
    about(*graph);
    return node(before->params, nullptr, before, 0);
  }
  bool operator()(const Upload& c) { return asks(kUpload, Target::kExec, c.exec); }
  bool operator()(const SetAttributes& c) {
    if (c.attributes.cooperative) base_.set(k_cooperative, *c.attributes.cooperative ? 1 : 0);
    if (c.attributes.priority) base_.set(k_nodepriority, *c.attributes.priority);
    base_.set(k_op, kAttribute);
    return visit_(base_);
  }
  bool operator()(const CopyAttributes& c) {
    const GraphState* graph = state_.graph(c.from);
    const NodeState* source = graph == nullptr ? nullptr : graph->find(c.source);
    const GraphState* to = state_.graph(c.graph);
    const NodeState* target = to == nullptr ? nullptr : to->find(c.node);
    if (source != nullptr) attributes(*source);
    if (source != nullptr && target != nullptr) {
      const NodeAttributes &from = source->attributes, &had = target->attributes;
      base_.set(k_loses, (had.priority && !from.priority) || (had.cooperative && !from.cooperative) ? 1 : 0);
    }
    base_.set(k_op, kCopyAttributes);
    return visit_(base_);
  }
  bool operator()(const PeerAccess& c) {
    base_.set(k_op, kPeer);
    base_.set(k_verb, c.verb);
    base_.set(k_elsewhere, c.device);
    return visit_(base_);
  }
  bool operator()(const RetainUserObject& c) { return asks(kRetain, Target::kGraph, c.graph); }
  bool operator()(const ReleaseUserObject& c) {
    if (c.graph) return asks(kRelease, Target::kGraph, *c.graph);
    base_.set(k_op, kRelease);
    return visit_(base_);
  }
  bool operator()(const PrintDot& c) { return asks(kDot, Target::kGraph, c.graph); }
  bool operator()(const Inspect& c) { return asks(kInspect, c.target, c.id); }
  bool operator()(const FreeAsync& c) {
    rules(c);
    stream(c.stream);
    return of_a_buffer(kFreeAsync, c.buffer);
  }
  bool operator()(const MallocAsync& c) {
    base_.set(k_op, kMallocAsync);
    rules(c);
    stream(c.stream);
    const auto given_again = [&](bool allocated_here) {
      return std::count_if(state_.buffers().begin(), state_.buffers().end(), [&](const auto& entry) {
        const BufferState& freed = entry.second;
        return freed.given_again_on.contains(c.stream) && (freed.allocated_on == c.stream) == allocated_here &&
               *freed.freed_on != c.stream && state_.work_races({{entry.first, 0, kToTheEnd, true}}, c.stream);
      });
    };
    base_.set(k_handed, given_again(true));
    base_.set(k_early, given_again(false));
    return visit_(base_);
  }
  bool operator()(const Free& c) { return of_a_buffer(kFree, c.buffer); }
  bool operator()(const Read& c) { return of_a_buffer(kRead, c.buffer); }
  bool operator()(const BadCall& c) {
    const auto odd = [&](std::string_view release) {
      return std::uint64_t{find_error_deviation(release, c.function, c.error_case) != nullptr ? 1u : 0u};
    };
    base_.set(k_op, kBad);
    base_.set(k_gone, std::uint64_t{c.error_case.starts_with("gone") ? 1u : 0u});
    base_.set(k_odd72, odd("7.2"));
    base_.set(k_odd64, odd("6.4"));
    return visit_(base_);
  }
  template <class Other>
  bool operator()(const Other&) {
    return false;
  }

 private:
  [[nodiscard]] bool names_freed(const NodeParams& params) const {
    bool freed = false;
    for_each_ref(params, [&](const BufferRef& ref) {
      const BufferState* buffer = state_.buffer(ref.buffer);
      freed = freed || (buffer != nullptr && buffer->graph && buffer->freed_by_program);
    });
    return freed;
  }
  // Memory that is elsewhere than where the graph has it.
  [[nodiscard]] bool names_moved(const GraphState& graph, const NodeParams& params) const {
    bool moved = false;
    for_each_ref(params, [&](const BufferRef& ref) {
      const auto known = graph.addresses.find(ref.buffer);
      const BufferState* buffer = state_.buffer(ref.buffer);
      moved = moved || (known != graph.addresses.end() && buffer != nullptr && buffer->version != known->second);
    });
    return moved;
  }
  bool of_a_buffer(Op op, Id id) {
    const BufferState* buffer = state_.buffer(id);
    base_.set(k_op, op);
    base_.set(k_ofgraph, buffer != nullptr && buffer->graph ? 1 : 0);
    base_.set(k_pooled, buffer != nullptr && (buffer->graph || buffer->of_stream) ? 1 : 0);
    return visit_(base_);
  }
  void stream(Id id) {
    base_.set(k_stream, id);
    const CaptureState* capture = state_.capture_of(id);
    base_.set(k_capturing, capture != nullptr ? 1 : 0);
    if (capture != nullptr) base_.set(k_origin, capture->origin == id ? 1 : 0);
    base_.set(k_perthread, state_.per_thread(id) ? 1 : 0);
    base_.set(k_elsewhere, state_.device_of_stream(id));
  }
  void attributes(const NodeState& node) {
    if (node.attributes.cooperative) base_.set(k_cooperative, *node.attributes.cooperative ? 1 : 0);
    if (node.attributes.priority) base_.set(k_nodepriority, *node.attributes.priority);
  }
  void rules(const Command& command) {
    const CaptureAnswer answer = state_.answer(command);
    base_.set(k_refused, answer.status);
    base_.set(k_invalidates, answer.invalidates.size());
    const auto invalidated = [&](const auto& holds) {
      const auto& open = state_.captures();
      return std::count_if(open.begin(), open.end(), [&](const CaptureState& capture) {
        const auto& gone = answer.invalidates;
        return holds(capture) && std::find(gone.begin(), gone.end(), capture.serial) != gone.end();
      });
    };
    base_.set(k_invalidinto, invalidated([](const CaptureState& capture) { return capture.into.has_value(); }));
    base_.set(k_forked, invalidated([](const CaptureState& capture) { return capture.behind.size() > 1; }) > 0 ? 1 : 0);
  }
  // One event for a command about a stream, an event or the device.
  bool meets(Op op, const Command& command, Target object, Id id, Id thread) {
    base_.set(k_op, op);
    base_.set(k_object, object);
    base_.set(k_thread, thread);
    if (object == Target::kStream) stream(id);
    if (object == Target::kEvent) {
      base_.set(k_captured, state_.event_captured(id) ? 1 : 0);
      base_.set(k_external, state_.event_external(id) ? 1 : 0);
      const auto& all = state_.captures();
      const auto on_origin = [&](const CaptureState& each) { return state_.event_captured_on(id, each.origin); };
      base_.set(k_aside, state_.event_captured(id) && std::none_of(all.begin(), all.end(), on_origin) ? 1 : 0);
    }
    rules(command);
    return visit_(base_);
  }
  // What a command that changes an object comes to: by itself under `patch`; recording again under the others, which
  // then instantiate or update.
  template <class Visit>
  bool in_each_way(Op op, const Visit& visit) {
    const bool exec = base_[k_target] == static_cast<std::int64_t>(Target::kExec);
    const std::int64_t strategy = base_[k_strategy];
    const auto way = [&](Op now) {
      base_.set(k_op, now);
      return visit(now);
    };
    if (strategy == 0) return way(op);
    if (in_place_too_ && way(op)) return true;
    if (way(kAdd)) return true;
    return exec && way(strategy == 1 ? kInstantiate : kUpdate);
  }
  // What takes the place of what, in children too: of the nodes of `exec`, where there is one, by their order.
  bool pairs(const GraphState& graph, const GraphState* exec, int level) {
    const Event around = base_;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const NodeState& now = graph.nodes[i];
      const NodeState* before = exec != nullptr && i < exec->nodes.size() ? &exec->nodes[i] : nullptr;
      if (level > 0) base_.set(k_nodes, nodes_of(graph));
      if (node(now.params, now.child.get(), before, level)) return true;
      if (now.child && pairs(*now.child, before == nullptr ? nullptr : before->child.get(), level + 1)) return true;
      base_ = around;
    }
    return false;
  }
  bool asks(Op op, Target of, Id id) {
    base_.set(k_op, op);
    const GraphState* graph = target(of, id);
    return graph != nullptr && whole(*graph);
  }
  const GraphState* target(Target target, Id id) {
    base_.set(k_target, target);
    if (target == Target::kGraph) return state_.graph(id);
    if (target != Target::kExec) return nullptr;
    const ExecState* exec = state_.exec(id);
    return exec == nullptr ? nullptr : &exec->graph;
  }
  void about(const GraphState& graph) {
    base_.set(k_nodes, nodes_of(graph));
    base_.set(k_roots, roots_of(graph));
    base_.set(k_leaves, leaves_of(graph));
    base_.set(k_dependents, most_dependents(graph));
    base_.set(k_hosts, hosts_in(graph));
    base_.set(k_topageable, copies_to_pageable(graph));
    base_.set(k_total, graph.instances);
    base_.set(k_depth, graph.depth);
    base_.set(k_empties, empties_in(graph));
    base_.set(k_memories, memory_nodes(graph));
    base_.set(k_byhand, graph.has_memory ? freed_by_program(graph) : 0);
    base_.set(k_unfreed, state_.unfreed_memory(graph) ? 1 : 0);
    base_.set(k_aways, aways_in(graph));
    base_.set(k_cyclic, graph.cyclic ? 1 : 0);
    base_.set(k_cloned, graph.cloned ? 1 : 0);
    base_.set(k_edited, graph.edited ? 1 : 0);
    base_.set(k_lost, graph.removed.size());
    base_.set(k_disabled,
              std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const NodeState& n) { return !n.enabled; }));
  }
  [[nodiscard]] std::int64_t freed_by_program(const GraphState& graph) const {
    return std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const NodeState& node) {
      const auto* memory = std::get_if<MemoryAllocParams>(&node.params);
      return memory != nullptr && state_.buffer(memory->buffer)->freed_by_program;
    });
  }
  bool whole(const GraphState& graph) {
    about(graph);
    return visit_(base_) || inside(graph, 0);
  }
  bool inside(const GraphState& graph, int level) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const NodeState& n) {
      base_.set(k_fan, n.fan);
      base_.set(k_deps, n.after.size());
      base_.set(k_enabled, n.enabled ? 1 : 0);
      base_.set(k_wasdriver, n.form == NodeForm::kDriver ? 1 : 0);
      base_.set(k_wascaptured, n.captured ? 1 : 0);
      base_.set(k_cooperative, kUnset);
      base_.set(k_nodepriority, kUnset);
      attributes(n);
      if (node(n.params, n.child.get(), nullptr, level)) return true;
      return n.child != nullptr && inside(*n.child, level + 1);
    });
  }

  bool node(const NodeParams& params, const GraphState* child, const NodeState* before, int level) {
    Event event = base_;
    event.set(k_level, level);
    std::visit([&](const auto& p) { describe(p, event); }, params);
    if (const auto* p = std::get_if<ChildParams>(&params)) {
      event.set(k_inner, child == nullptr ? 0 : nodes_of(*child));
      event.set(k_below, p->nest - 1 + (child == nullptr ? 1 : child->depth));
      event.set(k_aways, child == nullptr ? 0 : aways_in(*child));
    }
    if (before != nullptr) {
      event.set(k_wasdriver, before->form == NodeForm::kDriver ? 1 : 0);
      if (event[k_enabled] == kUnset) event.set(k_enabled, before->enabled ? 1 : 0);
      event.set(k_was, before->params == params ? 1 : 0);
      if (before->params.index() == params.index()) was(*before, event);
      const auto *old = std::get_if<KernelParams>(&before->params), *now = std::get_if<KernelParams>(&params);
      if (old != nullptr && now != nullptr) event.set(k_samekernel, old->kernel == now->kernel ? 1 : 0);
    }
    return visit_(event);
  }
  void was(const NodeState& before, Event& event) const {
    event.set(k_neighbours, event[k_nodes] - 1);
    if (const auto* copy = std::get_if<CopyParams>(&before.params)) {
      event.set(k_waskind, copy->kind);
      event.set(k_waspageable, pageable(*copy) ? 1 : 0);
      event.set(k_waslinear, copy->linear ? 1 : 0);
      event.set(k_waswidth, copy->width);
      event.set(k_washeight, copy->height);
    }
    if (const auto* memset = std::get_if<MemsetParams>(&before.params)) {
      event.set(k_waselement, memset->element);
      event.set(k_washeight, memset->height);
      event.set(k_waswidth, memset->width);
    }
    if (before.child) event.set(k_wasinner, nodes_of(*before.child));
  }
  [[nodiscard]] std::uint64_t copies_to_pageable(const GraphState& graph) const {
    std::uint64_t copies = 0;
    for (const NodeState& node : graph.nodes) {
      if (const auto* copy = std::get_if<CopyParams>(&node.params)) {
        const BufferState* dst = state_.buffer(copy->dst.ref.buffer);
        copies += dst != nullptr && dst->memory == MemoryKind::kPageable ? node.fan : 0;
      }
      if (node.child) copies += copies_to_pageable(*node.child);
    }
    return copies;
  }
  [[nodiscard]] bool pageable(const CopyParams& p) const {
    const BufferState *dst = state_.buffer(p.dst.ref.buffer), *src = state_.buffer(p.src.ref.buffer);
    return (dst != nullptr && dst->memory == MemoryKind::kPageable) ||
           (src != nullptr && src->memory == MemoryKind::kPageable);
  }
  [[nodiscard]] bool variable(const BufferRef& ref) const {
    const BufferState* buffer = state_.buffer(ref.buffer);
    return buffer != nullptr && buffer->symbol.has_value();
  }
  [[nodiscard]] Id device(const BufferRef& ref) const {
    const BufferState* buffer = state_.buffer(ref.buffer);
    return buffer == nullptr ? 0 : buffer->device;
  }
  void memory(Attribute attribute, const BufferRef& ref, Event& event) const {
    if (const BufferState* buffer = state_.buffer(ref.buffer)) event.set(attribute, buffer->memory);
  }

  void describe(const KernelParams& p, Event& event) const {
    event.set(k_node, 0);
    event.set(k_extra, p.style == ArgumentStyle::kExtra ? 1 : 0);
    event.set(k_opaque, p.opaque ? 1 : 0);
    event.set(k_grid, p.grid);
    event.set(k_shared, p.shared_bytes);
    event.set(k_block, p.block);
    event.set(k_device, p.device);
  }
  void describe(const CopyParams& p, Event& event) const {
    event.set(k_node, 1);
    event.set(k_kind, p.kind);
    event.set(k_pageable, pageable(p) ? 1 : 0);
    event.set(k_linear, p.linear ? 1 : 0);
    event.set(k_width, p.width);
    event.set(k_height, p.height);
    event.set(k_slices, p.depth);
    memory(k_dmem, p.dst.ref, event);
    memory(k_smem, p.src.ref, event);
    event.set(k_same, p.dst.ref.buffer == p.src.ref.buffer ? 1 : 0);
    event.set(k_device, std::max(device(p.dst.ref), device(p.src.ref)));
    event.set(k_across, device(p.dst.ref) != device(p.src.ref) ? 1 : 0);
    event.set(k_peer, p.peer);
    event.set(k_symbol, p.symbol);
    event.set(k_vsymbol, variable(p.dst.ref) || variable(p.src.ref) ? 1 : 0);
    event.set(k_dpitch, p.dst.pitch);
    event.set(k_spitch, p.src.pitch);
    event.set(k_drows, p.dst.rows);
    event.set(k_srows, p.src.rows);
    event.set(k_doffset, offset_of(p.dst));
    event.set(k_soffset, offset_of(p.src));
  }
  void describe(const MemsetParams& p, Event& event) const {
    event.set(k_node, 2);
    event.set(k_element, p.element);
    event.set(k_width, p.width);
    event.set(k_height, p.height);
    event.set(k_pitch, p.pitch);
    event.set(k_padded, p.height > 1 && p.pitch > p.width * p.element ? 1 : 0);
    memory(k_memory, p.dst, event);
    event.set(k_device, device(p.dst));
  }
  void describe(const HostParams&, Event& event) const { event.set(k_node, 3); }
  void describe(const EmptyParams&, Event& event) const { event.set(k_node, 4); }
  void describe(const ChildParams& p, Event& event) const {
    event.set(k_node, 5);
    event.set(k_nest, p.nest);
  }
  void describe(const EventRecordParams&, Event& event) const { event.set(k_node, 6); }
  void describe(const EventWaitParams& p, Event& event) const {
    event.set(k_node, 7);
    event.set(k_streamgone, state_.event_stream_gone(p.event) ? 1 : 0);
  }
  void describe(const MemoryAllocParams&, Event& event) const { event.set(k_node, 8); }
  void describe(const MemoryFreeParams&, Event& event) const { event.set(k_node, 9); }

  const State& state_;
  const std::function<bool(const Event&)>& visit_;
  bool in_place_too_ = false, stabilised_ = false;
  Event base_;
};

}  // namespace

std::string_view attribute_name(Attribute attribute) {
  return kTexts[static_cast<std::size_t>(attribute)].name;
}

std::optional<Attribute> find_attribute(std::string_view name) {
  for (std::size_t i = 0; i < kAttributes; ++i) {
    if (kTexts[i].name == name) return static_cast<Attribute>(i);
  }
  return {};
}

std::optional<std::int64_t> find_word(Attribute attribute, std::string_view word) {
  std::string_view words = kTexts[static_cast<std::size_t>(attribute)].words;
  for (std::int64_t number = 0; !words.empty(); ++number) {
    const std::size_t space = std::min(words.find(' '), words.size());
    if (words.substr(0, space) == word) return number;
    words.remove_prefix(std::min(space + 1, words.size()));
  }
  return {};
}

bool any_event(const State& state, const Command& command, int strategy,
               const std::function<bool(const Event&)>& visit) {
  return std::visit(Describer(state, strategy, visit), command);
}

}  // namespace verify
