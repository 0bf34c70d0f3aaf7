#include "verify/execute/captured_launch.h"

#include <cassert>

#include "hip/captured_graph.h"
#include "hip/captured_launch.h"
#include "hip/device_scope.h"
#include "verify/execute/strategy.h"

namespace verify {
// Recorded with device 0 current, as programs record.
static hip::Result<hip::RecordedGraph> record(const StrategyContext& context, const ExecObject& exec) {
  const auto recorded = [&] { return hip::record_graph(context.api, exec.recording, exec.addresses); };
  if (context.devices == 1) return recorded();
  const hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(context.api, 0);
  return scope ? recorded() : hip::Result<hip::RecordedGraph>(scope.error());
}

bool captures(const StrategyContext& context, hipStream_t stream) {
  const hip::Api& api = context.interposer.inner();
  if (!context.capturing || api.hipStreamIsCapturing == nullptr) return false;
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  return api.hipStreamIsCapturing(stream, &status) == hipSuccess && status != hipStreamCaptureStatusNone;
}

hip::Status launch_as_child(StrategyContext& context, const ExecObject& exec, const hip::StreamRef& stream) {
  assert(exec.disabled.empty());
  if (const char* function = hip::lacking_for_captured_launch(context.api)) return lacking(context, function);
  const hip::Result<hip::RecordedGraph> fresh = record(context, exec);
  if (!fresh) return fresh.error();
  hip::Status launched = hip::launch_into_capture(stream, fresh.value().graph, hip::home_of(exec.recording));
  const hip::Status destroyed = hip::destroy_graph(context.api, fresh.value().graph);
  // The capture holds its own copy, so a failure to destroy ours does not make the launch fail.
  if (launched && !destroyed) context.error_reported = true;
  return launched;
}

}  // namespace verify
