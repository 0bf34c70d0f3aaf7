#include "hip/captured_launch.h"

#include <string>
#include <utility>
#include <vector>

#include "hip/device_scope.h"

namespace hip {
// Returns the new child node. If it returns an error, it leaves no node.
static Result<hipGraphNode_t> add_child(const Api& api, hipGraph_t into, const std::vector<hipGraphNode_t>& behind,
                                        hipGraph_t graph, int device) {
  Result<DeviceScope> of_graph = DeviceScope::enter(api, device);
  if (!of_graph) return of_graph.error();
  hipGraphNode_t node = nullptr;
  if (Status added = call<&Api::hipGraphAddChildGraphNode>(api, &node, into, behind.data(), behind.size(), graph);
      !added) {
    return added.error();
  }
  Status left = of_graph.value().leave();
  if (left) return node;
  return both(std::move(left), call<&Api::hipGraphDestroyNode>(api, node)).error();
}

const char* lacking_for_captured_launch(const Api& api) {
  if (api.hipStreamGetCaptureInfo_v2 == nullptr) return "hipStreamGetCaptureInfo_v2";
  if (api.hipStreamUpdateCaptureDependencies == nullptr) return "hipStreamUpdateCaptureDependencies";
  return api.hipGraphDestroyNode == nullptr ? "hipGraphDestroyNode" : nullptr;
}

Status launch_into_capture(const StreamRef& stream, hipGraph_t graph, int device) {
  const Api& api = stream.api();
  if (const char* function = lacking_for_captured_launch(api)) {
    return Error{hipErrorNotSupported, std::string("the runtime has no ") + function};
  }
  // hipStreamPerThread names another stream on each device.
  Result<DeviceScope> of_stream = DeviceScope::enter(api, stream.device());
  if (!of_stream) return of_stream.error();
  hipStreamCaptureStatus capturing = hipStreamCaptureStatusNone;
  hipGraph_t into = nullptr;
  const hipGraphNode_t* last = nullptr;
  std::size_t count = 0;
  Status status =
      call<&Api::hipStreamGetCaptureInfo_v2>(api, stream.handle(), &capturing, nullptr, &into, &last, &count);
  if (!status) return status;
  if (capturing == hipStreamCaptureStatusInvalidated) {
    return Error{hipErrorStreamCaptureInvalidated, "the capture is invalid: end it, and begin another one"};
  }
  if (capturing == hipStreamCaptureStatusNone) {
    return Error{hipErrorIllegalState, "the stream captures nothing: launch an executable graph instead"};
  }
  std::vector<hipGraphNode_t> behind(last, last + count);  // copied: HIP's array is valid until the next call
  const Result<hipGraphNode_t> child = add_child(api, into, behind, graph, device);
  if (!child) return child.error();
  hipGraphNode_t node = child.value();
  const auto come_behind = [&](hipGraphNode_t* nodes, std::size_t number) {
    return call<&Api::hipStreamUpdateCaptureDependencies>(api, stream.handle(), nodes, number,
                                                          hipStreamSetCaptureDependencies);
  };
  status = come_behind(&node, 1);
  if (status) {
    status = of_stream.value().leave();
    if (status) return status;
    status = both(std::move(status), come_behind(behind.data(), behind.size()));
  }
  return both(std::move(status), call<&Api::hipGraphDestroyNode>(api, node));
}

}  // namespace hip
