// How commands about executable graphs run. The run's strategy says which of HIP's functions bring an
// executable graph to new addresses.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hip/errors.h"
#include "verify/execute/rebuild.h"
#include "verify/run/run_command.h"

namespace verify {

namespace {

std::string error_node_word(const GraphObject& graph, hipGraphNode_t node) {
  if (node == nullptr) return "no error node";
  const auto found = std::ranges::find(graph.handles.nodes, node);
  if (found == graph.handles.nodes.end()) return "an error node that is not the graph's";
  const auto index = static_cast<hip::NodeIndex>(found - graph.handles.nodes.begin());
  for (const NodePlace& place : graph.places) {
    if (index >= place.first && index < place.first + place.fan) return fmt::format("error node n{}", place.id);
  }
  return "an error node without a name";
}

template <class Object>
std::vector<hip::Move> moves_of(const Object& object, const BufferMemory& memory) {
  std::vector<hip::Move> moves;
  for (Id id = 0; id < memory.size(); ++id) {
    if (object.addresses[id] == memory.address(id)) continue;
    moves.push_back({id, object.addresses[id], memory.address(id)});
  }
  return moves;
}

hip::Status record_again(Run& run, ExecObject& exec) {
  return run.strategy.record_again(run.context, exec);
}
hip::Status record_again(Run& run, GraphObject& graph) {
  return rebuild(run.context, graph, graph.recording);
}

template <class Object>
hip::Status patch(Run& run, Object& object) {
  run.graph_memory.show_as_in(object.addresses);
  const std::vector<hip::Move> moves = moves_of(object, run.memory);
  const hip::AddressTable old_addresses = object.addresses;
  const std::uint64_t fired = run.interposer.fired();
  const Detectors::Calls calls = run.detectors.calls();
  PatchOutcome outcome = run.strategy.patch(run.context, object, moves);
  run.graph_memory.show_as_in(object.addresses);  // recorded again, the object has its memory at other addresses
  ++run.observation.patches;
  run.detectors.refused(run.step, object, moves, outcome);
  if (outcome.status) {
    if (run.interposer.fired() == fired && outcome.in_place) {
      run.observation.patched_in_place.push_back(run.step);
      if (run.options.inspect)
        run.detectors.patched(run.step, object, old_addresses, run.memory.addresses(), run.context.buffer_bytes, calls);
    }
    return {};
  }
  if (outcome.failure == hip::PatchFailure::kBadMove) {
    run.observation.harness_error = outcome.status.error().message;
    return outcome.status;
  }
  // Rolled back because of an injected failure: reported, and tried again as if nothing had happened.
  if (run.interposer.fired() != fired && outcome.failure != hip::PatchFailure::kUnusable) return outcome.status;
  ++run.observation.fallbacks;
  run.attempt.fallback_reported = true;
  return record_again(run, object);
}

}  // namespace

template <>
hip::Status run_command(Run& run, const Instantiate& c) {
  const GraphObject* graph = run.live_graph(c.graph);
  if (graph == nullptr) return missing_object();
  ExecObject& exec = run.execs[c.exec];
  exec.id = c.exec;
  exec.origin = c.graph;
  exec.form = c.form;
  exec.flags = c.flags;
  exec.places = graph->places;
  return on_device(run.context.api, hip::home_of(graph->recording),
                   [&] { return run.strategy.instantiate(run.context, *graph, exec, &run.attempt.seen); });
}

constexpr const char* kNoSecondFree =
    "a second free node: the strategy recorded the allocating graph again, and its memory has another address now";

template <>
hip::Status run_command(Run& run, const Launch& c) {
  const ExecObject* exec = run.live_exec(c.exec);
  if (exec == nullptr || !run.has_stream(c.stream)) return missing_object();
  // Memory has one free node (hipGraphAddMemFreeNode), so the strategy cannot record this graph again.
  if (run.graph_memory.frees_where_it_was(*exec)) return lacking(run.context, kNoSecondFree);
  run.detectors.launch(*exec, run.options.schedule_seed);
  const bool captured = run.captures.of(c.stream) != nullptr;
  const auto launch = [&] {
    return on_device(run.context.api, run.device_of_stream(c.stream),
                     [&] { return run.strategy.launch(run.context, *exec, run.stream_ref(c.stream)); });
  };
  const std::uint64_t fired = run.interposer.fired();
  const Detectors::Calls calls = run.detectors.calls();
  run.interposer.forget_launch();
  hip::Status status = captured ? launch() : run.changing(exec, nullptr, launch);
  const std::optional<LibraryStep> step = std::exchange(run.context.library_step, std::nullopt);
  if (!status) return status;
  // In a block of threads other threads step, launch and fail meanwhile.
  const bool alone = run.thread == 0 && run.options.inspect && run.interposer.fired() == fired;
  if (step && alone && run.detectors.stepped(run.step, *step, run.context.buffer_bytes, calls))
    run.observation.patched_in_place.push_back(run.step);
  // On a stream that captures, the launch is a child graph node of the capture.
  if (captured)
    run.captures.add(c.stream, {hip::ChildRecord{std::make_shared<const hip::Recording>(exec->recording)}, {}, {}});
  run.graph_memory.launched(*exec);
  return status;
}

template <>
hip::Status run_command(Run& run, const Patch& c) {
  if (c.target == Target::kGraph) {
    GraphObject* graph = run.live_graph(c.id);
    if (graph == nullptr) return missing_object();
    graph->edited = true;
    return run.changing(nullptr, graph, [&] { return patch(run, *graph); });
  }
  ExecObject* exec = run.live_exec(c.id);
  if (exec == nullptr) return missing_object();
  return run.changing(exec, nullptr, [&] { return patch(run, *exec); });
}

template <>
hip::Status run_command(Run& run, const Update& c) {
  ExecObject* exec = run.live_exec(c.exec);
  const GraphObject* graph = run.live_graph(c.graph);
  if (exec == nullptr || graph == nullptr) return missing_object();
  const DocumentedUpdate documented = documented_update(exec->recording, graph->recording);
  UpdateStatus status;
  static_cast<void>(run.changing(exec, nullptr, [&] {
    status = run.strategy.update(run.context, *exec, *graph);
    return hip::Status();
  }));
  if (documented.code != 0 && !documented.any_node) run.attempt.seen = error_node_word(*graph, status.error_node);
  run.attempt.update_result = status.result;
  return hip::called(static_cast<hipError_t>(status.code), "hipGraphExecUpdate");
}

template <>
hip::Status run_command(Run& run, const Upload& c) {
  const ExecObject* exec = run.live_exec(c.exec);
  if (exec == nullptr || !run.has_stream(c.stream)) return missing_object();
  if (run.context.api.hipGraphUpload == nullptr) return lacking(run.context, "hipGraphUpload");
  return hip::call<&hip::Api::hipGraphUpload>(run.context.api, exec->exec, run.stream(c.stream));
}

// HIP: "Flags used to instantiate this executable graph" (hip_runtime_api.h, hipGraphExecGetFlags).
template <>
hip::Status run_command(Run& run, const AskFlags& c) {
  const ExecObject* exec = run.live_exec(c.exec);
  if (exec == nullptr) return missing_object();
  if (run.context.api.hipGraphExecGetFlags == nullptr) return lacking(run.context, "hipGraphExecGetFlags");
  unsigned long long flags = 0;
  hip::Status status = hip::call<&hip::Api::hipGraphExecGetFlags>(run.context.api, exec->exec, &flags);
  if (status) run.attempt.seen = fmt::format("{}", flags);
  return status;
}

template struct FamilyRun<ExecsCommands>;

}  // namespace verify
