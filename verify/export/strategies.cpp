#include "verify/export/strategies.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "verify/export/exporter.h"
#include "verify/program/state_devices.h"

namespace verify {
namespace {

// The variables of such a graph would end with the thread.
constexpr const char* kRecordedInThread =
    "a thread records a graph again: such a block has no stand-alone form; replay the program instead";

bool is_opaque(const NodeParams& params) {
  const auto* kernel = std::get_if<KernelParams>(&params);
  return kernel != nullptr && kernel->opaque;
}

// Whether a setter has to give the node a new address of one of the buffers.
bool touches(const NodeState& node, const std::vector<Id>& stale) {
  if (std::holds_alternative<HostParams>(node.params)) return false;  // reads its pointer when it runs
  if (node.child) {
    return std::ranges::any_of(node.child->nodes, [&](const NodeState& inner) { return touches(inner, stale); });
  }
  bool found = false;
  for_each_ref(node.params,
               [&](const BufferRef& ref) { found = found || std::ranges::find(stale, ref.buffer) != stale.end(); });
  return found;
}

bool holds_opaque(const GraphState& graph, const std::vector<Id>& stale) {
  return std::ranges::any_of(graph.nodes, [&](const NodeState& node) {
    return (is_opaque(node.params) && touches(node, stale)) || (node.child && holds_opaque(*node.child, stale));
  });
}

// Whether such a node of the executable graph has no valid handle: the node that it was instantiated from is gone.
bool holds_gone(const State& state, const ExecState& exec, const std::vector<Id>& stale) {
  const bool graph_gone = !state.graph(exec.origin)->alive;
  return std::ranges::any_of(exec.graph.nodes, [&](const NodeState& node) {
    return (graph_gone || exec.gone.contains(node.id)) && touches(node, stale);
  });
}

}  // namespace

// ---- which versions of buffers a graph has

ReproducerStrategies::Versions ReproducerStrategies::versions() const {
  Versions versions;
  for (const auto& [id, buffer] : out_.after().buffers()) versions[id] = buffer.version;
  return versions;
}

void ReproducerStrategies::note(Versions& versions, const NodeState& node) const {
  const auto note_one = [&](Id id) { versions[id] = out_.after().buffer(id)->version; };
  for_each_ref(node.params, [&](const BufferRef& ref) { note_one(ref.buffer); });
  if (!node.child) return;
  for (const auto& [id, version] : node.child->addresses) note_one(id);
}

void ReproducerStrategies::graph_made(Id graph) {
  graph_versions_[graph] = versions();
}

void ReproducerStrategies::graph_cloned(Id graph, Id from) {
  graph_versions_[graph] = graph_versions_[from];
}

void ReproducerStrategies::node_added(Id graph, const NodeState& node) {
  note(graph_versions_[graph], node);
}

void ReproducerStrategies::exec_made(Id exec, Id graph) {
  exec_versions_[exec] = graph_versions_[graph];
}

// ---- commands

void ReproducerStrategies::set(const SetNode& c) {
  const bool in_exec = c.target == Target::kExec;
  const GraphState& graph = in_exec ? out_.after().exec(c.id)->graph : *out_.after().graph(c.id);
  if (in_exec && strategy_ == ReproducerStrategy::kUpdate) return update_to(c.id, graph);
  if (!patches() || is_opaque(c.params)) return record_again(c.target, c.id, graph);
  const NodeState& node = *graph.find(c.node);
  note(in_exec ? exec_versions_[c.id] : graph_versions_[c.id], node);
  NamesOfFile& names = out_.names();
  out_.nodes().set(out_.after(), node, in_exec ? names.execs[c.id].exec : "",
                   node_name(graph, in_exec ? names.execs[c.id].names : names.graphs[c.id], c.node), out_.expected(),
                   c.form);
}

void ReproducerStrategies::patch(const Patch& c) {
  const bool in_exec = c.target == Target::kExec;
  const GraphState& graph = in_exec ? out_.before().exec(c.id)->graph : *out_.before().graph(c.id);
  // Recording again is due when any buffer has moved; setters are due when a node holds a buffer that has moved.
  Versions& had = in_exec ? exec_versions_[c.id] : graph_versions_[c.id];
  const bool moved = had != versions();
  had = versions();
  const std::vector<Id> stale = out_.before().stale_buffers(graph);
  if (patches() ? stale.empty() : !moved) return;
  const bool gone =
      in_exec && !out_.names().execs[c.id].owns_graph && holds_gone(out_.before(), *out_.before().exec(c.id), stale);
  if (patches() && !gone && !holds_opaque(graph, stale)) return set_all_stale(c, graph, stale);
  const GraphState& now = in_exec ? out_.after().exec(c.id)->graph : *out_.after().graph(c.id);
  if (in_exec && strategy_ == ReproducerStrategy::kUpdate) return update_to(c.id, now);
  record_again(c.target, c.id, now);
}

std::vector<Id> ReproducerStrategies::due(const Patch& c) const {
  const State& state = out_.after();
  const bool in_exec = c.target == Target::kExec;
  if (patches()) return state.stale_buffers(in_exec ? state.exec(c.id)->graph : *state.graph(c.id));
  const std::map<Id, Versions>& of_objects = in_exec ? exec_versions_ : graph_versions_;
  const auto object = of_objects.find(c.id);
  const Versions had = object == of_objects.end() ? Versions{} : object->second;
  std::vector<Id> due;
  for (const auto& [id, version] : versions()) {
    const auto found = had.find(id);
    if (found == had.end() || found->second != version) due.push_back(id);
  }
  return due;
}

void ReproducerStrategies::set_all_stale(const Patch& c, const GraphState& graph, const std::vector<Id>& stale) {
  const bool in_exec = c.target == Target::kExec;
  const GraphNames& names = in_exec ? out_.names().execs[c.id].names : out_.names().graphs[c.id];
  for (const NodeState& node : graph.nodes) {
    if (!touches(node, stale)) continue;
    if (!in_exec && node.child) {
      return out_.fail(
          fmt::format("'{}' reaches into a child graph, which has no stand-alone form: export with the strategy "
                      "rebuild or update (--subject RUNTIME:rebuild)",
                      out_.command_text()));
    }
    out_.nodes().set(out_.after(), node, in_exec ? out_.names().execs[c.id].exec : "", node_name(graph, names, node.id),
                     out_.expected());
  }
}

void ReproducerStrategies::update(const Update& c) {
  const bool succeeds = out_.expected().error == "hipSuccess";
  if (strategy_ == ReproducerStrategy::kRebuild) {
    if (succeeds) rebuild_exec(c.exec, out_.after().exec(c.exec)->graph);
    return;
  }
  const std::string suffix = call_update(c.exec, out_.names().graphs[c.graph].graph);
  if (out_.expected().differs) {
    out_.text().equal("the result of the update", fmt::format("\"{}\"", out_.expected().update_result),
                      fmt::format("std::to_string(update_result{})", suffix));
  }
  if (out_.expected().only_seen_differs) check_error_node(c.graph, suffix);
  if (succeeds) exec_versions_[c.exec] = versions();
}

// ---- the three ways

void ReproducerStrategies::record_again(Target target, Id id, const GraphState& graph) {
  if (target == Target::kExec) return rebuild_exec(id, graph);
  rebuild_graph(id);
}

void ReproducerStrategies::rebuild_exec(Id id, const GraphState& graph) {
  if (graph.has_memory) return out_.refuse("memory nodes that are recorded again have no stand-alone form yet");
  if (out_.text().in_thread()) return out_.refuse(kRecordedInThread);
  ExecNames& exec = out_.names().execs[id];
  const GraphNames names = out_.nodes().record(out_.after(), graph, out_.expected());
  const std::string fresh = fmt::format("e{}_{}", id, names.graph);
  out_.text().line(fmt::format("hipGraphExec_t {};", fresh));
  out_.text().on_device(home_of(graph), [&] { instantiate(fresh, names.graph, exec.form, exec.flags); });
  out_.text().wait();
  out_.call(fmt::format("hipGraphExecDestroy({})", exec.exec));
  if (exec.owns_graph) out_.call(fmt::format("hipGraphDestroy({})", exec.names.graph));
  exec = {fresh, names, true, exec.form, exec.flags};
  exec_versions_[id] = versions();
}

void ReproducerStrategies::rebuild_graph(Id id) {
  if (out_.text().in_thread()) return out_.refuse(kRecordedInThread);
  out_.names().graphs[id] = out_.nodes().record(out_.after(), *out_.after().graph(id), out_.expected());
  graph_versions_[id] = versions();
}

void ReproducerStrategies::update_to(Id id, const GraphState& graph) {
  const std::string fresh = out_.nodes().record(out_.after(), graph, out_.expected()).graph;
  call_update(id, fresh);
  out_.text().must(fmt::format("hipGraphDestroy({})", fresh));
  exec_versions_[id] = versions();
}

std::string ReproducerStrategies::call_update(Id id, const std::string& graph) {
  const unsigned number = out_.text().number(LocalKind::kUpdate);
  std::string suffix = number == 1 ? "" : fmt::format("{}", number);
  out_.text().line(fmt::format("hipGraphNode_t error_node{} = nullptr;", suffix));
  out_.text().line(fmt::format("hipGraphExecUpdateResult update_result{} = hipGraphExecUpdateSuccess;", suffix));
  out_.text().on_device(home_of(out_.before().exec(id)->graph), [&] {
    out_.call(fmt::format("hipGraphExecUpdate({}, {}, &error_node{}, &update_result{})", out_.names().execs[id].exec,
                          graph, suffix, suffix));
  });
  return suffix;
}

// Checks the answer "error node n1".
void ReproducerStrategies::check_error_node(Id graph, const std::string& suffix) {
  const GraphState& state = *out_.before().graph(graph);
  for (const NodeState& node : state.nodes) {
    if (node.fan != 1 || out_.expected().seen != fmt::format("error node n{}", node.id)) continue;
    const std::string& name = node_name(state, out_.names().graphs[graph], node.id);
    out_.text().equal("the error node", fmt::format("\"{}\"", name),
                      fmt::format("std::string(error_node{} == {} ? \"{}\" : \"another\")", suffix, name, name));
    out_.answered();
  }
}

void ReproducerStrategies::instantiate(const std::string& exec, const std::string& graph, InstantiateForm form,
                                       std::uint32_t flags) {
  if (form == InstantiateForm::kPlain) {
    return out_.call(fmt::format("hipGraphInstantiate(&{}, {}, nullptr, nullptr, 0)", exec, graph));
  }
  if (form == InstantiateForm::kFlags) {
    return out_.call(fmt::format("hipGraphInstantiateWithFlags(&{}, {}, {})", exec, graph, flags));
  }
  const std::string params = fmt::format("params{}", out_.text().number(LocalKind::kCall));
  out_.text().line(fmt::format("hipGraphInstantiateParams {}{{}};", params));
  if (flags != 0) out_.text().line(fmt::format("{}.flags = {};", params, flags));
  out_.call(fmt::format("hipGraphInstantiateWithParams(&{}, {}, &{})", exec, graph, params));
  if (!out_.expected().differs) return;
  static constexpr const char* kResults[] = {"success", "error", "invalid structure", "node operation not supported",
                                             "multiple devices not supported"};
  for (std::size_t i = 0; i < std::size(kResults); ++i) {
    if (out_.expected().seen != fmt::format("result {}", kResults[i])) continue;
    out_.answered();
    out_.text().equal("the result of the instantiation", fmt::format("\"{}\"", i),
                      fmt::format("std::to_string({}.result_out)", params));
  }
}

}  // namespace verify
