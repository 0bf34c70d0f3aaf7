#include "verify/execute/capture_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "hip/errors.h"
#include "verify/execute/devices.h"
#include "verify/program/text.h"
#include "verify/properties/captures.h"

namespace verify {

namespace {

hipStreamCaptureMode hip_mode(CaptureMode mode) {
  static constexpr hipStreamCaptureMode kModes[] = {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal,
                                                    hipStreamCaptureModeRelaxed};
  return kModes[static_cast<std::size_t>(mode)];
}

bool captures(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(), [](const Step& step) {
    const Command& c = step.command;
    return std::holds_alternative<BeginCapture>(c) || std::holds_alternative<EndCapture>(c) ||
           std::holds_alternative<CaptureInfo>(c) || std::holds_alternative<CaptureAfter>(c) ||
           std::holds_alternative<ExchangeCaptureMode>(c);
  });
}

// An opaque kernel is launched like any other: only what is known of it differs.
NodeParams plain(NodeParams params) {
  if (auto* kernel = std::get_if<KernelParams>(&params)) kernel->opaque = false;
  return params;
}

constexpr std::size_t kUnsafeBytes = 64;

}  // namespace

CaptureOps::CaptureOps(Context context, const Program& program) : context_(std::move(context)) {
  if (captures(program)) state_.emplace();
}

hip::Status CaptureOps::missing() const {
  return hip::Error{hipErrorInvalidHandle, "an earlier command failed to make this object"};
}

// The program ends as Unsupported, whatever else it shows.
hip::Status CaptureOps::unsupported(const char* function) {
  context_.trace.unsupported = function;
  return {};
}

hipStream_t CaptureOps::stream(Id id) const {
  const auto found = context_.streams.find(id);
  return found == context_.streams.end() ? nullptr : found->second;
}

const CaptureState* CaptureOps::capture_of(Id stream) const {
  return state_ ? state_->capture_of(stream) : nullptr;
}

hip::Status CaptureOps::on_thread(Id thread, const std::function<hip::Status()>& body) {
  if (thread == 0) return body();
  hip::Status status;
  context_.platform.on_thread(thread, [&] {
    const Interposer::Scope scope(context_.interposer);
    status = body();
  });
  return status;
}

void CaptureOps::ran(std::size_t step, const Command& command, const StepStatus& status, bool fired) {
  step_ = step + 1;
  if (!state_) return;
  if (!fired) {
    const CaptureStep seen{step, state_->answer(command).status, status.code, state_->seen(command), status.seen};
    if (concerns_capture(*state_, command)) {
      Violations& found = context_.trace.violations;
      if (detect_p7(seen, print_command(command), found))
        ++context_.trace.exercised[static_cast<std::size_t>(PropertyId::kP7)];
    }
  }
  const std::size_t before = state_->captures().size();
  state_->apply(command);
  if (state_->captures().size() >= before) return;
  std::erase_if(open_, [this](const auto& entry) {
    const auto& live = state_->captures();
    return std::none_of(live.begin(), live.end(), [&](const CaptureState& c) { return c.serial == entry.first; });
  });
}

// ---- eager work and queries

hip::Status CaptureOps::perform(const Enqueue& c) {
  if (!has_stream(c.stream)) return missing();
  hip::RecordedNode eager = context_.record(plain(c.params));
  if (capture_of(c.stream) != nullptr) eager = context_.as_added(std::move(eager));
  const std::optional<CopyOfPeers> peers = peers_of(c.params, eager.record);
  EnqueueResult result;
  const hip::Api& api = context_.machine.api;
  hip::Status status = on_thread(c.thread, [&] {
    return on_device(api, context_.device_of_stream(c.stream), [&] {
      result = peers ? enqueue_peer(api, *peers, stream(c.stream)) : enqueue(api, eager.record, stream(c.stream));
      return result.status;
    });
  });
  if (!result.unsupported.empty()) {
    context_.trace.unsupported = result.unsupported;
    return {};
  }
  const auto* kernel = std::get_if<KernelParams>(&c.params);
  if (status) add(c.stream, kernel != nullptr && kernel->opaque ? context_.record(c.params) : eager);
  return status;
}

std::optional<CopyOfPeers> CaptureOps::peers_of(const NodeParams& params, const hip::NodeRecord& record) const {
  const auto* copy = std::get_if<CopyParams>(&params);
  if (copy == nullptr || copy->peer == PeerCopy::kNone) return {};
  return CopyOfPeers{
      std::get<hip::CopyRecord>(record), static_cast<int>(context_.device_of_buffer(copy->dst.ref.buffer)),
      static_cast<int>(context_.device_of_buffer(copy->src.ref.buffer)), copy->peer == PeerCopy::kBlocking};
}

hip::Status CaptureOps::perform(const Query& c) {
  const hip::Api& api = context_.machine.api;
  if (c.target == Target::kEvent) {
    const auto event = context_.events.find(c.id);
    if (event == context_.events.end()) return missing();
    return on_thread(c.thread, [&] { return hip::called(api.hipEventQuery(event->second), "hipEventQuery"); });
  }
  if (!has_stream(c.id)) return missing();
  return on_thread(c.thread, [&] { return hip::called(api.hipStreamQuery(stream(c.id)), "hipStreamQuery"); });
}

hip::Status CaptureOps::perform(const Elapsed& c) {
  const hip::Api& api = context_.machine.api;
  if (api.hipEventElapsedTime == nullptr) return unsupported("hipEventElapsedTime");
  const auto from = context_.events.find(c.from), to = context_.events.find(c.to);
  if (from == context_.events.end() || to == context_.events.end()) return missing();
  float milliseconds = 0;
  return hip::called(api.hipEventElapsedTime(&milliseconds, from->second, to->second), "hipEventElapsedTime");
}

hip::Status CaptureOps::perform(const UnsafeCall& c) {
  const hip::Api& api = context_.machine.api;
  return on_thread(c.thread, [&]() -> hip::Status {
    void* memory = nullptr;
    if (hip::Status status = hip::called(api.hipMalloc(&memory, kUnsafeBytes), "hipMalloc"); !status) return status;
    return hip::called(api.hipFree(memory), "hipFree");
  });
}

// ---- captures

void CaptureOps::launched(Id stream, const ExecObject& exec) {
  if (capture_of(stream) == nullptr) return;
  add(stream, {hip::ChildRecord{std::make_shared<const hip::Recording>(exec.recording)}, {}, {}});
}

void CaptureOps::captured(Id stream, hip::RecordedNode node) {
  add(stream, std::move(node));
}

void CaptureOps::add(Id stream, hip::RecordedNode node) {
  const CaptureState* capture = capture_of(stream);
  if (capture == nullptr || !capture->valid) return;
  open_[capture->serial].nodes.push_back({std::move(node), last_node(this->stream(stream))});
}

// What was just captured is all that the stream's next node comes behind. Null: the runtime says something else.
hipGraphNode_t CaptureOps::last_node(hipStream_t stream) const {
  const hip::Api& api = context_.interposer.inner();
  if (api.hipStreamGetCaptureInfo_v2 == nullptr) return nullptr;
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  unsigned long long id = 0;
  hipGraph_t graph = nullptr;
  const hipGraphNode_t* nodes = nullptr;
  std::size_t count = 0;
  if (api.hipStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count) != hipSuccess) return nullptr;
  return status == hipStreamCaptureStatusActive && count == 1 ? nodes[0] : nullptr;
}

hip::Status CaptureOps::perform(const BeginCapture& c) {
  if (!has_stream(c.stream)) return missing();
  const hip::Api& api = context_.machine.api;
  hip::Status status;
  std::size_t before = 0;
  if (!c.into) {
    if (api.hipStreamBeginCapture == nullptr) return unsupported("hipStreamBeginCapture");
    status = on_thread(c.thread, [&] {
      return hip::called(api.hipStreamBeginCapture(stream(c.stream), hip_mode(c.mode)), "hipStreamBeginCapture");
    });
  } else {
    const auto graph = context_.graphs.find(*c.into);
    if (graph == context_.graphs.end() || !graph->second.alive) return missing();
    std::vector<hipGraphNode_t> after;
    for (const Id name : c.after) {
      for (const NodePlace& place : graph->second.places) {
        for (std::uint32_t k = 0; place.id == name && k < place.fan; ++k)
          after.push_back(graph->second.handles.nodes[place.first + k]);
      }
    }
    before = state_->graph(*c.into)->nodes.size();
    std::optional<hipError_t> code;
    status = on_thread(c.thread, [&]() -> hip::Status {
      code = call_if_there(api.hipStreamBeginCaptureToGraph, stream(c.stream), graph->second.handles.graph,
                           after.empty() ? nullptr : after.data(), nullptr, after.size(), hip_mode(c.mode));
      return code ? hip::called(*code, "hipStreamBeginCaptureToGraph") : hip::Status{};
    });
    if (!code) return unsupported("hipStreamBeginCaptureToGraph");
  }
  // Serials count the captures that began; State has yet to hear of this one.
  if (status) open_[state_->captures_begun() + 1].before = before;
  return status;
}

hip::Status CaptureOps::perform(const EndCapture& c, std::string& seen) {
  if (!has_stream(c.stream)) return missing();
  const hip::Api& api = context_.machine.api;
  if (api.hipStreamEndCapture == nullptr) return unsupported("hipStreamEndCapture");
  hipGraph_t graph = nullptr;
  hip::Status status = on_thread(
      c.thread, [&] { return hip::called(api.hipStreamEndCapture(stream(c.stream), &graph), "hipStreamEndCapture"); });
  const CaptureState* capture = capture_of(c.stream);
  const auto open = capture == nullptr ? open_.end() : open_.find(capture->serial);
  if (open != open_.end())
    look_for_eager_work(status ? fmt::format("g{}", c.graph) : "a capture that failed", open->second);
  return status ? ended(c, graph, seen) : spoil(c, status);
}

// A capture that failed has left who knows what in the graph that it went into.
hip::Status CaptureOps::spoil(const EndCapture& c, const hip::Status& status) {
  const CaptureState* capture = capture_of(c.stream);
  if (capture == nullptr || !capture->into || capture->origin != c.stream) return status;
  const int answer = state_->answer(c).status;
  if (answer == kAnswerInvalidated || answer == kAnswerUnjoined) context_.graphs[*capture->into].spoiled = true;
  return status;
}

hip::Status CaptureOps::ended(const EndCapture& c, hipGraph_t graph, std::string& seen) {
  const CaptureState* capture = capture_of(c.stream);
  const auto known = context_.graphs.find(c.graph);
  if (capture == nullptr || state_->answer(c).status != 0) {
    const bool into = known != context_.graphs.end() && known->second.handles.graph == graph;
    if (!into && graph != nullptr) strays_.push_back(graph);
    return {};
  }
  Open& open = open_[capture->serial];
  // What the runtime refused is no node of its graph: nobody can say which of the others is which.
  if (open.before + open.nodes.size() != capture->graph.nodes.size()) {
    if (capture->into) {
      context_.graphs[c.graph].spoiled = true;
    } else if (graph != nullptr) {
      strays_.push_back(graph);
    }
    return {};
  }
  GraphObject& object = context_.graphs[c.graph];
  if (capture->into) {
    if (graph != object.handles.graph) seen = "another graph";
  } else {
    object.id = c.graph;
    object.addresses = context_.machine.addresses;
    object.handles.graph = graph;
    object.alive = graph != nullptr;
    if (graph == nullptr) seen = "no graph";
  }
  append(object, *capture, open);
  return {};
}

// State's dependencies name its nodes; the recording's name instances, which are more where nodes are fanned out.
void CaptureOps::append(GraphObject& object, const CaptureState& capture, Open& open) {
  const std::vector<NodeState>& nodes = capture.graph.nodes;
  for (std::size_t i = 0; i < open.nodes.size(); ++i) {
    const NodeState& state = nodes[open.before + i];
    hip::RecordedNode node = std::move(open.nodes[i].node);
    for (const std::uint32_t index : state.after) {
      for (const NodePlace& place : object.places) {
        for (std::uint32_t k = 0; place.id == nodes[index].id && k < place.fan; ++k)
          node.dependencies.push_back(place.first + k);
      }
    }
    context_.note_addresses(object, node);
    object.places.push_back({state.id, static_cast<hip::NodeIndex>(object.recording.nodes().size()), 1});
    object.recording.add(std::move(node));
    object.handles.nodes.push_back(open.nodes[i].handle);
  }
  object.patcher.reset();
}

void CaptureOps::look_for_eager_work(std::string into, const Open& open) {
  CaptureWork work{step_, std::move(into), {}};
  for (const Node& node : open.nodes) {
    const auto* host = std::get_if<hip::HostRecord>(&node.node.record);
    work.host_runs.push_back(host == nullptr ? 0 : context_.host_runs(*host));
  }
  if (detect_p6(work, context_.trace.violations)) ++context_.trace.exercised[static_cast<std::size_t>(PropertyId::kP6)];
}

std::vector<hipGraphNode_t> CaptureOps::handles_of(const CaptureState& capture, const std::vector<Id>& names) const {
  std::vector<hipGraphNode_t> handles;
  const auto open = open_.find(capture.serial);
  for (const Id name : names) {
    const auto index = static_cast<std::size_t>(capture.graph.index_of(name));
    if (open != open_.end() && index >= open->second.before) {
      const std::size_t at = index - open->second.before;
      handles.push_back(at < open->second.nodes.size() ? open->second.nodes[at].handle : nullptr);
      continue;
    }
    const GraphObject& object = context_.graphs.at(*capture.into);
    for (const NodePlace& place : object.places) {
      for (std::uint32_t k = 0; place.id == name && k < place.fan; ++k)
        handles.push_back(object.handles.nodes[place.first + k]);
    }
  }
  return handles;
}

// In the order of the capture's nodes, strangers last.
std::string CaptureOps::names_of(const CaptureState& capture, std::vector<hipGraphNode_t> handles) const {
  std::string text;
  for (const NodeState& node : capture.graph.nodes) {
    for (const hipGraphNode_t handle : handles_of(capture, {node.id})) {
      const auto found = std::find(handles.begin(), handles.end(), handle);
      if (handle == nullptr || found == handles.end()) continue;
      handles.erase(found);
      text += fmt::format(" n{}", node.id);
    }
  }
  for (std::size_t i = 0; i < handles.size(); ++i) text += " ?";
  return text;
}

hip::Status CaptureOps::perform(const CaptureInfo& c, std::string& seen) {
  if (!has_stream(c.stream)) return missing();
  const hip::Api& api = context_.machine.api;
  if (api.hipStreamGetCaptureInfo_v2 == nullptr) return unsupported("hipStreamGetCaptureInfo_v2");
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  unsigned long long id = 0;
  hipGraph_t graph = nullptr;
  const hipGraphNode_t* nodes = nullptr;
  std::size_t count = 0;
  hip::Status asked =
      hip::called(api.hipStreamGetCaptureInfo_v2(stream(c.stream), &status, &id, &graph, &nodes, &count),
                  "hipStreamGetCaptureInfo_v2");
  if (!asked) return asked;
  seen = status == hipStreamCaptureStatusNone          ? "none"
         : status == hipStreamCaptureStatusInvalidated ? "invalidated"
                                                       : "active";
  if (status != hipStreamCaptureStatusActive) return {};
  const CaptureState* capture = capture_of(c.stream);
  if (capture == nullptr) return {};
  if (capture->into) {
    const bool same = context_.graphs[*capture->into].handles.graph == graph;
    seen += same ? fmt::format(" in g{}", *capture->into) : " in another graph";
  }
  seen += " after" + names_of(*capture, {nodes, nodes + count});
  std::optional<unsigned long long>& first = open_[capture->serial].id;
  if (first && *first != id) seen += " under another id";
  first = id;
  return {};
}

hip::Status CaptureOps::perform(const CaptureAfter& c) {
  if (!has_stream(c.stream)) return missing();
  const hip::Api& api = context_.machine.api;
  if (api.hipStreamUpdateCaptureDependencies == nullptr) return unsupported("hipStreamUpdateCaptureDependencies");
  const CaptureState* capture = capture_of(c.stream);
  std::vector<hipGraphNode_t> nodes;
  if (capture != nullptr) nodes = handles_of(*capture, c.nodes);
  const unsigned flags = c.add ? hipStreamAddCaptureDependencies : hipStreamSetCaptureDependencies;
  return hip::called(api.hipStreamUpdateCaptureDependencies(stream(c.stream), nodes.data(), nodes.size(), flags),
                     "hipStreamUpdateCaptureDependencies");
}

hip::Status CaptureOps::perform(const ExchangeCaptureMode& c, std::string& seen) {
  const hip::Api& api = context_.machine.api;
  if (api.hipThreadExchangeStreamCaptureMode == nullptr) return unsupported("hipThreadExchangeStreamCaptureMode");
  hipStreamCaptureMode mode = hip_mode(c.mode);
  hip::Status status = on_thread(c.thread, [&] {
    return hip::called(api.hipThreadExchangeStreamCaptureMode(&mode), "hipThreadExchangeStreamCaptureMode");
  });
  if (status) {
    seen = mode == hipStreamCaptureModeGlobal        ? "global"
           : mode == hipStreamCaptureModeThreadLocal ? "thread"
                                                     : "relaxed";
  }
  return status;
}

void CaptureOps::abandon() {
  const hip::Api& api = context_.interposer.inner();
  if (!state_) return;
  for (const CaptureState& capture : state_->captures()) {
    if (const auto open = open_.find(capture.serial); open != open_.end())
      look_for_eager_work("a capture that never ended", open->second);
    if (!has_stream(capture.origin)) continue;
    // Ending an invalid capture into somebody's graph may cost the graph (capture-into-destroys): its stream goes
    // instead.
    if (capture.into && stream(capture.origin) != hipStreamPerThread) {
      context_.graphs[*capture.into].spoiled = true;
      if (api.hipStreamDestroy(stream(capture.origin)) != hipSuccess)
        context_.trace.harness_error = "a capturing stream cannot be destroyed";
      context_.streams.erase(capture.origin);
      continue;
    }
    hipGraph_t graph = nullptr;
    const hip::Status ended = on_thread(capture.thread, [&] {
      return hip::called(api.hipStreamEndCapture(stream(capture.origin), &graph), "hipStreamEndCapture");
    });
    if (ended && graph != nullptr && !capture.into) strays_.push_back(graph);
    if (capture.into) context_.graphs[*capture.into].spoiled = true;
  }
  for (Id thread = 0; thread <= kMaxThread && api.hipThreadExchangeStreamCaptureMode != nullptr; ++thread) {
    if (!state_->chose_mode(thread)) continue;
    hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
    const hip::Status reset = on_thread(thread, [&] {
      return hip::called(api.hipThreadExchangeStreamCaptureMode(&mode), "hipThreadExchangeStreamCaptureMode");
    });
    // After a device fault nothing answers any more, which the trace says already.
    const bool sticky =
        !reset && (reset.error().code == hipErrorIllegalAddress || reset.error().code == hipErrorLaunchFailure);
    if (!reset && !sticky) context_.trace.harness_error = reset.error().message;
  }
  for (const hipGraph_t graph : strays_) {
    if (api.hipGraphDestroy(graph) != hipSuccess) context_.trace.harness_error = "a captured graph cannot be destroyed";
  }
}

}  // namespace verify
