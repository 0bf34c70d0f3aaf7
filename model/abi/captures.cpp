// Stream capture. Sources: HIP's header documentation; catch/unit/graph: hipStreamBeginCapture.cc,
// hipStreamEndCapture.cc, hipStreamIsCapturing.cc, hipStreamGetCaptureInfo*.cc, hipStreamUpdateCaptureDependencies.cc.
#include "model/abi/convert.h"

namespace model::abi {
namespace {

bool is_mode(hipStreamCaptureMode mode) {
  return mode == hipStreamCaptureModeGlobal || mode == hipStreamCaptureModeThreadLocal ||
         mode == hipStreamCaptureModeRelaxed;
}

// Finds the capture that a stream takes part in (`*out` null: none). Fails for the legacy null stream while a stream
// that is ordered with it captures, but does not make that capture invalid.
Status find_capture(State& state, hipStream_t handle, Stream** stream, Capture** out) {
  *stream = find(state, handle);
  if (*stream == nullptr) return Status::kContextIsDestroyed;
  *out = state.runtime.capture_of(**stream);
  for (const auto& capture : state.runtime.captures()) {
    if (state.runtime.endangers(**stream, *capture)) return Status::kStreamCaptureImplicit;
  }
  return Status::kSuccess;
}

hipStreamCaptureStatus status_of(const Capture* capture) {
  return static_cast<hipStreamCaptureStatus>(capture == nullptr ? CaptureStatus::kNone : capture->status());
}

hipError_t get_info(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id) {
  return call([&](State& state) {
    if (status == nullptr) return Status::kInvalidValue;
    Stream* on = nullptr;
    Capture* capture = nullptr;
    if (const Status found = find_capture(state, stream, &on, &capture); found != Status::kSuccess) return found;
    *status = status_of(capture);
    if (id != nullptr && capture != nullptr) *id = capture->id();
    return Status::kSuccess;
  });
}

Status replace_dependencies(Capture& capture, StreamSlot stream, const std::vector<Node*>& nodes, bool keep) {
  std::vector<ObjectId> ids;
  for (const Node* node : nodes) {
    if (node->graph().id() != capture.graph()) return Status::kInvalidValue;
    ids.push_back(node->id());
  }
  if (keep) {
    capture.wait(stream, ids);
  } else {
    capture.replace_behind(stream, std::move(ids));
  }
  return Status::kSuccess;
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return call_on(stream, [&](State& state, Stream& on) {
    if (!is_mode(mode)) return Status::kInvalidValue;
    return state.runtime.begin_capture(on, static_cast<CaptureMode>(mode), thread_id(state));
  });
}

hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                        const hipGraphEdgeData*, size_t count, hipStreamCaptureMode mode) {
  return call_on(stream, [&](State& state, Stream& on) {
    Graph* into = find(state, graph);
    if (into == nullptr || !is_mode(mode)) return Status::kInvalidValue;
    std::vector<Node*> nodes;
    if (const Status status = find_nodes(state, dependencies, count, &nodes); status != Status::kSuccess) return status;
    return state.runtime.begin_capture(on, static_cast<CaptureMode>(mode), thread_id(state), into, nodes);
  });
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return call([&](State& state) {
    if (graph == nullptr) return Status::kInvalidValue;
    *graph = nullptr;
    Stream* on = find(state, stream);
    if (on == nullptr) return Status::kContextIsDestroyed;
    Graph* captured = nullptr;
    const Status status = state.runtime.end_capture(*on, thread_id(state), &captured);
    if (status == Status::kSuccess) *graph = to_handle<hipGraph_t>(captured->id());
    return status;
  });
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return get_info(stream, status, nullptr);
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id) {
  return get_info(stream, status, id);
}

// The list of dependencies is valid until the next call of this function.
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id,
                                      hipGraph_t* graph, const hipGraphNode_t** dependencies, size_t* count) {
  return call([&](State& state) {
    if (status == nullptr) return Status::kInvalidValue;
    Stream* on = nullptr;
    Capture* capture = nullptr;
    if (const Status found = find_capture(state, stream, &on, &capture); found != Status::kSuccess) return found;
    *status = status_of(capture);
    if (capture == nullptr || capture->status() != CaptureStatus::kActive) return Status::kSuccess;
    state.capture_nodes.clear();
    for (const ObjectId node : capture->behind(on->slot())) {
      if (state.runtime.find_node(node) != nullptr) state.capture_nodes.push_back(to_handle<hipGraphNode_t>(node));
    }
    if (id != nullptr) *id = capture->id();
    if (graph != nullptr) *graph = to_handle<hipGraph_t>(capture->graph());
    if (dependencies != nullptr) *dependencies = state.capture_nodes.data();
    if (count != nullptr) *count = state.capture_nodes.size();
    return Status::kSuccess;
  });
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t* dependencies, size_t count,
                                              unsigned int flags) {
  return call([&](State& state) {
    const bool keep = flags == hipStreamAddCaptureDependencies;
    if (!keep && flags != hipStreamSetCaptureDependencies) return Status::kInvalidValue;
    Stream* on = find(state, stream);
    if (on == nullptr) return Status::kContextIsDestroyed;
    Capture* capture = state.runtime.capture_of(*on);
    if (capture == nullptr) return Status::kIllegalState;
    std::vector<Node*> nodes;
    if (const Status status = find_nodes(state, dependencies, count, &nodes); status != Status::kSuccess) return status;
    return replace_dependencies(*capture, on->slot(), nodes, keep);
  });
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return call([&](State& state) {
    if (mode == nullptr || !is_mode(*mode)) return Status::kInvalidValue;
    const CaptureMode chosen = static_cast<CaptureMode>(*mode);
    return put(mode, static_cast<hipStreamCaptureMode>(std::exchange(state.thread->capture_mode, chosen)));
  });
}

HGMODEL_FUNCTIONS_END
