// An example of a correct command buffer of a user: at each step it records a fresh graph, hands it to
// hipGraphExecUpdate, and instantiates it where the update is refused or the commands are others.
//
// Built as a shared library against hip/patcher_abi.h only (shown_commands.h belongs to the examples);
// docs/check-your-own-patcher.md runs it.
#include "shown_commands.h"

namespace {

// Whether the executable graph has the step's commands now; false: it has to be recorded again.
hipError_t update(hgcommands& self, bool& updated) {
  hipGraph_t fresh = nullptr;
  std::vector<hipGraphNode_t> nodes;
  if (const hipError_t status = shown::Recorder(self.hip).record(self.commands, &fresh, nodes); status != hipSuccess)
    return status;
  hipGraphNode_t error_node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  const hipError_t status = self.hip.hipGraphExecUpdate(self.exec, fresh, &error_node, &result);
  updated = status == hipSuccess;
  const hipError_t destroyed = shown::gone(self.hip.hipGraphDestroy, fresh);
  if (status != hipSuccess && status != hipErrorGraphExecUpdateFailure) return status;
  return destroyed;
}

}  // namespace

extern "C" hipError_t hgcommands_launch(hgcommands* self, hipStream_t stream, hgcommands_did* did) {
  bool updated = false;
  if (self->exec != nullptr && !self->other_commands) {
    if (const hipError_t status = update(*self, updated); status != hipSuccess) return status;
  }
  if (!updated) {
    if (const hipError_t status = self->record_again(); status != hipSuccess) return status;
  }
  did->way = updated ? HGCOMMANDS_UPDATED : HGCOMMANDS_RECORDED;
  return self->hip.hipGraphLaunch(self->exec, stream);
}
