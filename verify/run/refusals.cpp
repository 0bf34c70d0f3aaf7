#include "verify/run/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "verify/program/text.h"

namespace verify {

namespace {

// Edges that were added later may close a circle, which cannot be instantiated.
bool may_have_a_circle(const hip::Recording& recording) {
  for (hip::NodeIndex i = 0; i < recording.nodes().size(); ++i) {
    if (std::ranges::any_of(recording.nodes()[i].dependencies, [i](hip::NodeIndex before) { return before >= i; }))
      return true;
  }
  return false;
}

// The nodes whose arguments were passed one by one: a getter does not return a packed block.
std::set<hipGraphNode_t> with_arguments(const std::map<Id, GraphObject>& graphs) {
  std::set<hipGraphNode_t> nodes;
  for (const auto& [id, graph] : graphs) {
    for (hip::NodeIndex i = 0; graph.alive && i < graph.recording.nodes().size(); ++i) {
      const auto* kernel = std::get_if<hip::KernelRecord>(&graph.recording.nodes()[i].record);
      if (kernel != nullptr && kernel->style == hip::ArgumentStyle::kParams) nodes.insert(graph.handles.nodes[i]);
    }
  }
  return nodes;
}

std::vector<hipGraphNode_t> valid_nodes(const ExecObject& exec) {
  std::vector<hipGraphNode_t> nodes = exec.handles.nodes;
  for (const hip::NodeIndex removed : exec.removed) {
    if (!exec.owned && removed < nodes.size()) nodes[removed] = nullptr;
  }
  return nodes;
}

bool is_fan(const Command& command) {
  const auto* add = std::get_if<AddNode>(&command);
  return add != nullptr && add->fan != 1;
}

bool names_a_spoiled_graph(const Run& run, const ExecObject& exec) {
  const auto origin = run.graphs.find(exec.origin);
  return !exec.owned && origin != run.graphs.end() && origin->second.spoiled;
}

}  // namespace

bool Refusal::expected() const {
  if (run_.captures.answer(command_) != 0) return true;
  if (const auto* update = std::get_if<Update>(&command_)) {
    const ExecObject* exec = run_.live_exec(update->exec);
    const GraphObject* graph = run_.live_graph(update->graph);
    return exec != nullptr && graph != nullptr && documented_update(exec->recording, graph->recording).code != 0;
  }
  const auto* made = std::get_if<Instantiate>(&command_);
  const GraphObject* graph = made == nullptr ? nullptr : run_.live_graph(made->graph);
  return graph != nullptr && may_have_a_circle(graph->recording);
}

bool Refusal::expected_below() const {
  return run_.refusal_waits_below && !run_.captures.capturing() && !std::holds_alternative<MoveBuffers>(command_) &&
         !std::holds_alternative<Patch>(command_) && !std::holds_alternative<Destroy>(command_) && !is_fan(command_);
}

void Refusal::begin() {
  before_.reset();
  if (looked_ || !run_.options.inspect || run_.thread != 0) return;
  const bool by_a_rule = expected();
  below_ = !by_a_rule && expected_below();
  if (!by_a_rule && !below_) return;
  looked_ = true;
  before_ = look();
}

void Refusal::check_below(const StepStatus& first) {
  run_.refusal_waits_below = false;
  if (!below_) return;
  check(first);
  before_.reset();
}

Refusal::Look Refusal::look() const {
  Look seen;
  const hip::Api& api = run_.interposer.inner();
  const auto readable = std::make_shared<const std::set<hipGraphNode_t>>(with_arguments(run_.graphs));
  const Snapshot empty(api, [&run = run_, readable](hipGraphNode_t node, const hipKernelNodeParams& params) {
    std::vector<std::size_t> sizes;
    const KernelSpec* spec = run.interposer.kernel_of(static_cast<hipFunction_t>(params.func));
    if (spec == nullptr || !readable->contains(node)) return sizes;
    for (const ArgumentSpec& argument : spec->arguments) sizes.push_back(argument.size);
    return sizes;
  });
  for (const auto& [id, graph] : run_.graphs) {
    if (!graph.alive || graph.spoiled) continue;
    const std::string name = fmt::format("g{}", id);
    seen.objects.emplace(name, empty).first->second.graph(name, graph.handles.graph);
  }
  for (const auto& [id, exec] : run_.execs) {
    if (!exec.alive || names_a_spoiled_graph(run_, exec)) continue;
    const std::string name = fmt::format("e{}", id);
    Snapshot& snapshot = seen.objects.emplace(name, empty).first->second;
    snapshot.exec(name, exec.exec, valid_nodes(exec));
    for (const std::uint64_t print : run_.detectors.node_prints(exec.exec))
      snapshot.note("the nodes of " + name, std::to_string(print));
  }
  for (const auto& [id, stream] : run_.streams) {
    const CaptureState* capture = run_.captures.of(id);
    Snapshot snapshot = empty;
    snapshot.stream(fmt::format("s{}", id), stream);
    seen.streams.emplace(
        id, std::pair(capture == nullptr ? Capture() : Capture(capture->serial, capture->valid), std::move(snapshot)));
  }
  return seen;
}

// A capture that the rules end or make invalid is not compared.
std::string Refusal::difference(const Look& before, const Look& after) {
  for (const auto& [name, snapshot] : after.objects) {
    const auto was = before.objects.find(name);
    if (was == before.objects.end()) continue;
    if (std::string changed = Snapshot::difference(was->second, snapshot); !changed.empty()) return changed;
  }
  for (const auto& [id, seen] : after.streams) {
    const auto was = before.streams.find(id);
    if (was == before.streams.end() || was->second.first != seen.first) continue;
    if (std::string changed = Snapshot::difference(was->second.second, seen.second); !changed.empty()) return changed;
  }
  return {};
}

void Refusal::check(const StepStatus& status) {
  if (!before_ || status.code == 0) return;
  run_.detectors.refusal(run_.step, print_command(command_), difference(*before_, look()));
}

}  // namespace verify
