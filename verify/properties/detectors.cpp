#include "verify/properties/detectors.h"

#include <fmt/format.h>

#include <algorithm>

namespace verify {

namespace {

// FNV-1a over what a node holds. Only equality matters.
class Fingerprint {
 public:
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) hash_ = (hash_ ^ bytes[i]) * 0x100000001b3ULL;
  }
  void number(std::uint64_t value) { add(&value, sizeof value); }

  void operator()(const model::EmptyParams&) {}
  void operator()(const model::ChildParams&) {}
  void operator()(const model::KernelParams& p) {
    number(reinterpret_cast<std::uintptr_t>(p.function.get()));
    number(p.shape.grid.x);
    number(p.shape.block.x);
    add(p.arguments.data(), p.arguments.size());
  }
  void operator()(const model::CopyParams& p) {
    for (const model::PitchedPointer* end : {&p.dst, &p.src}) {
      number(end->base);
      number(end->pitch);
      number(end->ysize);
    }
    for (const model::Position* at : {&p.dst_pos, &p.src_pos}) {
      number(at->x);
      number(at->y);
      number(at->z);
    }
    number(p.extent.width);
    number(p.extent.height);
    number(p.extent.depth);
    number(static_cast<std::uint64_t>(p.kind));
  }
  void operator()(const model::MemsetParams& p) {
    number(p.dst);
    number(p.value);
    number(p.element_size);
    number(p.width);
    number(p.height);
  }
  void operator()(const model::HostParams& p) { number(reinterpret_cast<std::uintptr_t>(p.user_data)); }

  void views(const std::vector<model::NodeView>& nodes) {
    for (const model::NodeView& node : nodes) {
      std::visit([this](const auto& p) { (*this)(p); }, *node.params);
      for (const std::uint32_t dependency : node.dependencies) number(dependency);
      views(node.children);
    }
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

std::uint64_t fingerprint(const std::vector<model::NodeView>& nodes) {
  Fingerprint print;
  print.views(nodes);
  return print.value();
}

constexpr Function kExecSetters[] = {
    Function::k_hipGraphExecKernelNodeSetParams,   Function::k_hipGraphExecMemcpyNodeSetParams,
    Function::k_hipGraphExecMemcpyNodeSetParams1D, Function::k_hipGraphExecMemsetNodeSetParams,
    Function::k_hipGraphExecHostNodeSetParams,     Function::k_hipGraphExecChildGraphNodeSetParams};

constexpr Function kGraphSetters[] = {Function::k_hipGraphKernelNodeSetParams, Function::k_hipGraphMemcpyNodeSetParams,
                                      Function::k_hipGraphMemcpyNodeSetParams1D,
                                      Function::k_hipGraphMemsetNodeSetParams, Function::k_hipGraphHostNodeSetParams};

std::string node_name(const std::vector<NodePlace>& places, Id graph, hip::NodeIndex index) {
  for (const NodePlace& place : places) {
    if (index < place.first || index >= place.first + place.fan) continue;
    return place.fan == 1 ? fmt::format("g{}.n{}", graph, place.id)
                          : fmt::format("g{}.n{}[{}]", graph, place.id, index - place.first);
  }
  return fmt::format("g{} node {}", graph, index);
}

// Top-level names as the program writes them.
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
                     interposer_.calls_of(Function::k_hipGraphCreate);
  return calls;
}

bool Detectors::holds_opaque(const hip::Recording& recording, const std::vector<hip::Move>& moves) {
  return std::any_of(recording.nodes().begin(), recording.nodes().end(), [&](const hip::RecordedNode& node) {
    if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) return holds_opaque(*child->graph, moves);
    const auto* opaque = std::get_if<hip::OpaqueRecord>(&node.record);
    return opaque != nullptr && std::any_of(moves.begin(), moves.end(), [&](const hip::Move& move) {
             return std::find(opaque->buffers.begin(), opaque->buffers.end(), move.buffer) != opaque->buffers.end();
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
    const bool hit = std::any_of(record->buffers.begin(), record->buffers.end(), [&](Id b) { return patch.moved(b); });
    *opaque = *opaque || hit;
    return hit;
  }
  return std::any_of(node.relocations.begin(), node.relocations.end(),
                     [&](const hip::Relocation& r) { return patch.moved(r.buffer); });
}

void Detectors::gather(const hip::Recording& recording, const std::vector<model::NodeView>& actual,
                       const std::vector<model::NodeView>& definition, const std::string& name,
                       PatchEvidence& patch) const {
  static const std::vector<model::NodeView> kNone;
  const std::size_t count = std::min(recording.nodes().size(), actual.size());
  for (std::size_t i = 0; i < count; ++i) {
    const hip::RecordedNode& recorded = recording.nodes()[i];
    const bool defined = i < definition.size() && definition[i].params->index() == actual[i].params->index();
    const std::string inner_name = fmt::format("{}/n{}", name, i);
    if (const auto* child = std::get_if<hip::ChildRecord>(&recorded.record)) {
      gather(*child->graph, actual[i].children, defined ? definition[i].children : kNone, inner_name, patch);
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
  if (now.graph_setters == before.graph_setters) {  // nothing can have landed in the definition
    for (NodeEvidence& node : patch.nodes) node.definition = nullptr;
  }
  struct Entry {
    PropertyId id;
    bool (*detect)(const PatchEvidence&, Violations&);
  };
  static constexpr Entry kDetectors[] = {{PropertyId::kA1, detect_a1}, {PropertyId::kA2, detect_a2},
                                         {PropertyId::kA3, detect_a3}, {PropertyId::kA4, detect_a4},
                                         {PropertyId::kA5, detect_a5}, {PropertyId::kA6, detect_a6},
                                         {PropertyId::kA7, detect_a7}, {PropertyId::kP3, detect_p3}};
  for (const Entry& entry : kDetectors) {
    if (entry.detect(patch, trace_.violations)) count(entry.id);
  }
}

void Detectors::patched(std::size_t step, const ExecObject& exec, const hip::AddressTable& before,
                        const hip::AddressTable& after, const std::vector<std::uint64_t>& buffer_bytes,
                        const Calls& calls_before) {
  PatchEvidence patch{step, before, after, buffer_bytes, {}};
  bool opaque = false;
  for (const hip::RecordedNode& node : exec.recording.nodes()) {
    patch.top_level_touched += touched(node, patch, &opaque) ? 1 : 0;
  }
  patch.opaque_touched = opaque;
  const std::vector<model::NodeView> actual = platform_.look_into(exec.exec).value_or(std::vector<model::NodeView>());
  const std::vector<model::NodeView> defined =
      platform_.look_into(exec.handles.graph).value_or(std::vector<model::NodeView>());
  gather(exec.recording, actual, defined, fmt::format("g{}", exec.origin), patch);
  name_as_written(exec.places, exec.origin, patch.nodes);
  judge(patch, calls_before);
}

void Detectors::patched(std::size_t step, const GraphObject& graph, const hip::AddressTable& before,
                        const hip::AddressTable& after, const std::vector<std::uint64_t>& buffer_bytes,
                        const Calls& calls_before) {
  PatchEvidence patch{step, before, after, buffer_bytes, {}};
  bool opaque = false;
  for (const hip::RecordedNode& node : graph.recording.nodes()) static_cast<void>(touched(node, patch, &opaque));
  patch.opaque_touched = opaque;
  const std::vector<model::NodeView> actual =
      platform_.look_into(graph.handles.graph).value_or(std::vector<model::NodeView>());
  gather(graph.recording, actual, {}, fmt::format("g{}", graph.id), patch);
  name_as_written(graph.places, graph.id, patch.nodes);
  judge(patch, calls_before);
}

void Detectors::injected_failure(std::size_t step, const std::string& command, bool reported) {
  count(PropertyId::kP4);
  if (reported) return;
  const std::optional<Function> function = interposer_.last_fired();
  trace_.violations.push_back({PropertyId::kP4, step, fmt::format("'{}'", command),
                               fmt::format("an error, because {} failed", function ? function_name(*function) : ""),
                               "success"});
}

void Detectors::launch(const ExecObject& exec, std::uint64_t schedule_seed) {
  count(PropertyId::kP1);
  count(PropertyId::kP3);
  if (schedule_seed != 0 && exec.recording.nodes().size() > 1) count(PropertyId::kP5);
}

void Detectors::topology(std::size_t step, const GraphObject& graph, const TopologySeen& seen) {
  count(PropertyId::kP5);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> expected;
  for (std::uint32_t i = 0; i < graph.recording.nodes().size(); ++i) {
    for (const hip::NodeIndex dependency : graph.recording.nodes()[i].dependencies)
      expected.emplace_back(dependency, i);
  }
  std::sort(expected.begin(), expected.end());
  if (expected == seen.edges && seen.types.size() == graph.recording.nodes().size()) return;
  trace_.violations.push_back({PropertyId::kP5, step, fmt::format("edges of g{}", graph.id),
                               fmt::format("{} nodes, {} edges", graph.recording.nodes().size(), expected.size()),
                               fmt::format("{} nodes, {} edges", seen.types.size(), seen.edges.size())});
}

void Detectors::teardown_error(std::size_t step, const std::string& what) {
  trace_.violations.push_back({PropertyId::kP8, step, "tear-down", "success", what});
}

void Detectors::leaks(std::size_t step, const std::string& leaks) {
  count(PropertyId::kP8);
  if (!leaks.empty()) trace_.violations.push_back({PropertyId::kP8, step, "after tear-down", "nothing is left", leaks});
}

Detectors::Isolation Detectors::isolation(const std::map<Id, GraphObject>& graphs,
                                          const std::map<Id, ExecObject>& execs, const ExecObject* changing) const {
  Isolation prints;
  if (!platform_.white_box()) return prints;
  prints.graph_setters = calls().graph_setters;
  for (const auto& [id, graph] : graphs) {
    if (!graph.alive) continue;
    if (const auto found = platform_.look_into(graph.handles.graph)) {
      prints.graphs[fmt::format("g{}", id)] = fingerprint(*found);
    }
  }
  for (const auto& [id, exec] : execs) {
    if (!exec.alive || &exec == changing) continue;
    if (const auto found = platform_.look_into(exec.exec)) prints.execs[fmt::format("e{}", id)] = fingerprint(*found);
  }
  return prints;
}

void Detectors::compare_prints(std::size_t step, const std::map<std::string, std::uint64_t>& before,
                               const std::map<std::string, std::uint64_t>& after) {
  for (const auto& [name, print] : before) {
    const auto found = after.find(name);
    if (found != after.end() && found->second == print) continue;
    trace_.violations.push_back(
        {PropertyId::kP2, step, name, "unchanged by an operation on another object", "changed"});
  }
}

void Detectors::check_isolation(std::size_t step, const Isolation& before, const Isolation& after) {
  if (!platform_.white_box()) return;
  count(PropertyId::kP2);
  compare_prints(step, before.execs, after.execs);
  if (before.graph_setters == after.graph_setters) compare_prints(step, before.graphs, after.graphs);
}

}  // namespace verify
