// An example of a user's own command buffer: it sets the nodes whose parameters have changed since the last step.
//
// Its author believed: between two steps of the same commands only addresses change, so a copy or a memset with the
// same addresses as before needs no call. (A kernel is compared by all of its arguments.)
//
// The mistake, found from outside: a copy or a memset of another size, shape or value at the same address stays as it
// was (P3).
// Everything else is careful: what it cannot set it records again, and a failed call is returned, after which the next
// step records everything again.
//
// Built as a shared library against hip/patcher_abi.h only (shown_commands.h belongs to the examples);
// docs/check-your-own-patcher.md runs it.
#include "shown_commands.h"

namespace {

// The arguments of a kernel, or the addresses of another command, as bytes.
std::vector<unsigned char> fields_of(const hgcommands_command& command) {
  std::vector<unsigned char> fields;
  const auto add = [&fields](const void* from, size_t count) {
    const auto* bytes = static_cast<const unsigned char*>(from);
    fields.insert(fields.end(), bytes, bytes + count);
  };
  const hgpatcher_node& node = command.node;
  if (node.kind == HGPATCHER_KERNEL) add(node.kernel.arguments, node.kernel.bytes);
  if (node.kind == HGPATCHER_MEMSET) add(&node.memset.dst, sizeof node.memset.dst);
  if (node.kind == HGPATCHER_COPY) {
    add(&node.copy.dstPtr.ptr, sizeof node.copy.dstPtr.ptr);
    add(&node.copy.srcPtr.ptr, sizeof node.copy.srcPtr.ptr);
  }
  return fields;
}

// Commands whose fields are compared and set. Empty commands have none.
bool can_be_set(uint32_t kind) {
  return kind == HGPATCHER_KERNEL || kind == HGPATCHER_COPY || kind == HGPATCHER_MEMSET || kind == HGPATCHER_EMPTY;
}

hipError_t set(const hgcommands& self, size_t index) {
  const hgpatcher_node& node = self.commands[index]->node;
  const hipGraphNode_t handle = self.nodes[index];
  if (node.kind == HGPATCHER_MEMSET) return self.hip.hipGraphExecMemsetNodeSetParams(self.exec, handle, &node.memset);
  if (node.kind == HGPATCHER_KERNEL)
    return self.hip.hipGraphExecKernelNodeSetParams(self.exec, handle, shown::KernelParams(node.kernel).get());
  hipMemcpy3DParms copy = node.copy;
  if (node.linear == 0) return self.hip.hipGraphExecMemcpyNodeSetParams(self.exec, handle, &copy);
  return self.hip.hipGraphExecMemcpyNodeSetParams1D(self.exec, handle, node.copy.dstPtr.ptr, node.copy.srcPtr.ptr,
                                                    node.copy.extent.width, node.copy.kind);
}

}  // namespace

extern "C" hipError_t hgcommands_launch(hgcommands* self, hipStream_t stream, hgcommands_did* did) {
  std::vector<std::vector<unsigned char>> fields;
  bool settable = self->exec != nullptr && !self->other_commands;
  for (const hgcommands_command* command : self->commands) {
    settable = settable && can_be_set(command->node.kind);
    fields.push_back(fields_of(*command));
  }
  std::vector<std::vector<unsigned char>>& before = self->fields;
  if (settable && before.size() == fields.size()) {
    did->way = HGCOMMANDS_LAUNCHED;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i] == before[i]) continue;
      const hipError_t status = shown::on_device(self->hip, self->commands[i]->device, [&] { return set(*self, i); });
      if (status != hipSuccess) {
        before.clear();
        return status;
      }
      did->way = HGCOMMANDS_SET;
      ++did->nodes;
    }
  } else {
    if (const hipError_t status = self->record_again(); status != hipSuccess) return status;
    did->way = HGCOMMANDS_RECORDED;
  }
  before = std::move(fields);
  return self->hip.hipGraphLaunch(self->exec, stream);
}
