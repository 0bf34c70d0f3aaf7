// How objects are made of recordings; the contract is in the header.
#include "verify/execute/rebuild.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "hip/errors.h"
#include "verify/execute/devices.h"

namespace verify {

namespace {

#if HIP_VERSION >= 60000000
hip::Status instantiate_with_params(StrategyContext& context, hipGraphExec_t* exec, hipGraph_t graph,
                                    std::uint32_t flags, std::string* said) {
  hipGraphInstantiateParams params{};
  params.flags = flags;
  hip::Status status =
      hip::called(context.api.hipGraphInstantiateWithParams(exec, graph, &params), "hipGraphInstantiateWithParams");
  static constexpr const char* kResults[] = {"success", "error", "invalid structure", "node operation not supported",
                                             "multiple devices not supported"};
  const auto result = static_cast<std::size_t>(params.result_out);
  if (said != nullptr) *said = fmt::format("result {}", result < std::size(kResults) ? kResults[result] : "unknown");
  return status;
}
#else  // the headers of this build do not declare it
hip::Status instantiate_with_params(StrategyContext&, hipGraphExec_t*, hipGraph_t, std::uint32_t, std::string*) {
  return hip::Error{hipErrorNotSupported, "hipGraphInstantiateWithParams"};
}
#endif

}  // namespace

hip::Result<hipGraphExec_t> instantiate(StrategyContext& context, hipGraph_t graph, InstantiateForm form,
                                        std::uint32_t flags, std::string* said) {
  hipGraphExec_t exec = nullptr;
  hip::Status status;
  if (form == InstantiateForm::kPlain) {
    status = hip::called(context.api.hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), "hipGraphInstantiate");
  } else if (form == InstantiateForm::kFlags) {
    if (context.api.hipGraphInstantiateWithFlags == nullptr) return lacking(context, "hipGraphInstantiateWithFlags");
    status = hip::called(context.api.hipGraphInstantiateWithFlags(&exec, graph, flags), "hipGraphInstantiateWithFlags");
  } else {
    if (context.api.hipGraphInstantiateWithParams == nullptr) return lacking(context, "hipGraphInstantiateWithParams");
    status = instantiate_with_params(context, &exec, graph, flags, said);
  }
  if (!status) return status.error();
  return exec;
}

namespace {

struct FreshExec {
  hipGraphExec_t exec = nullptr;
  hip::RecordedGraph handles;  // the handles of the recording's nodes, in every shape
  std::map<hip::NodeIndex, std::vector<hipGraphNode_t>> stand_ins;
};

// Returns the handles for a node: its stand-ins, or its own; none where the node is left out of the recorded graph.
template <class Object>
std::vector<hipGraphNode_t> standing_for(const Object& object, hip::NodeIndex index) {
  const auto found = object.stand_ins.find(index);
  if (found != object.stand_ins.end()) return found->second;
  hipGraphNode_t node = object.handles.nodes[index];
  return node == nullptr ? std::vector<hipGraphNode_t>() : std::vector<hipGraphNode_t>{node};
}

hip::Status switch_handle(StrategyContext& context, hipGraphExec_t exec, hipGraphNode_t node, bool on) {
  return hip::called(context.api.hipGraphNodeSetEnabled(exec, node, on ? 1 : 0), "hipGraphNodeSetEnabled");
}

hip::Status disable_again(StrategyContext& context, const ExecObject& old, const FreshExec& fresh) {
  for (const hip::NodeIndex index : old.disabled) {
    for (hipGraphNode_t node : standing_for(fresh, index)) {
      if (hip::Status status = switch_handle(context, fresh.exec, node, false); !status) return status;
    }
  }
  return {};
}

// Gives the recording's own nodes the handles of the recorded graph's nodes, where both have the same type.
void name_nodes(const hip::Recording& recording, const Shaped& as, FreshExec& fresh) {
  const std::vector<hipGraphNode_t> recorded = std::exchange(fresh.handles.nodes, {});
  for (hip::NodeIndex i = 0; i < as.places.size(); ++i) {
    std::vector<hipGraphNode_t> nodes;
    if (as.keeps_type(recording.nodes()[i], i)) {
      for (const hip::NodeIndex place : as.places[i]) nodes.push_back(recorded[place]);
    }
    fresh.handles.nodes.push_back(nodes.size() == 1 ? nodes.front() : nullptr);
    if (nodes.size() > 1) fresh.stand_ins.emplace(i, std::move(nodes));
  }
}

template <class Object>
void note_allocations(Object& object) {
  for (const auto& [buffer, address] : object.handles.allocations) object.addresses[buffer] = address;
}

// Records and instantiates a graph as `like` was, with the same nodes disabled. If a step fails, destroys what was
// made.
hip::Result<FreshExec> record_exec(StrategyContext& context, const ExecObject& like, const hip::Recording& recording,
                                   const hip::AddressTable& addresses, const Shaped* as, std::string* said) {
  // The graph is created on the device on which it is instantiated: 7.2 ignores an update from a graph that was created
  // on another device (finding update-created-elsewhere).
  hip::Result<hip::RecordedGraph> recorded = on_device(context.api, hip::home_of(recording), [&] {
    return hip::record_graph(context.api, as == nullptr ? recording : as->recording, addresses);
  });
  if (!recorded) return recorded.error();
  FreshExec fresh{nullptr, std::move(recorded).value(), {}};
  const hipGraph_t graph = fresh.handles.graph;
  if (as != nullptr) name_nodes(recording, *as, fresh);
  const hip::Result<hipGraphExec_t> instantiated = on_device(
      context.api, hip::home_of(recording), [&] { return instantiate(context, graph, like.form, like.flags, said); });
  if (instantiated) fresh.exec = instantiated.value();
  hip::Status status = instantiated ? disable_again(context, like, fresh) : hip::Status(instantiated.error());
  if (status) return fresh;
  if (instantiated) {
    hip::Status dropped = hip::called(context.api.hipGraphExecDestroy(instantiated.value()), "hipGraphExecDestroy");
    if (!dropped) return dropped.error();
  }
  const hip::Status destroyed = hip::called(context.api.hipGraphDestroy(graph), "hipGraphDestroy");
  return destroyed ? status.error() : destroyed.error();
}

void take(ExecObject& exec, FreshExec fresh, hip::Recording recording, const hip::AddressTable& addresses,
          const Shaped* as) {
  exec.alive = exec.owned = true;
  exec.exec = fresh.exec;
  exec.handles = std::move(fresh.handles);
  exec.stand_ins = std::move(fresh.stand_ins);
  exec.shape = as == nullptr ? ExecShape::kAsItIs : as->shape;
  exec.recording = std::move(recording);
  exec.addresses = addresses;
  note_allocations(exec);
}

}  // namespace

hip::Status rebuild(StrategyContext& context, ExecObject& exec, const hip::Recording& recording) {
  return rebuild(context, exec, recording, context.addresses);
}

hip::Status rebuild(StrategyContext& context, ExecObject& exec, const hip::Recording& recording,
                    const hip::AddressTable& addresses, const Shaped* as) {
  hip::Result<FreshExec> fresh = record_exec(context, exec, recording, addresses, as, nullptr);
  if (!fresh) return fresh.error();
  hip::Recording kept = recording;  // `recording` may be exec's own
  // Destroying an executable graph under a launch is not documented as safe: let its work end first.
  hip::Status waited = synchronize_devices(context.api, context.devices);
  hip::Status destroyed = destroy(context, exec);
  take(exec, std::move(fresh).value(), std::move(kept), addresses, as);
  return waited ? destroyed : waited;
}

hip::Status build(StrategyContext& context, ExecObject& exec, const hip::Recording& recording, const Shaped& as,
                  std::string* said) {
  hip::Result<FreshExec> fresh = record_exec(context, exec, recording, context.addresses, &as, said);
  if (!fresh) return fresh.error();
  take(exec, std::move(fresh).value(), recording, context.addresses, &as);
  return {};
}

hip::Result<unsigned> switch_node(StrategyContext& context, ExecObject& exec, hip::NodeIndex index, bool on) {
  const bool was_on = !exec.disabled.contains(index);
  std::vector<hipGraphNode_t> switched;
  for (hipGraphNode_t node : standing_for(exec, index)) {
    const hip::Status status = switch_handle(context, exec.exec, node, on);
    if (!status) {  // switches all of them or none
      for (hipGraphNode_t done : switched) context.error_reported |= !switch_handle(context, exec.exec, done, was_on);
      return status.error();
    }
    switched.push_back(node);
  }
  note_enabled(exec, index, on);
  unsigned enabled = 2;
  for (hipGraphNode_t node : switched) {
    const hip::Status asked =
        hip::called(context.api.hipGraphNodeGetEnabled(exec.exec, node, &enabled), "hipGraphNodeGetEnabled");
    if (!asked) return asked.error();
    if (enabled != (on ? 1U : 0U)) break;
  }
  return enabled;
}

bool Shaped::keeps_type(const hip::RecordedNode& node, hip::NodeIndex index) const {
  const auto same_type = [&](hip::NodeIndex place) {
    return recording.nodes()[place].record.index() == node.record.index();
  };
  return !places[index].empty() && std::all_of(places[index].begin(), places[index].end(), same_type);
}

void note_enabled(ExecObject& exec, hip::NodeIndex index, bool on) {
  if (on) {
    exec.disabled.erase(index);
  } else {
    exec.disabled.insert(index);
  }
}

hip::Recording emptied(const hip::Recording& recording, const std::set<hip::NodeIndex>& indices) {
  if (indices.empty()) return recording;
  hip::Recording with_empty;
  const auto nodes = recording.nodes();
  for (hip::NodeIndex i = 0; i < nodes.size(); ++i) {
    hip::RecordedNode node;
    if (indices.contains(i)) {
      node.record = hip::EmptyRecord{};
    } else {
      node = nodes[i];
      node.dependencies.clear();
    }
    with_empty.add(std::move(node));
  }
  for (hip::NodeIndex i = 0; i < nodes.size(); ++i) {
    for (const hip::NodeIndex before : nodes[i].dependencies) with_empty.connect(before, i);
  }
  return with_empty;
}

hip::Status rebuild(StrategyContext& context, GraphObject& graph, const hip::Recording& recording) {
  hip::Result<hip::RecordedGraph> fresh = hip::record_graph(context.api, recording, context.addresses);
  if (!fresh) return fresh.error();
  hip::Recording kept = recording;  // `recording` may be graph's own
  graph.patcher.reset();
  context.retired.push_back(graph.handles.graph);
  graph.handles = std::move(fresh).value();
  graph.recording = std::move(kept);
  graph.addresses = context.addresses;
  note_allocations(graph);
  return {};
}

hip::Status destroy(StrategyContext& context, ExecObject& exec) {
  // `stable` refers to the executable graph and is destroyed first, or kept for later, because a capture forbids
  // freeing memory.
  if (context.capturing && exec.stable) context.leftovers.push_back(std::move(exec.stable));
  exec.stable.reset();
  exec.patcher.reset();
  exec.alive = false;
  hip::Status destroyed = hip::called(context.api.hipGraphExecDestroy(exec.exec), "hipGraphExecDestroy");
  if (hipGraphExec_t anchor = std::exchange(exec.anchor, nullptr)) {
    const hip::Status raised = hip::called(context.api.hipGraphExecDestroy(anchor), "hipGraphExecDestroy");
    if (destroyed) destroyed = raised;
  }
  if (!exec.owned) return destroyed;
  hip::Status graph = hip::called(context.api.hipGraphDestroy(exec.handles.graph), "hipGraphDestroy");
  exec.handles.kept = {};
  return destroyed ? graph : destroyed;
}

hip::Status destroy(StrategyContext& context, GraphObject& graph) {
  graph.patcher.reset();
  graph.alive = false;
  return hip::called(context.api.hipGraphDestroy(graph.handles.graph), "hipGraphDestroy");
}

}  // namespace verify
