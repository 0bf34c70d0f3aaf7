#include "hip/captured_launch.h"

#include <string>
#include <utility>
#include <vector>

namespace hip {

const char* lacking_for_captured_launch(const Api& api) {
  if (api.hipStreamGetCaptureInfo_v2 == nullptr) return "hipStreamGetCaptureInfo_v2";
  if (api.hipStreamUpdateCaptureDependencies == nullptr) return "hipStreamUpdateCaptureDependencies";
  return api.hipGraphDestroyNode == nullptr ? "hipGraphDestroyNode" : nullptr;
}

Status launch_into_capture(const Api& api, hipStream_t stream, hipGraph_t graph) {
  if (const char* function = lacking_for_captured_launch(api)) {
    return Error{hipErrorNotSupported, std::string("the runtime has no ") + function};
  }
  hipStreamCaptureStatus capturing = hipStreamCaptureStatusNone;
  hipGraph_t into = nullptr;
  const hipGraphNode_t* last = nullptr;
  std::size_t count = 0;
  Status status = called(api.hipStreamGetCaptureInfo_v2(stream, &capturing, nullptr, &into, &last, &count),
                         "hipStreamGetCaptureInfo_v2");
  if (!status) return status;
  if (capturing == hipStreamCaptureStatusInvalidated) {
    return Error{hipErrorStreamCaptureInvalidated, "the capture is invalid: end it, and begin another one"};
  }
  if (capturing == hipStreamCaptureStatusNone) {
    return Error{hipErrorIllegalState, "the stream captures nothing: launch an executable graph instead"};
  }
  const std::vector<hipGraphNode_t> behind(last, last + count);  // the runtime's own, until its next call
  hipGraphNode_t node = nullptr;
  status = called(api.hipGraphAddChildGraphNode(&node, into, behind.data(), behind.size(), graph),
                  "hipGraphAddChildGraphNode");
  if (!status) return status;
  status = called(api.hipStreamUpdateCaptureDependencies(stream, &node, 1, hipStreamSetCaptureDependencies),
                  "hipStreamUpdateCaptureDependencies");
  return status ? status : both(std::move(status), called(api.hipGraphDestroyNode(node), "hipGraphDestroyNode"));
}

}  // namespace hip
