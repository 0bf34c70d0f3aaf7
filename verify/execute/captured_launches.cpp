#include "verify/execute/captured_launches.h"

#include "verify/execute/devices.h"
#include "verify/execute/strategy.h"

namespace verify {

CapturedLaunches::~CapturedLaunches() {
  for (const auto& [exec, graph] : kept_) drop(exec, graph);
}

bool CapturedLaunches::takes(hipStream_t stream) const {
  const hip::Api& api = machine_.interposer.inner();
  if (!machine_.capturing || api.hipStreamIsCapturing == nullptr) return false;
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  return api.hipStreamIsCapturing(stream, &status) == hipSuccess && status != hipStreamCaptureStatusNone;
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
