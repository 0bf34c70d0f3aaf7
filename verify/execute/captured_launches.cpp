#include "verify/execute/captured_launches.h"

#include "hip/captured_graph.h"
#include "verify/execute/devices.h"
#include "verify/execute/strategy.h"

namespace verify {

bool captures(const Machine& machine, hipStream_t stream) {
  const hip::Api& api = machine.interposer.inner();
  if (!machine.capturing || api.hipStreamIsCapturing == nullptr) return false;
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  return api.hipStreamIsCapturing(stream, &status) == hipSuccess && status != hipStreamCaptureStatusNone;
}

hip::Status launch_as_child(Machine& machine, const ExecObject& exec, hipStream_t stream) {
  const hip::Result<hip::RecordedGraph> fresh = hip::record_graph(machine.api, exec.recording, exec.addresses);
  if (!fresh) return fresh.error();
  const hip::Status launched = hip::launch_into_capture(machine.api, stream, fresh.value().graph);
  return hip::both(launched, hip::destroy_graph(machine.api, fresh.value().graph));
}

CapturedLaunches::~CapturedLaunches() {
  for (const auto& [exec, graph] : kept_) drop(exec, graph);
}

hipError_t CapturedLaunches::launch(const ExecObject& exec, hipStream_t stream) {
  const hip::Result<hip::RecordedGraph> fresh = hip::record_graph(machine_.api, exec.recording, exec.addresses);
  if (!fresh) return static_cast<hipError_t>(fresh.error().code);
  const hipGraph_t graph = fresh.value().graph;
  const hip::Result<hipGraphExec_t> instantiated = on_device(
      machine_.api, hip::home_of(exec.recording), [&] { return instantiate(machine_, graph, exec.form, exec.flags); });
  if (!instantiated) {
    drop(nullptr, graph);
    return static_cast<hipError_t>(instantiated.error().code);
  }
  kept_.emplace_back(instantiated.value(), graph);
  for (const hip::NodeIndex index : exec.disabled) {
    const hipError_t status = machine_.api.hipGraphNodeSetEnabled(instantiated.value(), fresh.value().nodes[index], 0);
    if (status != hipSuccess) return status;
  }
  return machine_.api.hipGraphLaunch(instantiated.value(), stream);
}

void CapturedLaunches::drop(hipGraphExec_t exec, hipGraph_t graph) const {
  if (exec != nullptr) static_cast<void>(machine_.interposer.inner().hipGraphExecDestroy(exec));
  static_cast<void>(machine_.interposer.inner().hipGraphDestroy(graph));
}

}  // namespace verify
