#include "verify/properties/detectors.h"

#include <fmt/format.h>

#include <algorithm>

#include "verify/properties/causes.h"
#include "verify/properties/isolation.h"
#include "verify/properties/orders.h"

namespace verify {

namespace {

constexpr Function kExecSetters[] = {Function::k_hipGraphExecKernelNodeSetParams,
                                     Function::k_hipGraphExecMemcpyNodeSetParams,
                                     Function::k_hipGraphExecMemcpyNodeSetParams1D,
                                     Function::k_hipGraphExecMemcpyNodeSetParamsToSymbol,
                                     Function::k_hipGraphExecMemcpyNodeSetParamsFromSymbol,
                                     Function::k_hipGraphExecMemsetNodeSetParams,
                                     Function::k_hipGraphExecHostNodeSetParams,
                                     Function::k_hipGraphExecChildGraphNodeSetParams,
                                     Function::k_hipGraphExecEventRecordNodeSetEvent,
                                     Function::k_hipGraphExecEventWaitNodeSetEvent,
                                     Function::k_hipGraphExecNodeSetParams};

constexpr Function kGraphSetters[] = {
    Function::k_hipGraphKernelNodeSetParams,         Function::k_hipGraphMemcpyNodeSetParams,
    Function::k_hipGraphMemcpyNodeSetParams1D,       Function::k_hipGraphMemsetNodeSetParams,
    Function::k_hipGraphHostNodeSetParams,           Function::k_hipGraphNodeSetParams,
    Function::k_hipGraphMemcpyNodeSetParamsToSymbol, Function::k_hipGraphMemcpyNodeSetParamsFromSymbol,
    Function::k_hipGraphEventRecordNodeSetEvent,     Function::k_hipGraphEventWaitNodeSetEvent};

std::string node_name(const std::vector<NodePlace>& places, Id graph, hip::NodeIndex index) {
  const auto behind = std::ranges::upper_bound(places, index, {}, &NodePlace::first);
  if (behind == places.begin() || index - std::prev(behind)->first >= std::prev(behind)->fan)
    return fmt::format("g{} node {}", graph, index);
  const NodePlace& place = *std::prev(behind);
  return place.fan == 1 ? fmt::format("g{}.n{}", graph, place.id)
                        : fmt::format("g{}.n{}[{}]", graph, place.id, index - place.first);
}

// Replaces the names of top-level nodes by the names that the program gives them.
void name_as_written(const std::vector<NodePlace>& places, Id graph, std::vector<NodeEvidence>& nodes) {
  for (NodeEvidence& node : nodes) {
    const std::size_t slash = node.name.find('/');
    const std::size_t end = node.name.find('/', slash + 1);
    const auto index = static_cast<hip::NodeIndex>(std::stoul(node.name.substr(slash + 2)));
    node.name = node_name(places, graph, index) + (end == std::string::npos ? "" : node.name.substr(end));
  }
}

}  // namespace

Detectors::Calls Detectors::calls() const {
  Calls calls;
  calls.all = interposer_.calls();
  for (const Function setter : kExecSetters) calls.exec_setters += interposer_.calls_of(setter);
  for (const Function setter : kGraphSetters) calls.graph_setters += interposer_.calls_of(setter);
  calls.rerecorded = interposer_.calls_of(Function::k_hipGraphExecUpdate) +
                     interposer_.calls_of(Function::k_hipGraphInstantiate) +
                     interposer_.calls_of(Function::k_hipGraphInstantiateWithFlags) +
                     interposer_.calls_of(Function::k_hipGraphInstantiateWithParams) +
                     interposer_.calls_of(Function::k_hipGraphCreate);
  calls.children = interposer_.calls_of(Function::k_hipGraphExecChildGraphNodeSetParams);
  return calls;
}

bool Detectors::holds_opaque(const hip::Recording& recording, const std::vector<hip::Move>& moves) {
  return std::ranges::any_of(recording.nodes(), [&](const hip::RecordedNode& node) {
    if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) return holds_opaque(*child->graph, moves);
    const auto* opaque = std::get_if<hip::OpaqueRecord>(&node.record);
    return opaque != nullptr && std::ranges::any_of(moves, [&](const hip::Move& move) {
             return std::ranges::find(opaque->buffers, move.buffer) != opaque->buffers.end();
           });
  });
}

bool Detectors::touched(const hip::RecordedNode& node, const PatchEvidence& patch, bool* opaque) const {
  if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) {
    bool any = false;
    for (const hip::RecordedNode& inner : child->graph->nodes()) any = touched(inner, patch, opaque) || any;
    return any;
  }
  if (const auto* record = std::get_if<hip::OpaqueRecord>(&node.record)) {
    const bool hit = std::ranges::any_of(record->buffers, [&](Id b) { return patch.moved(b); });
    *opaque = *opaque || hit;
    return hit;
  }
  return std::ranges::any_of(node.relocations, [&](const hip::Relocation& r) { return patch.moved(r.buffer); });
}

void Detectors::gather(const hip::Recording& recording, const std::vector<model::NodeView>& actual,
                       const std::vector<model::NodeView>& definition, const std::string& name, PatchEvidence& patch,
                       const std::set<hip::NodeIndex>& hidden) const {
  static const std::vector<model::NodeView> kNone;
  const std::size_t count = std::min(recording.nodes().size(), actual.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (hidden.contains(static_cast<hip::NodeIndex>(i))) continue;
    const hip::RecordedNode& recorded = recording.nodes()[i];
    const bool defined = i < definition.size() && definition[i].params->index() == actual[i].params->index();
    const std::string inner_name = fmt::format("{}/n{}", name, i);
    if (const auto* child = std::get_if<hip::ChildRecord>(&recorded.record)) {
      gather(*child->graph, actual[i].children, defined ? definition[i].children : kNone, inner_name, patch, {});
      continue;
    }
    NodeEvidence evidence{inner_name, &recorded, actual[i].params, defined ? definition[i].params : nullptr, false};
    bool opaque = false;
    evidence.touched = touched(recorded, patch, &opaque);
    patch.nodes.push_back(std::move(evidence));
  }
}

void Detectors::judge(PatchEvidence& patch, const Calls& before) {
  const Calls now = calls();
  patch.calls = now.all - before.all;
  patch.exec_setters = now.exec_setters - before.exec_setters;
  patch.rerecorded = now.rerecorded - before.rerecorded;
  if (now.graph_setters == before.graph_setters) {  // the patch cannot have changed the definition
    for (NodeEvidence& node : patch.nodes) node.definition = nullptr;
  }
  judge_fields(patch);
  if (detect_a6(patch, observation_.violations)) count(PropertyId::kA6);
}

void Detectors::judge_fields(const PatchEvidence& patch) {
  struct Entry {
    PropertyId id;
    bool (*detect)(const PatchEvidence&, Violations&);
  };
  static constexpr Entry kDetectors[] = {{PropertyId::kA1, detect_a1}, {PropertyId::kA2, detect_a2},
                                         {PropertyId::kA3, detect_a3}, {PropertyId::kA4, detect_a4},
                                         {PropertyId::kA5, detect_a5}, {PropertyId::kA7, detect_a7},
                                         {PropertyId::kP3, detect_p3}};
  for (const Entry& entry : kDetectors) {
    if (entry.detect(patch, observation_.violations)) count(entry.id);
  }
}

void Detectors::patched(std::size_t step, const ExecObject& exec, const hip::AddressTable& before,
                        const hip::AddressTable& after, const std::vector<std::uint64_t>& buffer_bytes,
                        const Calls& calls_before) {
  PatchEvidence patch{step, before, after, buffer_bytes, {}};
  bool opaque = false;
  // A node without a valid handle cannot be set: to a patcher it is opaque.
  static const std::set<hip::NodeIndex> kNone;
  const std::set<hip::NodeIndex>& hidden = exec.owned ? kNone : exec.removed;
  for (hip::NodeIndex i = 0; i < exec.recording.nodes().size(); ++i) {
    const bool hit = touched(exec.recording.nodes()[i], patch, &opaque);
    opaque = opaque || (hit && hidden.contains(i));
    patch.top_level_touched += hit ? 1 : 0;
  }
  patch.opaque_touched = opaque;
  const std::vector<model::NodeView> actual =
      platform_.look_into(exec.exec, model::kAllNodes).value_or(std::vector<model::NodeView>());
  std::vector<model::NodeView> defined =
      platform_.look_into(exec.handles.graph, model::kAllNodes).value_or(std::vector<model::NodeView>());
  // The definition does not have the removed nodes any more: their places stay, so that equal indices are one node.
  for (const hip::NodeIndex removed : hidden) {
    if (removed <= defined.size()) defined.emplace(defined.begin() + removed);
  }
  gather(exec.recording, actual, defined, fmt::format("g{}", exec.origin), patch, hidden);
  name_as_written(exec.places, exec.origin, patch.nodes);
  judge(patch, calls_before);
}

void Detectors::patched(std::size_t step, const GraphObject& graph, const hip::AddressTable& before,
                        const hip::AddressTable& after, const std::vector<std::uint64_t>& buffer_bytes,
                        const Calls& calls_before) {
  PatchEvidence patch{step, before, after, buffer_bytes, {}};
  patch.of_definition = true;
  bool opaque = false;
  for (const hip::RecordedNode& node : graph.recording.nodes()) static_cast<void>(touched(node, patch, &opaque));
  patch.opaque_touched = opaque;
  const std::vector<model::NodeView> actual =
      platform_.look_into(graph.handles.graph, model::kAllNodes).value_or(std::vector<model::NodeView>());
  gather(graph.recording, actual, {}, fmt::format("g{}", graph.id), patch, {});
  name_as_written(graph.places, graph.id, patch.nodes);
  judge(patch, calls_before);
}

void Detectors::injected_failure(std::size_t step, const std::string& command, bool reported) {
  count(PropertyId::kP4);
  const std::optional<Function> function = interposer_.last_fired();
  detect_p4(step, command, function ? function_name(*function) : "", reported, observation_.violations);
}

void Detectors::refusal(std::size_t step, const std::string& command, const std::string& changed) {
  count(PropertyId::kP4);
  if (changed.empty()) return;
  observation_.violations.push_back({PropertyId::kP4, step, fmt::format("'{}'", command),
                                     "unchanged by a command that is refused", "changed " + changed});
}

void Detectors::bad_call(std::size_t step, const ErrorCase& error_case, int status, const std::string& changed) {
  count(PropertyId::kP11);
  detect_p11(step, error_case, status, changed, observation_.violations);
}

void Detectors::launch(const ExecObject& exec, std::uint64_t schedule_seed) {
  count(PropertyId::kP1);
  count(PropertyId::kP3);
  if (schedule_seed != 0 && exec.recording.nodes().size() > 1) count(PropertyId::kP5);
}

void Detectors::topology(std::size_t step, const GraphObject& graph, const TopologySeen& seen) {
  if (detect_p5({step, graph.recording, graph.id, seen}, observation_.violations)) count(PropertyId::kP5);
}

void Detectors::teardown_error(std::size_t step, const std::string& what) {
  observation_.violations.push_back({PropertyId::kP8, step, "tear-down", "success", what});
}

void Detectors::leaks(std::size_t step, const std::string& leaks) {
  count(PropertyId::kP8);
  if (!leaks.empty())
    observation_.violations.push_back({PropertyId::kP8, step, "after tear-down", "nothing is left", leaks});
}

Detectors::Isolation Detectors::isolation(const std::map<Id, GraphObject>& graphs,
                                          const std::map<Id, ExecObject>& execs, const ExecObject* changing,
                                          const GraphObject* changing_graph) const {
  Isolation prints;
  if (!platform_.white_box()) return prints;
  prints.graph_setters = calls().graph_setters;
  prints.of_a_graph = changing_graph != nullptr;
  for (const auto& [id, graph] : graphs) {
    if (!graph.alive || &graph == changing_graph) continue;
    if (const auto found = platform_.look_into(graph.handles.graph, model::kAllNodes)) {
      prints.graphs[fmt::format("g{}", id)] = fingerprint(*found);
    }
  }
  for (const auto& [id, exec] : execs) {
    if (!exec.alive || &exec == changing) continue;
    if (const auto found = platform_.look_into(exec.exec, model::kAllNodes))
      prints.execs[fmt::format("e{}", id)] = fingerprint(*found);
  }
  return prints;
}

void Detectors::check_isolation(std::size_t step, const Isolation& before, const Isolation& after) {
  if (!platform_.white_box()) return;
  const bool graphs = before.graph_setters == after.graph_setters || before.of_a_graph;
  count(PropertyId::kP2);
  detect_p2({step, before.execs, after.execs}, observation_.violations);
  if (graphs) detect_p2({step, before.graphs, after.graphs}, observation_.violations);
}

std::vector<std::uint64_t> Detectors::prints_of(const std::optional<std::vector<model::NodeView>>& nodes) {
  std::vector<std::uint64_t> prints;
  if (!nodes) return prints;
  for (const model::NodeView& node : *nodes) prints.push_back(fingerprint(node));
  return prints;
}

void Detectors::check_node_prints(std::size_t step, const std::string& object, const std::vector<std::uint64_t>& before,
                                  const std::vector<std::uint64_t>& after, const NodePlace& changed) {
  if (!platform_.white_box()) return;
  count(PropertyId::kP2);
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i] == after[i] || (i >= changed.first && i - changed.first < changed.fan)) continue;
    observation_.violations.push_back({PropertyId::kP2, step, fmt::format("{} node {}", object, i),
                                       "unchanged by an operation on another node", "changed"});
    return;
  }
}

void Detectors::check_set(std::size_t step, const std::string& name, const hip::Recording& recording,
                          const std::vector<model::NodeView>& nodes, const hip::AddressTable& addresses,
                          const std::vector<std::uint64_t>& buffer_bytes, const NodePlace& set) {
  PatchEvidence evidence{step, addresses, addresses, buffer_bytes, {}};
  for (std::size_t i = set.first; i < set.first + set.fan && i < std::min(nodes.size(), recording.nodes().size());
       ++i) {
    evidence.nodes.push_back(
        {fmt::format("{} node {}", name, i), &recording.nodes()[i], nodes[i].params, nullptr, false});
  }
  Violations found;
  static_cast<void>(detect_a4(evidence, found));
  static_cast<void>(detect_a5(evidence, found));
  if (found.empty()) return;
  observation_.violations.push_back(
      {PropertyId::kP3, step, found.front().where + " after a setter", found.front().expected, found.front().observed});
}

}  // namespace verify
