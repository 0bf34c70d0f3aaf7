#include "hip/captured_graph.h"

#include "hip/last_launch.h"

namespace hip {
namespace {

Status lacks_capture() {
  return Error{hipErrorNotSupported, "the runtime has no stream capture; give a release that has one"};
}

// A failure may be transient: the call is made once more, and its first error is returned in any case.
template <class Call>
Status twice(const Call& call, const char* function) {
  Status status = called(call(), function);
  if (status) return status;
  return both(std::move(status), called(call(), function));
}

// Ends the capture. If that fails, it is tried again, since the stream must not go on capturing; the error tells of
// both failures.
Result<hipGraph_t> end_capture(const Api& api, hipStream_t stream) {
  hipGraph_t graph = nullptr;
  Status first = call<&Api::hipStreamEndCapture>(api, stream, &graph);
  if (first) return graph;
  hipStreamCaptureStatus state = hipStreamCaptureStatusActive;  // if the query fails
  const hipError_t asked = api.hipStreamIsCapturing(stream, &state);
  if (asked == hipSuccess && state == hipStreamCaptureStatusNone) return first.error();  // it was invalid; it is over
  const Status again = call<&Api::hipStreamEndCapture>(api, stream, &graph);
  if (again && graph != nullptr) first = both(std::move(first), destroy_graph(api, graph));
  return both(std::move(first), again).error();
}

// Ends the capture in which the work is done, also when the work throws.
class Capturing {
 public:
  Capturing(const Api& api, hipStream_t stream, const ErrorSink& errors)
      : api_(api), stream_(stream), errors_(errors) {}
  Capturing(const Capturing&) = delete;
  Capturing& operator=(const Capturing&) = delete;
  ~Capturing() {
    if (ended_) return;
    const Result<hipGraph_t> graph = end_capture(api_, stream_);
    errors_(graph ? destroy_graph(api_, graph.value()) : Status(graph.error()));
  }
  Result<hipGraph_t> end() {
    ended_ = true;
    return end_capture(api_, stream_);
  }

 private:
  const Api& api_;
  const hipStream_t stream_;
  const ErrorSink& errors_;
  bool ended_ = false;
};

class CapturedTrace final : public Trace {
 public:
  // `exec` was instantiated with `device` current.
  CapturedTrace(const Api& api, hipGraphExec_t exec, CapturedGraph graph, const ReleaseQuirks& quirks, int device,
                ErrorSink errors)
      : api_(api), exec_(exec), graph_(std::move(graph)), last_launch_(api, quirks, device, errors), errors_(errors) {}
  ~CapturedTrace() override {
    errors_(last_launch_.wait());
    errors_(destroy_exec(api_, exec_));
  }

  Status patch(std::span<const TraceBuffer>) override {
    return Error{hipErrorNotSupported, "what a library enqueued is not known node by node: record it again"};
  }
  Status launch(const StreamRef& stream) override { return last_launch_.launch(exec_, stream); }

 private:
  const Api& api_;
  const hipGraphExec_t exec_;
  CapturedGraph graph_;
  LastLaunch last_launch_;
  ErrorSink errors_;
};

}  // namespace

Status destroy_exec(const Api& api, hipGraphExec_t exec) {
  return twice([&] { return api.hipGraphExecDestroy(exec); }, "hipGraphExecDestroy");
}
Status destroy_graph(const Api& api, hipGraph_t graph) {
  return twice([&] { return api.hipGraphDestroy(graph); }, "hipGraphDestroy");
}
Status free_pinned(const Api& api, void* memory) {
  return twice([&] { return api.hipHostFree(memory); }, "hipHostFree");
}

Result<CapturedGraph> CapturedGraph::capture(const Api& api, hipStream_t stream, const Enqueue& work,
                                             ErrorSink errors) {
  if (api.hipStreamBeginCapture == nullptr || api.hipStreamEndCapture == nullptr ||
      api.hipStreamIsCapturing == nullptr) {
    return lacks_capture().error();
  }
  Status status = call<&Api::hipStreamBeginCapture>(api, stream, hipStreamCaptureModeThreadLocal);
  if (!status) return status.error();
  Capturing capturing(api, stream, errors);
  Status worked = work(stream);
  const Result<hipGraph_t> ended = capturing.end();
  if (!ended) return both(std::move(worked), ended.error()).error();
  CapturedGraph captured(api, ended.value(), 0, errors);
  if (!worked) return worked.error();
  status = call<&Api::hipGraphGetNodes>(api, captured.graph_, nullptr, &captured.nodes_);
  if (!status) return status.error();
  return captured;
}

CapturedGraph::~CapturedGraph() {
  if (graph_ != nullptr) errors_(destroy_graph(*api_, graph_));
}

Result<std::unique_ptr<Trace>> capture_trace(const Api& api, hipStream_t stream, const Enqueue& work, ErrorSink errors,
                                             const ReleaseQuirks& quirks) {
  Result<CapturedGraph> captured = CapturedGraph::capture(api, stream, work, errors);
  if (!captured) return captured.error();
  if (captured.value().empty()) return std::unique_ptr<Trace>();
  int device = 0;
  Status status;
  if (quirks.of_launch_elsewhere() != nullptr) status = call<&Api::hipGetDevice>(api, &device);
  if (!status) return status.error();
  hipGraphExec_t exec = nullptr;
  status = call<&Api::hipGraphInstantiate>(api, &exec, captured.value().graph(), nullptr, nullptr, 0);
  if (!status) return status.error();
  return std::unique_ptr<Trace>(
      std::make_unique<CapturedTrace>(api, exec, std::move(captured).value(), quirks, device, errors));
}

Result<hipGraphNode_t> add_child(const Api& api, hipGraph_t graph, std::span<const hipGraphNode_t> dependencies,
                                 hipGraph_t child) {
  hipGraphNode_t node = nullptr;
  const Status status =
      child == nullptr
          ? call<&Api::hipGraphAddEmptyNode>(api, &node, graph, dependencies.data(), dependencies.size())
          : call<&Api::hipGraphAddChildGraphNode>(api, &node, graph, dependencies.data(), dependencies.size(), child);
  if (!status) return status.error();
  return node;
}

RecordedNode captured_command(hipStream_t stream, std::vector<BufferIndex> buffers, EnqueueAt work, ErrorSink errors) {
  OpaqueRecord record;
  record.buffers = std::move(buffers);
  record.reason = "what a library enqueued is not known node by node";
  record.record = [stream, work = std::move(work), errors](
                      const Api& api, hipGraph_t graph, std::span<const hipGraphNode_t> dependencies,
                      std::span<const DeviceAddress> addresses, Kept&) -> Result<hipGraphNode_t> {
    const Result<CapturedGraph> captured =
        CapturedGraph::capture(api, stream, [&](hipStream_t on) { return work(on, addresses); }, errors);
    if (!captured) return captured.error();
    return add_child(api, graph, dependencies, captured.value().empty() ? nullptr : captured.value().graph());
  };
  return {std::move(record), {}, {}};
}

}  // namespace hip
