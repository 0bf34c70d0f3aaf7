#include "verify/execute/captured_launch.h"

#include <cassert>
#include <type_traits>

#include "hip/captured_graph.h"
#include "hip/captured_launch.h"
#include "hip/device_scope.h"
#include "verify/execute/strategy.h"

namespace verify {
namespace {

// Who launches has the stream's device current; who records, device 0.
template <class Body>
std::invoke_result_t<Body> with_current(const Machine& machine, int device, const Body& body) {
  if (machine.devices == 1) return body();
  const hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(machine.api, device);
  return scope ? body() : std::invoke_result_t<Body>(scope.error());
}

}  // namespace

bool captures(const Machine& machine, hipStream_t stream) {
  const hip::Api& api = machine.interposer.inner();
  if (!machine.capturing || api.hipStreamIsCapturing == nullptr) return false;
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  return api.hipStreamIsCapturing(stream, &status) == hipSuccess && status != hipStreamCaptureStatusNone;
}

hip::Status launch_as_child(Machine& machine, const ExecObject& exec, hipStream_t stream) {
  assert(exec.disabled.empty());
  if (const char* function = hip::lacking_for_captured_launch(machine.api)) return lacking(machine, function);
  const hip::Result<hip::RecordedGraph> fresh =
      with_current(machine, 0, [&] { return hip::record_graph(machine.api, exec.recording, exec.addresses); });
  if (!fresh) return fresh.error();
  hip::Status launched = with_current(machine, hip::home_of(exec.recording), [&] {
    return hip::launch_into_capture(machine.api, stream, fresh.value().graph);
  });
  const hip::Status destroyed = hip::destroy_graph(machine.api, fresh.value().graph);
  // The capture has its copy, whatever becomes of ours.
  if (launched && !destroyed) machine.told = true;
  return launched;
}

}  // namespace verify
