#include "verify/execute/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "hip/driver_nodes.h"
#include "hip/errors.h"
#include "verify/errors/error_calls.h"
#include "verify/execute/capture_ops.h"
#include "verify/execute/code_objects.h"
#include "verify/execute/devices.h"
#include "verify/execute/graph_memory.h"
#include "verify/execute/graph_ops.h"
#include "verify/execute/heap_counter.h"
#include "verify/execute/inspector.h"
#include "verify/execute/quirk_context.h"
#include "verify/execute/records.h"
#include "verify/execute/stream_memory.h"
#include "verify/execute/user_objects.h"
#include "verify/program/state.h"
#include "verify/program/state_devices.h"
#include "verify/program/text.h"
#include "verify/properties/causes.h"
#include "verify/properties/detectors.h"
#include "verify/systems/systems_run.h"

namespace verify {

namespace {

class Run;

// What a host node's user data points at.
struct HostCall {
  Run* run = nullptr;
  HostParams params;
  std::uint64_t runs = 0;
};

// One run of one program. One overload of perform() a command.
class Run {
 public:
  Run(Platform& platform, Strategy& strategy, const PatcherFactory& patchers, const Parts& parts,
      Interposer& interposer, const Program& program, const RunOptions& options, const AddressScript& script,
      hip::sync::Atomic<std::size_t>* watch)
      : platform_(platform),
        strategy_(strategy),
        parts_(parts),
        interposer_(interposer),
        program_(program),
        options_(options),
        watch_(watch),
        memory_(platform, program, {program.placement, options.fresh_addresses}, script),
        machine_{interposer.table(),
                 interposer,
                 patchers,
                 options.poison,
                 memory_.addresses(),
                 {},
                 {},
                 false,
                 {},
                 {},
                 {},
                 {},
                 false,
                 devices_needed(program),
                 {}},
        detectors_(platform, interposer, trace_),
        graph_ops_(machine_, strategy, graphs_, execs_),
        graph_memory_(machine_, memory_),
        stream_memory_(machine_, memory_),
        user_objects_(machine_),
        captures_(capture_context(), program) {
    machine_.buffer_bytes.resize(memory_.size(), 0);
    machine_.memory.resize(memory_.size(), hip::BufferMemory::kUnknown);
    machine_.buffer_devices.resize(memory_.size(), 0);
    trace_.statuses.reserve(program.steps.size());
    if (options.fail_graph_call != 0) interposer.fail_any(options.fail_graph_call);
  }

  RunResult go() {
    if (!platform_.need_devices(machine_.devices)) {
      trace_.unsupported = fmt::format("{} devices", machine_.devices);
      return {std::move(trace_), memory_.script()};
    }
    if (const hip::Status loaded = load_code_objects(); !loaded) {
      code_objects_.unload();
      trace_.harness_error = loaded.error().message;
      return {std::move(trace_), memory_.script()};
    }
    for (step_ = 0; step_ < program_.steps.size(); ++step_) {
      const Step& step = program_.steps[step_];
      note_step();
      StepStatus status;
      const StepCost before = cost_so_far();
      std::uint32_t repetition = 0;
      for (; repetition < step.repeat && status.code == 0; ++repetition) status = run_command(step.command);
      if (step.repeat > 1 && status.code != 0) status.repetition = repetition;
      trace_.statuses.push_back(status);
      note_cost(before);
    }
    finish();
    return {std::move(trace_), memory_.script()};
  }

  void host_function(HostCall& call) {
    const HostParams& params = call.params;
    ++call.runs;
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
  [[nodiscard]] StepCost cost_so_far() const {
    if (!options_.costs) return {};
    const HeapUse heap = heap_use();
    const std::uint64_t instantiations = interposer_.calls_of(Function::k_hipGraphInstantiate) +
                                         interposer_.calls_of(Function::k_hipGraphInstantiateWithFlags) +
                                         interposer_.calls_of(Function::k_hipGraphInstantiateWithParams);
    return {interposer_.calls(), heap.allocations, heap.bytes, platform_.steps(), instantiations};
  }
  void note_cost(const StepCost& before) {
    if (!options_.costs) return;
    const StepCost now = cost_so_far();
    trace_.costs.push_back({now.calls - before.calls, now.allocations - before.allocations, now.bytes - before.bytes,
                            now.steps - before.steps, now.instantiations - before.instantiations});
  }
  StepStatus run_command(const Command& command) {
    const std::uint64_t fired = interposer_.fired();
    StepStatus status = run_through_failures(command);
    captures_.ran(step_, command, status, interposer_.fired() != fired);
    return status;
  }
  StepStatus run_through_failures(const Command& command) {
    const std::uint64_t fired = interposer_.fired();
    StepStatus status = attempt(command);
    if (interposer_.fired() == fired) return status;
    ++trace_.failures_fired;
    detectors_.injected_failure(step_, print_command(command), status.code != 0 || fallback_reported_ || machine_.told);
    // Failures are armed one by one; a second one may hit the second attempt.
    for (int again = 0; again < kMaxFailuresACommand && status.code != 0; ++again) status = attempt(command);
    return status;
  }

  StepStatus attempt(const Command& command) {
    fallback_reported_ = machine_.told = false;
    update_result_ = -1;
    seen_.clear();
    machine_.capturing = captures_.capturing();
    const hip::Status status = std::visit([this](const auto& c) { return perform(c); }, command);
    note_gone_objects();
    return {status ? 0 : status.error().code, update_result_, std::move(seen_)};
  }

  // References go with graphs and executable graphs; what else ran is waited for before those are destroyed.
  void note_gone_objects() {
    if (!user_objects_.any()) return;
    const std::string gone = user_objects_.gone();
    if (!gone.empty()) seen_ += (seen_.empty() ? "" : "; ") + gone;
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
  [[nodiscard]] Id device_of_stream(Id id) const {
    const auto found = stream_devices_.find(id);
    return found == stream_devices_.end() ? 0 : found->second;
  }
  [[nodiscard]] hip::StreamRef stream_ref(Id id) const {
    return {machine_.api, stream(id), static_cast<int>(device_of_stream(id))};
  }
  static hip::Status missing() {
    return hip::Error{hipErrorInvalidHandle, "an earlier command failed to make this object"};
  }

  // ---- declarations

  hip::Status perform(const DeclareBuffer& c) {
    if (lacks_memory(c)) return missing();
    machine_.buffer_bytes[c.buffer] = c.bytes;
    machine_.buffer_devices[c.buffer] = c.device;
    // Releases treat a variable of device code otherwise than memory of the device.
    if (c.symbol) return memory_.declare_symbol(c.buffer, c.bytes, *c.symbol);
    hip::Status declared = memory_.declare(c.buffer, c.bytes, c.memory, c.device);
    if (declared && known_for_what_it_is(c)) machine_.memory[c.buffer] = buffer_memory(c.memory);
    return declared;
  }
  // Host memory is if the process reaches it at its address, as systems that write to it take for granted: the model's
  // addresses are its own, unless it is told otherwise.
  [[nodiscard]] bool known_for_what_it_is(const DeclareBuffer& c) {
    if (c.memory == MemoryKind::kDevice) return true;
    const hip::DeviceAddress address = memory_.addresses()[c.buffer];
    return platform_.host_view(address, c.bytes) == reinterpret_cast<std::byte*>(address);
  }
  hip::Status perform(const DeclareGraph& c) {
    GraphObject& graph = graphs_[c.graph];
    graph.id = c.graph;
    graph.addresses = memory_.addresses();
    hip::Status status = hip::called(machine_.api.hipGraphCreate(&graph.handles.graph, 0), "hipGraphCreate");
    graph.alive = static_cast<bool>(status);
    return status;
  }
  hip::Status perform(const DeclareStream& c) {
    if (c.per_thread) {
      streams_[c.stream] = hipStreamPerThread;
      return {};
    }
    stream_devices_[c.stream] = c.device;
    return on_device(machine_.api, c.device, [&] { return make_stream(c); });
  }
  hip::Status make_stream(const DeclareStream& c) {
    hipStream_t stream = nullptr;
    const unsigned flags = c.non_blocking ? hipStreamNonBlocking : hipStreamDefault;
    if (c.priority != 0 && machine_.api.hipStreamCreateWithPriority == nullptr) {
      trace_.unsupported = "hipStreamCreateWithPriority";
      return {};
    }
    hip::Status status =
        c.priority != 0
            ? hip::called(machine_.api.hipStreamCreateWithPriority(&stream, flags, c.priority),
                          "hipStreamCreateWithPriority")
            : hip::called(machine_.api.hipStreamCreateWithFlags(&stream, flags), "hipStreamCreateWithFlags");
    if (!status) return status;
    streams_[c.stream] = stream;
    seen_ = what_it_says(stream);
    return status;
  }
  // A priority beyond the device's range is taken as the nearest one in it.
  [[nodiscard]] std::string what_it_says(hipStream_t stream) const {
    const hip::Api& api = machine_.api;
    if (api.hipStreamGetFlags == nullptr || api.hipStreamGetPriority == nullptr) return {};
    unsigned flags = 0;
    int priority = 0;
    const bool answered = api.hipStreamGetFlags(stream, &flags) == hipSuccess &&
                          api.hipStreamGetPriority(stream, &priority) == hipSuccess;
    return answered ? fmt::format("flags {}, priority {}", flags, priority) : "neither flags nor priority";
  }
  hip::Status perform(const DeclareEvent& c) {
    hipEvent_t event = nullptr;
    const unsigned release = c.release == EventRelease::kDevice   ? hipEventReleaseToDevice
                             : c.release == EventRelease::kSystem ? hipEventReleaseToSystem
                                                                  : 0U;
    const unsigned flags = (c.timing ? 0U : hipEventDisableTiming) | (c.blocking ? hipEventBlockingSync : 0U) | release;
    hip::Status status = on_device(machine_.api, c.device, [&] {
      return hip::called(machine_.api.hipEventCreateWithFlags(&event, flags), "hipEventCreateWithFlags");
    });
    if (status) events_[c.event] = event;
    return status;
  }

  // ---- nodes

  hip::RecordedNode record_of(const NodeParams& params) {
    RecordContext context{memory_.addresses(), memory_.frozen_addresses(), {}, {}, {}, {}, {}, {}};
    context.function = [this](const KernelSpec& spec, Id device) { return function(spec, device); };
    context.device = [this](Id buffer) { return memory_.device(buffer); };
    context.host = [this](const HostParams& host) {
      host_calls_.push_back({this, host, 0});
      return hipHostNodeParams{[](void* data) {
                                 auto* call = static_cast<HostCall*>(data);
                                 call->run->host_function(*call);
                               },
                               &host_calls_.back()};
    };
    context.child = [this](const ChildParams& child) { return nested(child); };
    context.symbol = [this](Id buffer) { return memory_.symbol(buffer); };
    context.event = [this](Id event) { return events_.contains(event) ? events_.at(event) : nullptr; };
    return make_record(params, context);
  }
  hipFunction_t function(const KernelSpec& spec, Id device) {
    if (spec.object != nullptr) return code_objects_.function(spec, device);
    const auto index = static_cast<std::size_t>(&spec - kernel_catalogue().data());
    hipFunction_t& function = functions_[{index, device}];
    if (function == nullptr) {
      function = platform_.function(index, device);
      interposer_.know_kernel(function, &spec);
    }
    return function;
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

  hip::Status perform(const AddNode& c) {
    if (live_graph(c.graph) == nullptr) return missing();
    if (lacks_function(c.params)) return missing();
    GraphObject& graph = *live_graph(c.graph);
    const std::vector<std::uint64_t> before = node_prints(graph.handles.graph);
    graph_memory_.show_as_in(graph.addresses);
    hip::Status status = add_nodes(graph, c);
    check_node_prints(fmt::format("g{}", c.graph), before, node_prints(graph.handles.graph), {c.node, 0, 0});
    return status;
  }
  hip::Status add_nodes(GraphObject& graph, const AddNode& c) {
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
      node.form = hip_form(c.form);
      node = strategy_.as_added(machine_, graph.recording, std::move(node));
      if (const char* function = missing_adder(node)) return lacking(machine_, function);
      hip::NodeExtras extras;
      const hip::Result<hipGraphNode_t> handle =
          hip::record_node(machine_.api, graph.handles.graph, node, handles, memory_.addresses(), extras);
      if (!handle) return handle.error();
      if (const auto* memory = std::get_if<MemoryAllocParams>(&c.params)) {
        graph_memory_.added(memory->buffer, memory->bytes, extras.allocated);
        graph.addresses[memory->buffer] = extras.allocated;
      }
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
      hip::RecordedNode node = record_of(fan_instance(c.params, k));
      node.form = hip_form(c.form);
      node = strategy_.as_added(machine_, object.recording, std::move(node));
      keep_attributes(object.recording.nodes()[place.first + k].record, node.record);
      if (hip::Status status = strategy_.set(machine_, object, place.first + k, node); !status) return status;
    }
    return {};
  }
  // A setter leaves a kernel's attributes as they are (hip-tests, hipGraphKernelNodeSetAttribute.cc).
  static void keep_attributes(const hip::NodeRecord& from, hip::NodeRecord& to) {
    const auto* before = std::get_if<hip::KernelRecord>(&from);
    auto* now = std::get_if<hip::KernelRecord>(&to);
    if (before != nullptr && now != nullptr) now->attributes = before->attributes;
  }
  bool lacks_memory(const DeclareBuffer& c) {
    const char* lacking = nullptr;
    const hip::Api& api = machine_.api;
    if (c.memory == MemoryKind::kManaged && api.hipMallocManaged == nullptr) lacking = "hipMallocManaged";
    if (c.memory == MemoryKind::kRegistered && api.hipHostRegister == nullptr) lacking = "hipHostRegister";
    if (c.symbol && (api.hipGetSymbolAddress == nullptr || api.hipGetSymbolSize == nullptr))
      lacking = "hipGetSymbolAddress";
    if (c.symbol && platform_.symbol(*c.symbol) == nullptr) lacking = "variables of device code";
    if (lacking != nullptr) trace_.unsupported = lacking;
    return lacking != nullptr;
  }
  static hip::NodeForm hip_form(NodeForm form) {
    if (form == NodeForm::kDriver) return hip::NodeForm::kDriver;
    return form == NodeForm::kGeneric ? hip::NodeForm::kGeneric : hip::NodeForm::kTyped;
  }
  [[nodiscard]] const char* missing_adder(const hip::RecordedNode& node) const {
    if (node.form == hip::NodeForm::kDriver) return hip::missing_driver_adder(machine_.api, node.record);
    const bool lacks = node.form == hip::NodeForm::kGeneric && machine_.api.hipGraphAddNode == nullptr;
    return lacks ? "hipGraphAddNode" : nullptr;
  }
  bool lacks_function(const NodeParams& params) {
    const char* function = missing_function(machine_.api, params);
    if (function != nullptr) trace_.unsupported = function;
    return function != nullptr;
  }
  hip::Status perform(const SetNode& c) {
    if (c.target == Target::kGraph) {
      if (live_graph(c.id) == nullptr) return missing();
      GraphObject& graph = *live_graph(c.id);
      graph_memory_.show_as_in(graph.addresses);
      graph.edited = true;
      return one_node(graph, graph.handles.graph, fmt::format("g{}", c.id), place_of(graph.places, c.node),
                      [&] { return alone(nullptr, &graph, [&] { return set_nodes(graph, c); }); });
    }
    if (live_exec(c.id) == nullptr) return missing();
    ExecObject& exec = *live_exec(c.id);
    graph_memory_.show_as_in(exec.addresses);
    return one_node(exec, exec.exec, fmt::format("e{}", c.id), place_of(exec.places, c.node),
                    [&] { return alone(&exec, nullptr, [&] { return set_nodes(exec, c); }); });
  }
  // P2 inside of one object: a setter changes its node and no other. A strategy that records the object again instead
  // of calling a setter brings every node to where the buffers are.
  template <class Object, class Handle, class Operation>
  hip::Status one_node(const Object& object, Handle handle, const std::string& name, const NodePlace& place,
                       const Operation& operation) {
    const std::vector<std::uint64_t> before = node_prints(handle);
    const Detectors::Calls calls = detectors_.calls();
    hip::Status status = operation();
    const Detectors::Calls after = detectors_.calls();
    if (after.exec_setters == calls.exec_setters && after.graph_setters == calls.graph_setters) return status;
    check_node_prints(name, before, node_prints(handle), place);
    if (status && options_.isolation) {
      detectors_.check_set(step_, name, object, handle, place, machine_.buffer_bytes);
    }
    return status;
  }

  // ---- executable graphs

  hip::Status perform(const Instantiate& c) {
    if (live_graph(c.graph) == nullptr) return missing();
    const GraphObject& graph = *live_graph(c.graph);
    ExecObject& exec = execs_[c.exec];
    exec.id = c.exec;
    exec.origin = c.graph;
    exec.form = c.form;
    exec.flags = c.flags;
    exec.places = graph.places;
    return on_device(machine_.api, hip::home_of(graph.recording),
                     [&] { return strategy_.instantiate(machine_, graph, exec, &seen_); });
  }
  hip::Status perform(const Launch& c) {
    const ExecObject* exec = live_exec(c.exec);
    if (exec == nullptr || !has_stream(c.stream)) return missing();
    detectors_.launch(*exec, options_.schedule_seed);
    hip::Status status = on_device(machine_.api, device_of_stream(c.stream),
                                   [&] { return strategy_.launch(machine_, *exec, stream_ref(c.stream)); });
    if (status) captures_.launched(c.stream, *exec);
    if (status) graph_memory_.launched(*exec);
    return status;
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
    graph_memory_.show_as_in(object.addresses);
    const std::vector<hip::Move> moves = moves_of(object);
    const hip::AddressTable old_addresses = object.addresses;
    const std::uint64_t fired = interposer_.fired();
    const Detectors::Calls calls = detectors_.calls();
    PatchOutcome outcome = strategy_.patch(machine_, object, moves);
    graph_memory_.show_as_in(object.addresses);  // recorded again, it has memory elsewhere
    ++trace_.patches;
    detectors_.refused(step_, object, moves, outcome);
    if (outcome.status) {
      if (interposer_.fired() == fired) {
        if (outcome.in_place) trace_.patched_in_place.push_back(step_);
        if (options_.inspect && outcome.in_place) {
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
    if constexpr (std::is_same_v<Object, ExecObject>) {
      return strategy_.record_again(machine_, object);
    } else {
      return rebuild(machine_, object, object.recording);
    }
  }

  hip::Status perform(const Patch& c) {
    if (c.target == Target::kGraph) {
      if (live_graph(c.id) == nullptr) return missing();
      live_graph(c.id)->edited = true;
      return alone(nullptr, live_graph(c.id), [&] { return patch_object(*live_graph(c.id)); });
    }
    if (live_exec(c.id) == nullptr) return missing();
    return alone(live_exec(c.id), nullptr, [&] { return patch_object(*live_exec(c.id)); });
  }
  hip::Status perform(const Update& c) {
    if (live_exec(c.exec) == nullptr || live_graph(c.graph) == nullptr) return missing();
    ExecObject& exec = *live_exec(c.exec);
    const GraphObject& graph = *live_graph(c.graph);
    const DocumentedUpdate documented = documented_update(exec.recording, graph.recording);
    UpdateStatus status;
    static_cast<void>(alone(&exec, nullptr, [&] {
      status = strategy_.update(machine_, exec, graph);
      return hip::Status();
    }));
    if (documented.code != 0 && !documented.any_node) seen_ = error_node_word(graph, status.error_node);
    update_result_ = status.result;
    return hip::called(static_cast<hipError_t>(status.code), "hipGraphExecUpdate");
  }

  template <class Handle>
  std::vector<std::uint64_t> node_prints(Handle handle) {
    return options_.isolation ? detectors_.node_prints(handle) : std::vector<std::uint64_t>();
  }
  void check_node_prints(const std::string& object, const std::vector<std::uint64_t>& before,
                         const std::vector<std::uint64_t>& after, const NodePlace& changed) {
    if (options_.isolation) detectors_.check_node_prints(step_, object, before, after, changed);
  }

  static std::string error_node_word(const GraphObject& graph, hipGraphNode_t node) {
    if (node == nullptr) return "no error node";
    const auto found = std::find(graph.handles.nodes.begin(), graph.handles.nodes.end(), node);
    if (found == graph.handles.nodes.end()) return "an error node that is not the graph's";
    const auto index = static_cast<hip::NodeIndex>(found - graph.handles.nodes.begin());
    for (const NodePlace& place : graph.places) {
      if (index >= place.first && index < place.first + place.fan) return fmt::format("error node n{}", place.id);
    }
    return "an error node without a name";
  }

  // P2: runs what may change one executable graph or one graph, and looks at all the others before and after.
  template <class Operation>
  hip::Status alone(const ExecObject* exec, const GraphObject* graph, const Operation& operation) {
    if (!options_.isolation) return operation();
    const Detectors::Isolation before = detectors_.isolation(graphs_, execs_, exec, graph);
    hip::Status status = operation();
    detectors_.check_isolation(step_, before, detectors_.isolation(graphs_, execs_, exec, graph));
    return status;
  }

  // ---- graphs and executable graphs as wholes

  hip::Status perform(const CloneGraph& c) {
    return alone(nullptr, nullptr, [&] { return graph_ops_.perform(c); });
  }
  hip::Status perform(const FindInClone& c) { return graph_ops_.perform(c, &seen_); }
  hip::Status perform(const ChangeEdges& c) {
    return alone(nullptr, live_graph(c.graph), [&] { return graph_ops_.perform(c); });
  }
  hip::Status perform(const SetAttributes& c) {
    return alone(nullptr, live_graph(c.graph), [&] { return graph_ops_.perform(c, &seen_); });
  }
  hip::Status perform(const CopyAttributes& c) {
    return alone(nullptr, live_graph(c.graph), [&] { return graph_ops_.perform(c, &seen_); });
  }
  hip::Status perform(const RemoveNode& c) {
    return alone(nullptr, live_graph(c.graph), [&] { return graph_ops_.perform(c); });
  }
  hip::Status perform(const EnableNode& c) {
    return alone(live_exec(c.exec), nullptr, [&] { return graph_ops_.perform(c, &seen_); });
  }
  hip::Status perform(const Upload& c) {
    const ExecObject* exec = live_exec(c.exec);
    if (exec == nullptr || !has_stream(c.stream)) return missing();
    if (machine_.api.hipGraphUpload == nullptr) return lacking(machine_, "hipGraphUpload");
    return hip::called(machine_.api.hipGraphUpload(exec->exec, stream(c.stream)), "hipGraphUpload");
  }
  hip::Status perform(const DeclareUserObject& c) { return user_objects_.perform(c); }
  hip::Status perform(const RetainUserObject& c) { return user_objects_.perform(c, live_graph(c.graph)); }
  hip::Status perform(const ReleaseUserObject& c) {
    return user_objects_.perform(c, c.graph ? live_graph(*c.graph) : nullptr);
  }
  hip::Status perform(const PrintDot& c) {
    if (live_graph(c.graph) == nullptr) return missing();
    hip::Result<std::string> counted = count_dot(machine_, handle_of(c.graph));
    if (!counted) return counted.error();
    seen_ = std::move(counted).value();
    return {};
  }
  hipGraph_t handle_of(Id id) {
    const GraphObject* graph = live_graph(id);
    return graph == nullptr ? nullptr : graph->handles.graph;
  }
  hip::Status perform(const Inspect& c) {
    Inspector inspector(machine_);
    const bool graph = c.target == Target::kGraph;
    if (graph ? live_graph(c.id) == nullptr : live_exec(c.id) == nullptr) return missing();
    hip::Result<std::string> said = graph ? inspector.look_at(*live_graph(c.id)) : inspector.look_at(*live_exec(c.id));
    if (!said) return said.error();
    seen_ = std::move(said).value();
    return {};
  }

  // ---- memory, streams, events

  hip::Status perform(const MoveBuffers& c) { return memory_.move(c.moves); }
  hip::Status perform(const Write& c) { return memory_.write(c.buffer, c.seed, c.offset, c.data); }
  hip::Status perform(const Free& c) {
    if (stream_memory_.has(c.buffer)) return stream_memory_.free(c.buffer);
    return graph_memory_.has(c.buffer) ? graph_memory_.free(c.buffer) : memory_.release(c.buffer);
  }
  hip::Status perform(const FreeAsync& c) {
    if (!has_stream(c.stream)) return missing();
    if (stream_memory_.has(c.buffer)) {
      ++trace_.exercised[static_cast<std::size_t>(PropertyId::kS1)];
      return stream_memory_.free_async(c.buffer, stream(c.stream));
    }
    if (!graph_memory_.has(c.buffer)) return missing();
    if (!captures_.capturing()) return graph_memory_.free_async(c.buffer, stream(c.stream));
    hip::Status status = graph_memory_.free_captured(c.buffer, stream(c.stream));
    if (status) captures_.captured(c.stream, {hip::MemoryFreeRecord{c.buffer}, {}, {}});
    return status;
  }
  hip::Status perform(const MallocAsync& c) {
    if (!has_stream(c.stream)) return missing();
    if (!captures_.capturing()) return stream_memory_.allocate(c, stream(c.stream));
    const hip::Result<hip::DeviceAddress> address = stream_memory_.call(c, stream(c.stream));
    if (!address) return address.error();
    graph_memory_.captured(c.buffer, c.bytes, address.value());
    captures_.captured(c.stream, {hip::MemoryAllocRecord{c.buffer, c.bytes, 0}, {}, {}});
    return {};
  }
  hip::Status perform(const DeclarePool& c) { return stream_memory_.perform(c); }
  hip::Status perform(const AskPool& c) { return stream_memory_.perform(c, seen_); }
  hip::Status perform(const TrimPool& c) { return stream_memory_.perform(c); }
  hip::Status perform(const AccessPool& c) { return stream_memory_.perform(c, seen_); }
  hip::Status perform(const UsePool& c) { return stream_memory_.perform(c, seen_); }
  hip::Status perform(const DestroyPool& c) { return stream_memory_.perform(c); }
  hip::Status perform(const Read& c) {
    BytesSeen seen{step_, c.buffer, {}};
    graph_memory_.show_live();
    hip::Status status = memory_.read(c.buffer, seen.bytes);
    if (status) see(seen);
    trace_.reads.push_back(std::move(seen));
    return status;
  }
  // P12: pinned memory is the host's and the device's.
  void see(const BytesSeen& seen) {
    if (!options_.inspect || memory_.memory(seen.buffer) != MemoryKind::kPinned) return;
    std::vector<std::byte> copied;
    if (!memory_.read_by_runtime(seen.buffer, copied)) return;  // a runtime that is down shows it elsewhere
    if (detect_p12({seen.step, seen.buffer, seen.bytes, copied}, trace_.violations)) detectors_.count(PropertyId::kP12);
  }
  hip::Status perform(const Synchronize& c) {
    return captures_.on_thread(c.thread, [&] { return synchronize(c); });
  }
  hip::Status synchronize(const Synchronize& c) {
    if (c.target == Target::kStream) {
      if (!has_stream(c.id)) return missing();
      return hip::called(machine_.api.hipStreamSynchronize(stream(c.id)), "hipStreamSynchronize");
    }
    if (c.target == Target::kEvent) {
      if (!events_.contains(c.id)) return missing();
      return hip::called(machine_.api.hipEventSynchronize(events_.at(c.id)), "hipEventSynchronize");
    }
    return synchronize_devices(machine_.api, machine_.devices);
  }
  hip::Status perform(const RecordEvent& c) {
    if (!events_.contains(c.event) || !has_stream(c.stream)) return missing();
    return hip::called(machine_.api.hipEventRecord(events_.at(c.event), stream(c.stream)), "hipEventRecord");
  }
  hip::Status perform(const WaitEvent& c) {
    if (!events_.contains(c.event) || !has_stream(c.stream)) return missing();
    return hip::called(machine_.api.hipStreamWaitEvent(stream(c.stream), events_.at(c.event), 0), "hipStreamWaitEvent");
  }
  hip::Status perform(const Destroy& c) {
    // Waiting would be refused in the middle of a capture.
    if (!captures_.capturing()) {
      if (hip::Status s = synchronize_devices(machine_.api, machine_.devices); !s) return s;
    }
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
    hip::Status status = hip::called(machine_.api.hipStreamDestroy(streams_.at(id)), "hipStreamDestroy");
    if (status) streams_.erase(id);
    return status;
  }
  hip::Status destroy_event(Id id) {
    if (!events_.contains(id)) return missing();
    hip::Status status = hip::called(machine_.api.hipEventDestroy(events_.at(id)), "hipEventDestroy");
    if (status) events_.erase(id);
    return status;
  }
  hip::Status perform(const PeerAccess& c) {
    const hip::Api& api = machine_.api;
    if (api.hipDeviceCanAccessPeer == nullptr || api.hipDeviceEnablePeerAccess == nullptr ||
        api.hipDeviceDisablePeerAccess == nullptr)
      return lacking(machine_, "hipDeviceEnablePeerAccess");
    const int device = static_cast<int>(c.device), peer = static_cast<int>(c.peer);
    if (c.verb == PeerVerb::kCan) {
      int can = -1;
      hip::Status status = hip::called(api.hipDeviceCanAccessPeer(&can, device, peer), "hipDeviceCanAccessPeer");
      if (status) seen_ = fmt::format("{}", can);
      return status;
    }
    return on_device(api, c.device, [&] {
      const bool enable = c.verb == PeerVerb::kEnable;
      hip::Status status = enable ? hip::called(api.hipDeviceEnablePeerAccess(peer, 0), "hipDeviceEnablePeerAccess")
                                  : hip::called(api.hipDeviceDisablePeerAccess(peer), "hipDeviceDisablePeerAccess");
      if (status && enable) peers_.insert({c.device, c.peer});
      if (status && !enable) peers_.erase({c.device, c.peer});
      return status;
    });
  }
  // Not through the interposer: what it counts, fails and poisons are the program's own calls.
  hip::Status perform(const BadCall& c) {
    const ErrorCase* error_case = find_error_case(c.function, c.error_case);
    assert(error_case != nullptr);
    const ErrorAnswer answer = answer_error_case(
        platform_.api(),
        platform_.function(static_cast<std::size_t>(find_kernel("count_only") - kernel_catalogue().data()), 0),
        platform_.symbol(Platform::kVariableOfBadCalls), *error_case);
    if (answer.kind == ErrorAnswer::Kind::kUnsupported) trace_.unsupported = c.function;
    if (answer.kind == ErrorAnswer::Kind::kUnprepared) return hip::called(answer.status, "what a bad call needs");
    seen_ = describe(answer);
    if (answer.kind == ErrorAnswer::Kind::kAnswered) {
      ++trace_.exercised[static_cast<std::size_t>(PropertyId::kP11)];
      detect_p11(step_, *error_case, answer.status, trace_.violations);
    }
    return {};
  }
  hip::Status perform(const SystemAction& c) {
    if (!systems_) systems_.emplace(platform_, parts_, options_.schedule_seed);
    if (c.verb != SystemVerb::kInject || options_.failures) systems_->perform(c, step_, trace_);
    return {};
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

  // ---- eager work and capture

  hip::Status perform(const EndCapture& c) {
    graph_memory_.show_live();
    return captures_.perform(c, seen_);
  }
  hip::Status perform(const CaptureInfo& c) { return captures_.perform(c, seen_); }
  hip::Status perform(const ExchangeCaptureMode& c) { return captures_.perform(c, seen_); }
  template <class Other>
  hip::Status perform(const Other& c) {
    graph_memory_.show_live();
    return captures_.perform(c);
  }
  CaptureOps::Context capture_context() {
    return {platform_,
            interposer_,
            machine_,
            trace_,
            graphs_,
            execs_,
            streams_,
            events_,
            [this](Id stream) { return device_of_stream(stream); },
            [this](Id buffer) { return memory_.device(buffer); },
            [this](const NodeParams& params) { return record_of(params); },
            [this](hip::RecordedNode node) { return strategy_.as_added(machine_, {}, std::move(node)); },
            [this](GraphObject& graph, const hip::RecordedNode& node) { note_addresses(graph, node); },
            [](const hip::HostRecord& host) { return static_cast<const HostCall*>(host.params.userData)->runs; }};
  }

  // ---- the end

  void finish() {
    step_ = program_.steps.size();
    note_step();
    captures_.abandon();
    // A program without buffers reads nothing, and host functions must not outlive this run.
    const hip::Status waited = synchronize_devices(interposer_.inner(), machine_.devices);
    if (options_.held) trace_.held = held_by_the_program();
    for (Id id = 0; id < memory_.size(); ++id) {
      if (!memory_.alive(id)) continue;
      BytesSeen seen{step_, id, {}};
      if (!memory_.read(id, seen.bytes)) continue;
      see(seen);
      trace_.reads.push_back(std::move(seen));
    }
    for (const auto& [id, graph] : graphs_) {
      if (graph.alive && !graph.spoiled) observe_topology(graph);
    }
    if (trace_.unsupported.empty()) trace_.unsupported = machine_.unsupported;
    trace_.calls = interposer_.calls();
    if (systems_) systems_->finish(step_, trace_);
    trace_.notes = platform_.notes();
    if (!waited && trace_.notes.fault.empty()) detectors_.teardown_error(step_, waited.error().message);
    tear_down();
  }

  // Definitions that a strategy recorded again are kept for the executable graphs that name their nodes by them.
  [[nodiscard]] std::vector<Held> held_by_the_program() const {
    std::vector<Held> held = platform_.held();
    for (Held& h : held) h.count -= h.what == "graphs" ? machine_.retired.size() : 0;
    return held;
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

  hip::Status load_code_objects() {
    hip::Status status = code_objects_.load(platform_.api(), program_);
    if (status) {
      code_objects_.for_each([this](const KernelSpec& kernel, hipFunction_t function) {
        interposer_.know_kernel(function, &kernel);
        platform_.know_kernel(function, kernel);
      });
    }
    return status;
  }

  void tear_down() {
    const auto keep = [this](const hip::Status& status) {
      if (!status && trace_.notes.fault.empty()) detectors_.teardown_error(step_, status.error().message);
    };
    keep(graph_memory_.free_everything());
    keep(stream_memory_.give_back());
    machine_.capturing = false;
    machine_.leftovers.clear();
    machine_.home_streams.clear();
    for (auto& [id, exec] : execs_) {
      if (exec.alive) keep(destroy(machine_, exec));
    }
    for (auto& [id, graph] : graphs_) {
      if (graph.alive) keep(destroy(machine_, graph));
    }
    for (const hipGraph_t graph : machine_.retired)
      keep(hip::called(machine_.api.hipGraphDestroy(graph), "hipGraphDestroy"));
    for (const auto& [id, event] : events_) keep(hip::called(machine_.api.hipEventDestroy(event), "hipEventDestroy"));
    for (const auto& [id, stream] : streams_) {
      if (stream == hipStreamPerThread) continue;
      keep(hip::called(machine_.api.hipStreamDestroy(stream), "hipStreamDestroy"));
    }
    keep(memory_.release_everything());
    // Work that nothing waited for, and that loses its memory here, is this program's and not the next one's.
    keep(synchronize_devices(interposer_.inner(), machine_.devices));
    for (const auto& [device, peer] : peers_) {
      keep(on_device(interposer_.inner(), device, [&] {
        return hip::called(interposer_.inner().hipDeviceDisablePeerAccess(static_cast<int>(peer)),
                           "hipDeviceDisablePeerAccess");
      }));
    }
    code_objects_.unload();
    const std::string objects = user_objects_.finish();
    if (!objects.empty() && trace_.notes.fault.empty()) detectors_.teardown_error(step_, objects);
    if (trace_.notes.fault.empty()) trace_.notes = platform_.notes();
    if (!options_.fresh_addresses) detectors_.leaks(step_, platform_.leaks());
  }

  static constexpr int kMaxFailuresACommand = 8;

  Platform& platform_;
  Strategy& strategy_;
  const Parts& parts_;
  Interposer& interposer_;
  const Program& program_;
  const RunOptions& options_;
  hip::sync::Atomic<std::size_t>* watch_;
  Trace trace_;
  BufferMemory memory_;
  Machine machine_;
  Detectors detectors_;
  std::optional<SystemsRun> systems_;  // made by the first action
  std::map<Id, GraphObject> graphs_;
  std::map<Id, ExecObject> execs_;
  GraphOps graph_ops_;
  GraphMemory graph_memory_;
  StreamMemory stream_memory_;
  UserObjects user_objects_;
  std::map<Id, hipStream_t> streams_;
  std::map<Id, Id> stream_devices_;
  std::set<std::pair<Id, Id>> peers_;  // to be disabled again
  std::map<Id, hipEvent_t> events_;
  CaptureOps captures_;
  std::map<std::pair<std::size_t, Id>, hipFunction_t> functions_;
  LoadedCodeObjects code_objects_;
  std::deque<HostCall> host_calls_;
  std::size_t step_ = 0;
  bool fallback_reported_ = false;
  int update_result_ = -1;
  std::string seen_;  // StepStatus::seen of the command that is running
};

}  // namespace

Executor::Executor(Platform& platform, StrategyKind strategy, PatcherFactory patchers)
    : platform_(platform), strategy_(make_strategy(strategy)), patchers_(std::move(patchers)) {}

RunResult Executor::run(const Program& program, const RunOptions& options, const AddressScript& script) {
  platform_.enter();
  static_cast<void>(platform_.need_devices(devices_needed(program)));  // asked again by the run
  platform_.begin(options.schedule_seed);
  interposer_.begin(platform_.api(), options.poison, options.keep_passed);
  RunResult result;
  {
    const Interposer::Scope scope(interposer_);
    result = Run(platform_, *strategy_, patchers_, parts_, interposer_, program, options, script, watch_).go();
  }
  platform_.leave();
  return result;
}

}  // namespace verify
