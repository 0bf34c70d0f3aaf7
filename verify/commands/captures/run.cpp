// How commands about stream capture run. Calls for `thread=N` are made by a helper thread that takes turns with the
// program's own thread.
#include <fmt/format.h>

#include <algorithm>

#include "hip/errors.h"
#include "verify/execute/enqueue.h"
#include "verify/run/run_command.h"

namespace verify {

namespace {

constexpr std::size_t kUnsafeBytes = 64;

hipStreamCaptureMode hip_mode(CaptureMode mode) {
  static constexpr hipStreamCaptureMode kModes[] = {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal,
                                                    hipStreamCaptureModeRelaxed};
  return kModes[static_cast<std::size_t>(mode)];
}

std::string name_of(hipStreamCaptureMode mode) {
  return mode == hipStreamCaptureModeGlobal ? "global" : mode == hipStreamCaptureModeThreadLocal ? "thread" : "relaxed";
}

std::string name_of(hipStreamCaptureStatus status) {
  return status == hipStreamCaptureStatusNone          ? "none"
         : status == hipStreamCaptureStatusInvalidated ? "invalidated"
                                                       : "active";
}

// The function that the call needs and the runtime lacks; or null.
const char* lacking_beside(const hip::Api& api, BesideCall call) {
  if (call == BesideCall::kHostRegister && api.hipHostRegister == nullptr) return "hipHostRegister";
  if (call == BesideCall::kHostRegister && api.hipHostUnregister == nullptr) return "hipHostUnregister";
  if (call == BesideCall::kMemoryInfo && api.hipMemGetInfo == nullptr) return "hipMemGetInfo";
  if (call != BesideCall::kDeviceLimit) return nullptr;
  if (api.hipDeviceGetLimit == nullptr) return "hipDeviceGetLimit";
  return api.hipDeviceSetLimit == nullptr ? "hipDeviceSetLimit" : nullptr;
}

hip::Status register_memory(Run& run) {
  const hip::Api& api = run.context.api;
  const hip::DeviceAddress address = run.platform.allocate_pageable(kUnsafeBytes);
  void* memory = reinterpret_cast<void*>(address);
  hip::Status status = hip::call<&hip::Api::hipHostRegister>(api, memory, kUnsafeBytes, hipHostRegisterDefault);
  if (status) status = hip::call<&hip::Api::hipHostUnregister>(api, memory);
  run.platform.free_pageable(address);
  return status;
}

hip::Status make_call(Run& run, BesideCall call) {
  const hip::Api& api = run.context.api;
  void* memory = nullptr;
  std::size_t unused = 0, total = 0, limit = 0;
  switch (call) {
    case BesideCall::kMalloc:
      if (hip::Status s = hip::call<&hip::Api::hipMalloc>(api, &memory, kUnsafeBytes); !s) return s;
      return hip::call<&hip::Api::hipFree>(api, memory);
    case BesideCall::kHostMalloc:
      if (hip::Status s = hip::call<&hip::Api::hipHostMalloc>(api, &memory, kUnsafeBytes, 0); !s) return s;
      return hip::call<&hip::Api::hipHostFree>(api, memory);
    case BesideCall::kHostRegister:
      return register_memory(run);
    case BesideCall::kMemoryInfo:
      return hip::call<&hip::Api::hipMemGetInfo>(api, &unused, &total);
    case BesideCall::kDeviceLimit:
      break;
  }
  // The limit stays as it is: it outlives the program.
  const hip::Status asked = hip::call<&hip::Api::hipDeviceGetLimit>(api, &limit, hipLimitStackSize);
  return asked ? hip::call<&hip::Api::hipDeviceSetLimit>(api, hipLimitStackSize, limit) : asked;
}

hip::Status begin_into(Run& run, const BeginCapture& c) {
  const GraphObject* graph = run.live_graph(*c.into);
  if (graph == nullptr) return missing_object();
  std::vector<hipGraphNode_t> after;
  for (const Id name : c.after) append_handles(*graph, name, after);
  const std::size_t before = run.captures.state().graph(*c.into)->nodes.size();
  std::optional<hipError_t> code;
  hip::Status status = run.on_thread(c.thread, [&]() -> hip::Status {
    code = call_if_there(run.context.api.hipStreamBeginCaptureToGraph, run.stream(c.stream), graph->handles.graph,
                         after.empty() ? nullptr : after.data(), nullptr, after.size(), hip_mode(c.mode));
    return code ? hip::called(*code, "hipStreamBeginCaptureToGraph") : hip::Status{};
  });
  if (!code) return run.unsupported("hipStreamBeginCaptureToGraph");
  if (status) run.captures.begun().before = before;
  return status;
}

// A capture that failed leaves its target graph in a state that nothing documents.
hip::Status spoil(Run& run, const EndCapture& c, const hip::Status& status) {
  const CaptureState* capture = run.captures.of(c.stream);
  if (capture == nullptr || !capture->into || capture->origin != c.stream) return status;
  const int answer = run.captures.state().answer(c).status;
  if (answer == kAnswerInvalidated || answer == kAnswerUnjoined) run.graphs[*capture->into].spoiled = true;
  return status;
}

// Dependencies in State name nodes; dependencies in the recording name instances, of which a fan has several.
void append(Run& run, GraphObject& object, const CaptureState& capture, OpenCapture& open) {
  const std::vector<NodeState>& nodes = capture.graph.nodes;
  for (std::size_t i = 0; i < open.nodes.size(); ++i) {
    const NodeState& state = nodes[open.before + i];
    hip::RecordedNode node = std::move(open.nodes[i].node);
    for (const std::uint32_t index : state.after) {
      const NodePlace place = place_of(object.places, nodes[index].id);
      for (std::uint32_t k = 0; k < place.fan; ++k) node.dependencies.push_back(place.first + k);
    }
    note_addresses(object, node, run.memory.addresses());
    object.places.push_back({state.id, static_cast<hip::NodeIndex>(object.recording.nodes().size()), 1});
    object.recording.add(std::move(node));
    object.handles.nodes.push_back(open.nodes[i].handle);
  }
  object.patcher.reset();
}

hip::Status ended(Run& run, const EndCapture& c, hipGraph_t graph) {
  const CaptureState* capture = run.captures.of(c.stream);
  if (capture == nullptr || run.captures.state().answer(c).status != 0) {
    const auto known = run.graphs.find(c.graph);
    const bool into = known != run.graphs.end() && known->second.handles.graph == graph;
    if (!into && graph != nullptr) run.captures.keep_stray(graph);
    return {};
  }
  OpenCapture& open = run.captures.open(*capture);
  // A node that the runtime refused is missing in its graph, and the other nodes can no longer be told apart.
  if (open.before + open.nodes.size() != capture->graph.nodes.size()) {
    if (capture->into) {
      run.graphs[c.graph].spoiled = true;
    } else if (graph != nullptr) {
      run.captures.keep_stray(graph);
    }
    return {};
  }
  GraphObject& object = run.graphs[c.graph];
  if (capture->into) {
    if (graph != object.handles.graph) run.attempt.seen = "another graph";
  } else {
    object.id = c.graph;
    object.addresses = run.memory.addresses();
    object.handles.graph = graph;
    object.alive = graph != nullptr;
    if (graph == nullptr) run.attempt.seen = "no graph";
  }
  append(run, object, *capture, open);
  return {};
}

// The names of `handles` in the order of the capture's nodes, unknown nodes last.
std::string names_of(const Run& run, const CaptureState& capture, std::vector<hipGraphNode_t> handles) {
  std::string text;
  for (const NodeState& node : capture.graph.nodes) {
    for (const hipGraphNode_t handle : run.captures.handles_of(capture, {node.id})) {
      const auto found = std::ranges::find(handles, handle);
      if (handle == nullptr || found == handles.end()) continue;
      handles.erase(found);
      text += fmt::format(" n{}", node.id);
    }
  }
  for (std::size_t i = 0; i < handles.size(); ++i) text += " ?";
  return text;
}

}  // namespace

template <>
hip::Status run_command(Run& run, const BeginCapture& c) {
  run.graph_memory.show_live();
  if (!run.has_stream(c.stream)) return missing_object();
  if (c.into) return begin_into(run, c);
  const hip::Api& api = run.context.api;
  if (api.hipStreamBeginCapture == nullptr) return run.unsupported("hipStreamBeginCapture");
  hip::Status status = run.on_thread(c.thread, [&] {
    return hip::call<&hip::Api::hipStreamBeginCapture>(api, run.stream(c.stream), hip_mode(c.mode));
  });
  if (status) run.captures.begun().before = 0;
  return status;
}

template <>
hip::Status run_command(Run& run, const EndCapture& c) {
  run.graph_memory.show_live();
  if (!run.has_stream(c.stream)) return missing_object();
  const hip::Api& api = run.context.api;
  if (api.hipStreamEndCapture == nullptr) return run.unsupported("hipStreamEndCapture");
  hipGraph_t graph = nullptr;
  hip::Status status = run.on_thread(
      c.thread, [&] { return hip::call<&hip::Api::hipStreamEndCapture>(api, run.stream(c.stream), &graph); });
  if (const CaptureState* capture = run.captures.of(c.stream))
    run.captures.check_eager_work(*capture, status ? fmt::format("g{}", c.graph) : "a capture that failed");
  return status ? ended(run, c, graph) : spoil(run, c, status);
}

template <>
hip::Status run_command(Run& run, const CaptureInfo& c) {
  if (!run.has_stream(c.stream)) return missing_object();
  const hip::Api& api = run.context.api;
  if (api.hipStreamGetCaptureInfo_v2 == nullptr) return run.unsupported("hipStreamGetCaptureInfo_v2");
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  unsigned long long id = 0;
  hipGraph_t graph = nullptr;
  const hipGraphNode_t* nodes = nullptr;
  std::size_t count = 0;
  hip::Status asked =
      hip::call<&hip::Api::hipStreamGetCaptureInfo_v2>(api, run.stream(c.stream), &status, &id, &graph, &nodes, &count);
  if (!asked) return asked;
  std::string& seen = run.attempt.seen;
  seen = name_of(status);
  if (status != hipStreamCaptureStatusActive) return {};
  const CaptureState* capture = run.captures.of(c.stream);
  if (capture == nullptr) return {};
  if (capture->into) {
    const bool same = run.graphs[*capture->into].handles.graph == graph;
    seen += same ? fmt::format(" in g{}", *capture->into) : " in another graph";
  }
  seen += " after" + names_of(run, *capture, {nodes, nodes + count});
  std::optional<unsigned long long>& first = run.captures.open(*capture).id;
  if (first && *first != id) seen += " under another id";
  first = id;
  return {};
}

template <>
hip::Status run_command(Run& run, const CaptureAfter& c) {
  run.graph_memory.show_live();
  if (!run.has_stream(c.stream)) return missing_object();
  const hip::Api& api = run.context.api;
  if (api.hipStreamUpdateCaptureDependencies == nullptr) return run.unsupported("hipStreamUpdateCaptureDependencies");
  const CaptureState* capture = run.captures.of(c.stream);
  std::vector<hipGraphNode_t> nodes;
  if (capture != nullptr) nodes = run.captures.handles_of(*capture, c.nodes);
  const unsigned flags = c.add ? hipStreamAddCaptureDependencies : hipStreamSetCaptureDependencies;
  return hip::call<&hip::Api::hipStreamUpdateCaptureDependencies>(api, run.stream(c.stream), nodes.data(), nodes.size(),
                                                                  flags);
}

template <>
hip::Status run_command(Run& run, const ExchangeCaptureMode& c) {
  const hip::Api& api = run.context.api;
  if (api.hipThreadExchangeStreamCaptureMode == nullptr) return run.unsupported("hipThreadExchangeStreamCaptureMode");
  hipStreamCaptureMode mode = hip_mode(c.mode);
  hip::Status status =
      run.on_thread(c.thread, [&] { return hip::call<&hip::Api::hipThreadExchangeStreamCaptureMode>(api, &mode); });
  if (status) run.attempt.seen = name_of(mode);
  return status;
}

template <>
hip::Status run_command(Run& run, const UnsafeCall& c) {
  if (const char* lacking = lacking_beside(run.context.api, c.call)) return run.unsupported(lacking);
  run.graph_memory.show_live();
  return run.on_thread(c.thread, [&] { return make_call(run, c.call); });
}

template struct FamilyRun<CapturesCommands>;

}  // namespace verify
