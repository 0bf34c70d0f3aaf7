#include "verify/execute/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <deque>
#include <map>

#include "verify/execute/records.h"
#include "verify/program/state.h"
#include "verify/program/text.h"
#include "verify/properties/detectors.h"

namespace verify {

namespace {

hip::Status checked(hipError_t code, const char* what) {
  if (code == hipSuccess) return {};
  return hip::Error{code, fmt::format("{} answered {}", what, hip::status_name(code))};
}

class Run;

// What a host node's user data points at.
struct HostCall {
  Run* run = nullptr;
  HostParams params;
};

// One run of one program. One overload of perform() a command.
class Run {
 public:
  Run(Platform& platform, Strategy& strategy, const PatcherFactory& patchers, Interposer& interposer,
      const Program& program, const RunOptions& options, const AddressScript& script,
      hip::sync::Atomic<std::size_t>* watch)
      : platform_(platform),
        strategy_(strategy),
        interposer_(interposer),
        program_(program),
        options_(options),
        watch_(watch),
        memory_(platform, program, {program.placement, options.fresh_addresses}, script),
        machine_{interposer.table(), interposer, patchers, options.poison, memory_.addresses(), {}, {}, {}},
        detectors_(platform, interposer, trace_) {
    machine_.buffer_bytes.resize(memory_.size(), 0);
    trace_.statuses.reserve(program.steps.size());
    if (options.fail_graph_call != 0) interposer.fail_any(options.fail_graph_call);
  }

  RunResult go() {
    for (step_ = 0; step_ < program_.steps.size(); ++step_) {
      const Step& step = program_.steps[step_];
      note_step();
      StepStatus status;
      for (std::uint32_t k = 0; k < step.repeat && status.code == 0; ++k) status = run_command(step.command);
      trace_.statuses.push_back(status);
    }
    finish();
    return {std::move(trace_), memory_.script()};
  }

  void host_function(const HostParams& params) {
    ++trace_.host_tags[params.tag];
    if (!params.memory) return;
    const hip::DeviceAddress address =
        memory_.address(params.memory->buffer) + static_cast<std::uint64_t>(params.memory->offset);
    std::byte* bytes = platform_.host_view(address, params.bytes);
    for (std::uint32_t i = 0; bytes != nullptr && i < params.bytes; ++i) {
      bytes[i] = static_cast<std::byte>(std::to_integer<unsigned>(bytes[i]) * 31 + params.tag + i);
    }
  }

 private:
  void note_step() const {
    if (watch_ != nullptr) watch_->store(step_, std::memory_order_relaxed);
  }
  StepStatus run_command(const Command& command) {
    const std::uint64_t fired = interposer_.fired();
    StepStatus status = attempt(command);
    if (interposer_.fired() == fired) return status;
    ++trace_.failures_fired;
    detectors_.injected_failure(step_, print_command(command), status.code != 0 || fallback_reported_);
    // Failures are armed one by one; a second one may hit the second attempt.
    for (int again = 0; again < kMaxFailuresACommand && status.code != 0; ++again) status = attempt(command);
    return status;
  }

  StepStatus attempt(const Command& command) {
    fallback_reported_ = false;
    update_result_ = -1;
    const hip::Status status = std::visit([this](const auto& c) { return perform(c); }, command);
    return {status ? 0 : status.error().code, update_result_};
  }

  // ---- objects: after a command that failed for good (a sticky error, say) those it should have made do not exist

  template <class Map>
  static auto* find(Map& map, Id id) {
    const auto found = map.find(id);
    return found == map.end() ? nullptr : &found->second;
  }
  GraphObject* live_graph(Id id) {
    GraphObject* graph = find(graphs_, id);
    return graph != nullptr && graph->alive ? graph : nullptr;
  }
  ExecObject* live_exec(Id id) {
    ExecObject* exec = find(execs_, id);
    return exec != nullptr && exec->alive ? exec : nullptr;
  }
  [[nodiscard]] bool has_stream(Id id) const { return id == kNullStream || streams_.contains(id); }
  hipStream_t stream(Id id) const {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : found->second;
  }
  static hip::Status missing() {
    return hip::Error{hipErrorInvalidHandle, "an earlier command failed to make this object"};
  }

  // ---- declarations

  hip::Status perform(const DeclareBuffer& c) {
    machine_.buffer_bytes[c.buffer] = c.bytes;
    return memory_.declare(c.buffer, c.bytes, c.memory);
  }
  hip::Status perform(const DeclareGraph& c) {
    GraphObject& graph = graphs_[c.graph];
    graph.id = c.graph;
    graph.addresses = memory_.addresses();
    hip::Status status = checked(machine_.api.hipGraphCreate(&graph.handles.graph, 0), "hipGraphCreate");
    graph.alive = static_cast<bool>(status);
    return status;
  }
  hip::Status perform(const DeclareStream& c) {
    hipStream_t stream = nullptr;
    const unsigned flags = c.non_blocking ? hipStreamNonBlocking : hipStreamDefault;
    hip::Status status = checked(machine_.api.hipStreamCreateWithFlags(&stream, flags), "hipStreamCreateWithFlags");
    if (status) streams_[c.stream] = stream;
    return status;
  }
  hip::Status perform(const DeclareEvent& c) {
    hipEvent_t event = nullptr;
    hip::Status status =
        checked(machine_.api.hipEventCreateWithFlags(&event, hipEventDisableTiming), "hipEventCreateWithFlags");
    if (status) events_[c.event] = event;
    return status;
  }

  // ---- nodes

  hip::RecordedNode record_of(const NodeParams& params) {
    RecordContext context{memory_.addresses(), memory_.frozen_addresses(), {}, {}, {}};
    context.function = [this](const KernelSpec& spec) { return function(spec); };
    context.host = [this](const HostParams& host) {
      host_calls_.push_back({this, host});
      return hipHostNodeParams{[](void* data) {
                                 const auto* call = static_cast<const HostCall*>(data);
                                 call->run->host_function(call->params);
                               },
                               &host_calls_.back()};
    };
    context.child = [this](const ChildParams& child) { return nested(child); };
    return make_record(params, context);
  }
  hipFunction_t function(const KernelSpec& spec) {
    const auto index = static_cast<std::size_t>(&spec - kernel_catalogue().data());
    if (functions_.size() <= index) functions_.resize(kernel_catalogue().size(), nullptr);
    if (functions_[index] == nullptr) {
      functions_[index] = platform_.function(index);
      interposer_.know_kernel(functions_[index], &spec);
    }
    return functions_[index];
  }
  // nest=N: the graph inside N-1 graphs that hold nothing else.
  std::shared_ptr<const hip::Recording> nested(const ChildParams& child) {
    const GraphObject* graph = live_graph(child.graph);
    auto recording = graph == nullptr ? std::make_shared<const hip::Recording>()
                                      : std::make_shared<const hip::Recording>(graph->recording);
    for (std::uint32_t i = 1; i < child.nest; ++i) {
      hip::Recording wrapper;
      wrapper.add({hip::ChildRecord{recording}, {}, {}});
      recording = std::make_shared<const hip::Recording>(std::move(wrapper));
    }
    return recording;
  }

  // A node that could not be added stands for no instances.
  static NodePlace place_of(const std::vector<NodePlace>& places, Id node) {
    const auto found = std::find_if(places.begin(), places.end(), [&](const NodePlace& p) { return p.id == node; });
    return found == places.end() ? NodePlace{node, 0, 0} : *found;
  }

  hip::Status perform(const AddNode& c) {
    if (live_graph(c.graph) == nullptr) return missing();
    GraphObject& graph = *live_graph(c.graph);
    std::vector<hip::NodeIndex> dependencies;
    std::vector<hipGraphNode_t> handles;
    for (const Id id : c.after) {
      const NodePlace place = place_of(graph.places, id);
      for (std::uint32_t k = 0; k < place.fan; ++k) {
        dependencies.push_back(place.first + k);
        handles.push_back(graph.handles.nodes[place.first + k]);
      }
    }
    // A fan that a failure interrupted goes on where it stopped.
    if (graph.places.empty() || graph.places.back().id != c.node) {
      graph.places.push_back({c.node, static_cast<hip::NodeIndex>(graph.recording.nodes().size()), 0});
    }
    NodePlace& place = graph.places.back();
    for (std::uint32_t k = place.fan; k < c.fan; ++k) {
      hip::RecordedNode node = record_of(fan_instance(c.params, k));
      const hip::Result<hipGraphNode_t> handle =
          hip::record_node(machine_.api, graph.handles.graph, node, handles, memory_.addresses());
      if (!handle) return handle.error();
      note_addresses(graph, node);
      node.dependencies = dependencies;
      graph.recording.add(std::move(node));
      graph.handles.nodes.push_back(handle.value());
      place.fan = k + 1;
    }
    graph.patcher.reset();
    return {};
  }

  // The buffers that a node names are in its graph at their current place (State makes sure of it).
  template <class Object>
  void note_addresses(Object& object, const hip::RecordedNode& node) const {
    for (const hip::Relocation& relocation : node.relocations) {
      object.addresses[relocation.buffer] = memory_.address(relocation.buffer);
    }
    if (const auto* opaque = std::get_if<hip::OpaqueRecord>(&node.record)) {
      for (const Id buffer : opaque->buffers) object.addresses[buffer] = memory_.address(buffer);
    }
    if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) {
      for (const hip::RecordedNode& inner : child->graph->nodes()) note_addresses(object, inner);
    }
  }

  template <class Object>
  hip::Status set_nodes(Object& object, const SetNode& c) {
    const NodePlace place = place_of(object.places, c.node);
    for (std::uint32_t k = 0; k < place.fan; ++k) {
      const hip::RecordedNode node = record_of(fan_instance(c.params, k));
      if (hip::Status status = strategy_.set(machine_, object, place.first + k, node); !status) return status;
    }
    return {};
  }
  hip::Status perform(const SetNode& c) {
    if (c.target == Target::kGraph) return live_graph(c.id) == nullptr ? missing() : set_nodes(*live_graph(c.id), c);
    if (live_exec(c.id) == nullptr) return missing();
    ExecObject& exec = *live_exec(c.id);
    const Detectors::Isolation before = isolation(&exec);
    hip::Status status = set_nodes(exec, c);
    check_isolation(before, exec);
    return status;
  }

  // ---- executable graphs

  hip::Status perform(const Instantiate& c) {
    if (live_graph(c.graph) == nullptr) return missing();
    const GraphObject& graph = *live_graph(c.graph);
    hipGraphExec_t instantiated = nullptr;
    hip::Status status =
        checked(machine_.api.hipGraphInstantiate(&instantiated, graph.handles.graph, nullptr, nullptr, 0),
                "hipGraphInstantiate");
    if (!status) return status;
    ExecObject& exec = execs_[c.exec];
    exec.id = c.exec;
    exec.origin = c.graph;
    exec.alive = true;
    exec.exec = instantiated;
    exec.recording = graph.recording;
    exec.handles = graph.handles;
    exec.addresses = graph.addresses;
    exec.places = graph.places;
    return {};
  }
  hip::Status perform(const Launch& c) {
    const ExecObject* exec = live_exec(c.exec);
    if (exec == nullptr || !has_stream(c.stream)) return missing();
    detectors_.launch(*exec, options_.schedule_seed);
    return checked(machine_.api.hipGraphLaunch(exec->exec, stream(c.stream)), "hipGraphLaunch");
  }

  template <class Object>
  std::vector<hip::Move> moves_of(const Object& object) const {
    std::vector<hip::Move> moves;
    for (Id id = 0; id < memory_.size(); ++id) {
      if (object.addresses[id] == memory_.address(id)) continue;
      moves.push_back({id, object.addresses[id], memory_.address(id)});
    }
    return moves;
  }

  template <class Object>
  hip::Status patch_object(Object& object) {
    const std::vector<hip::Move> moves = moves_of(object);
    const hip::AddressTable old_addresses = object.addresses;
    const std::uint64_t fired = interposer_.fired();
    const Detectors::Calls calls = detectors_.calls();
    PatchOutcome outcome = strategy_.patch(machine_, object, moves);
    ++trace_.patches;
    detectors_.refused(step_, object, moves, outcome);
    if (outcome.status) {
      if (interposer_.fired() == fired) {
        trace_.patched_in_place.push_back(step_);
        if (options_.inspect) {
          detectors_.patched(step_, object, old_addresses, memory_.addresses(), machine_.buffer_bytes, calls);
        }
      }
      return {};
    }
    if (outcome.failure == hip::PatchFailure::kBadMove) {
      trace_.harness_error = outcome.status.error().message;
      return outcome.status;
    }
    // Rolled back because of an injected failure: reported, and tried again as if nothing had happened.
    if (interposer_.fired() != fired && outcome.failure != hip::PatchFailure::kUnusable) return outcome.status;
    ++trace_.fallbacks;
    fallback_reported_ = true;
    return rebuild(machine_, object, object.recording);
  }

  hip::Status perform(const Patch& c) {
    if (c.target == Target::kGraph) return live_graph(c.id) == nullptr ? missing() : patch_object(*live_graph(c.id));
    if (live_exec(c.id) == nullptr) return missing();
    ExecObject& exec = *live_exec(c.id);
    const Detectors::Isolation before = isolation(&exec);
    hip::Status status = patch_object(exec);
    check_isolation(before, exec);
    return status;
  }
  hip::Status perform(const Update& c) {
    if (live_exec(c.exec) == nullptr || live_graph(c.graph) == nullptr) return missing();
    ExecObject& exec = *live_exec(c.exec);
    const Detectors::Isolation before = isolation(&exec);
    const UpdateStatus status = strategy_.update(machine_, exec, *live_graph(c.graph));
    check_isolation(before, exec);
    update_result_ = status.result;
    return checked(static_cast<hipError_t>(status.code), "hipGraphExecUpdate");
  }

  Detectors::Isolation isolation(const ExecObject* changing) {
    return options_.isolation ? detectors_.isolation(graphs_, execs_, changing) : Detectors::Isolation{};
  }
  void check_isolation(const Detectors::Isolation& before, const ExecObject& changing) {
    if (options_.isolation) detectors_.check_isolation(step_, before, detectors_.isolation(graphs_, execs_, &changing));
  }

  // ---- memory, streams, events

  hip::Status perform(const MoveBuffers& c) { return memory_.move(c.moves); }
  hip::Status perform(const Write& c) { return memory_.write(c.buffer, c.seed); }
  hip::Status perform(const Free& c) { return memory_.release(c.buffer); }
  hip::Status perform(const Read& c) {
    BytesSeen seen{step_, c.buffer, {}};
    hip::Status status = memory_.read(c.buffer, seen.bytes);
    trace_.reads.push_back(std::move(seen));
    return status;
  }
  hip::Status perform(const Synchronize& c) {
    if (c.target == Target::kStream) {
      if (!has_stream(c.id)) return missing();
      return checked(machine_.api.hipStreamSynchronize(stream(c.id)), "hipStreamSynchronize");
    }
    if (c.target == Target::kEvent) {
      if (!events_.contains(c.id)) return missing();
      return checked(machine_.api.hipEventSynchronize(events_.at(c.id)), "hipEventSynchronize");
    }
    return checked(machine_.api.hipDeviceSynchronize(), "hipDeviceSynchronize");
  }
  hip::Status perform(const RecordEvent& c) {
    if (!events_.contains(c.event) || !has_stream(c.stream)) return missing();
    return checked(machine_.api.hipEventRecord(events_.at(c.event), stream(c.stream)), "hipEventRecord");
  }
  hip::Status perform(const WaitEvent& c) {
    if (!events_.contains(c.event) || !has_stream(c.stream)) return missing();
    return checked(machine_.api.hipStreamWaitEvent(stream(c.stream), events_.at(c.event), 0), "hipStreamWaitEvent");
  }
  hip::Status perform(const Destroy& c) {
    if (hip::Status s = checked(machine_.api.hipDeviceSynchronize(), "hipDeviceSynchronize"); !s) return s;
    switch (c.target) {
      case Target::kGraph:
        return live_graph(c.id) == nullptr ? missing() : destroy(machine_, *live_graph(c.id));
      case Target::kExec:
        return live_exec(c.id) == nullptr ? missing() : destroy(machine_, *live_exec(c.id));
      case Target::kStream:
        return destroy_stream(c.id);
      case Target::kEvent:
        return destroy_event(c.id);
      case Target::kDevice:
        break;
    }
    return hip::Error{hipErrorInvalidValue, "there is nothing to destroy"};
  }
  hip::Status destroy_stream(Id id) {
    if (!streams_.contains(id)) return missing();
    hip::Status status = checked(machine_.api.hipStreamDestroy(streams_.at(id)), "hipStreamDestroy");
    if (status) streams_.erase(id);
    return status;
  }
  hip::Status destroy_event(Id id) {
    if (!events_.contains(id)) return missing();
    hip::Status status = checked(machine_.api.hipEventDestroy(events_.at(id)), "hipEventDestroy");
    if (status) events_.erase(id);
    return status;
  }
  hip::Status perform(const Fail& c) {
    if (!options_.failures) return {};
    const std::optional<Function> function = find_function(c.function);
    if (!function) {
      trace_.unsupported = c.function;
      return {};
    }
    interposer_.fail(*function, c.nth);
    return {};
  }

  // ---- the end

  void finish() {
    step_ = program_.steps.size();
    note_step();
    // A program without buffers reads nothing, and host functions must not outlive this run.
    const hip::Status waited = checked(interposer_.inner().hipDeviceSynchronize(), "hipDeviceSynchronize");
    for (Id id = 0; id < memory_.size(); ++id) {
      if (!memory_.alive(id)) continue;
      BytesSeen seen{step_, id, {}};
      if (memory_.read(id, seen.bytes)) trace_.reads.push_back(std::move(seen));
    }
    for (const auto& [id, graph] : graphs_) {
      if (graph.alive) observe_topology(graph);
    }
    trace_.calls = interposer_.calls();
    trace_.notes = platform_.notes();
    if (!waited && trace_.notes.fault.empty()) detectors_.teardown_error(step_, waited.error().message);
    tear_down();
  }

  void observe_topology(const GraphObject& graph) {
    TopologySeen seen;
    seen.graph = graph.id;
    std::size_t count = 0, edges = 0;
    const hip::Api& api = interposer_.inner();
    if (api.hipGraphGetNodes(graph.handles.graph, nullptr, &count) != hipSuccess) return;
    std::vector<hipGraphNode_t> nodes(count);
    if (count != 0 && api.hipGraphGetNodes(graph.handles.graph, nodes.data(), &count) != hipSuccess) return;
    std::map<hipGraphNode_t, std::uint32_t> index;
    for (std::size_t i = 0; i < graph.handles.nodes.size(); ++i)
      index[graph.handles.nodes[i]] = static_cast<std::uint32_t>(i);
    seen.types.assign(count, -1);
    for (std::size_t i = 0; i < count; ++i) {
      hipGraphNodeType type{};
      const auto found = index.find(nodes[i]);
      const std::size_t at = found == index.end() ? i : found->second;
      if (api.hipGraphNodeGetType(nodes[i], &type) == hipSuccess && at < count) seen.types[at] = type;
    }
    if (api.hipGraphGetEdges(graph.handles.graph, nullptr, nullptr, &edges) != hipSuccess) return;
    std::vector<hipGraphNode_t> from(edges), to(edges);
    if (edges != 0 && api.hipGraphGetEdges(graph.handles.graph, from.data(), to.data(), &edges) != hipSuccess) return;
    for (std::size_t i = 0; i < edges; ++i) seen.edges.emplace_back(index[from[i]], index[to[i]]);
    std::sort(seen.edges.begin(), seen.edges.end());
    detectors_.topology(step_, graph, seen);
    trace_.topology.push_back(std::move(seen));
  }

  void tear_down() {
    const auto keep = [this](const hip::Status& status) {
      if (!status && trace_.notes.fault.empty()) detectors_.teardown_error(step_, status.error().message);
    };
    for (auto& [id, exec] : execs_) {
      if (exec.alive) keep(destroy(machine_, exec));
    }
    for (auto& [id, graph] : graphs_) {
      if (graph.alive) keep(destroy(machine_, graph));
    }
    for (const hipGraph_t graph : machine_.retired)
      keep(checked(machine_.api.hipGraphDestroy(graph), "hipGraphDestroy"));
    for (const auto& [id, event] : events_) keep(checked(machine_.api.hipEventDestroy(event), "hipEventDestroy"));
    for (const auto& [id, stream] : streams_) {
      keep(checked(machine_.api.hipStreamDestroy(stream), "hipStreamDestroy"));
    }
    keep(memory_.release_everything());
    // Work that nothing waited for, and that loses its memory here, is this program's and not the next one's.
    keep(checked(interposer_.inner().hipDeviceSynchronize(), "hipDeviceSynchronize"));
    if (trace_.notes.fault.empty()) trace_.notes = platform_.notes();
    if (!options_.fresh_addresses) detectors_.leaks(step_, platform_.leaks());
  }

  static constexpr int kMaxFailuresACommand = 8;

  Platform& platform_;
  Strategy& strategy_;
  Interposer& interposer_;
  const Program& program_;
  const RunOptions& options_;
  hip::sync::Atomic<std::size_t>* watch_;
  Trace trace_;
  BufferMemory memory_;
  Machine machine_;
  Detectors detectors_;
  std::map<Id, GraphObject> graphs_;
  std::map<Id, ExecObject> execs_;
  std::map<Id, hipStream_t> streams_;
  std::map<Id, hipEvent_t> events_;
  std::vector<hipFunction_t> functions_;
  std::deque<HostCall> host_calls_;
  std::size_t step_ = 0;
  bool fallback_reported_ = false;
  int update_result_ = -1;
};

}  // namespace

Executor::Executor(Platform& platform, StrategyKind strategy, PatcherFactory patchers)
    : platform_(platform), strategy_(make_strategy(strategy)), patchers_(std::move(patchers)) {}

RunResult Executor::run(const Program& program, const RunOptions& options, const AddressScript& script) {
  platform_.enter();
  platform_.begin(options.schedule_seed);
  interposer_.begin(platform_.api(), options.poison);
  RunResult result;
  {
    const Interposer::Scope scope(interposer_);
    result = Run(platform_, *strategy_, patchers_, interposer_, program, options, script, watch_).go();
  }
  platform_.leave();
  return result;
}

}  // namespace verify
