#include "hip/node_setter.h"

#include <cassert>
#include <variant>

#include "hip/batch_nodes.h"
#include "hip/driver_nodes.h"
#include "hip/kernel_parameters.h"
#include "hip/symbol_nodes.h"

namespace hip {
namespace {

// Structs that HIP takes as pointers to non-const are copies, so that a runtime that writes to them does not change the
// record.
struct SetNode {
  const Api& api;
  hipGraphExec_t exec;
  hipGraphNode_t node;
  NodeForm form;

  hipError_t operator()(KernelRecord& kernel) const {
    const KernelParameters parameters(kernel, ArgumentStyle::kExtra);
    return exec ? api.hipGraphExecKernelNodeSetParams(exec, node, parameters.get())
                : api.hipGraphKernelNodeSetParams(node, parameters.get());
  }
  hipError_t operator()(const CopyRecord& copy) const {
    // AMD's runtime keeps a copy node that hipDrvGraphAddMemcpyNode added as another type of object. The other setters
    // would write past that object.
    if (form == NodeForm::kDriver) return call_driver_copy_setter(api, exec, node, copy.params);
    if (copy.symbol.symbol != nullptr) return call_symbol_setter(api, exec, node, copy);
    hipMemcpy3DParms params = copy.params;
    if (copy.linear) {
      return exec ? api.hipGraphExecMemcpyNodeSetParams1D(exec, node, params.dstPtr.ptr, params.srcPtr.ptr,
                                                          params.extent.width, params.kind)
                  : api.hipGraphMemcpyNodeSetParams1D(node, params.dstPtr.ptr, params.srcPtr.ptr, params.extent.width,
                                                      params.kind);
    }
    return exec ? api.hipGraphExecMemcpyNodeSetParams(exec, node, &params)
                : api.hipGraphMemcpyNodeSetParams(node, &params);
  }
  hipError_t operator()(const MemsetRecord& memset) const {
    return exec ? api.hipGraphExecMemsetNodeSetParams(exec, node, &memset.params)
                : api.hipGraphMemsetNodeSetParams(node, &memset.params);
  }
  hipError_t operator()(const BatchRecord& batch) const { return call_batch_setter(api, exec, node, batch); }
  // These nodes have no relocations (flaw_of checks that), so no patch sets them.
  hipError_t operator()(const HostRecord&) const { return untouchable(); }
  hipError_t operator()(const EmptyRecord&) const { return untouchable(); }
  hipError_t operator()(const ChildRecord&) const { return untouchable(); }
  hipError_t operator()(const EventSignalRecord&) const { return untouchable(); }
  hipError_t operator()(const EventWaitRecord&) const { return untouchable(); }
  hipError_t operator()(const SemaphoreRecord&) const { return untouchable(); }
  hipError_t operator()(const OpaqueRecord&) const { return untouchable(); }
  hipError_t operator()(const MemoryAllocRecord&) const { return untouchable(); }
  hipError_t operator()(const MemoryFreeRecord&) const { return untouchable(); }

 private:
  static hipError_t untouchable() {
    assert(false && "a node without relocations was touched");
    return hipErrorInvalidValue;
  }
};

}  // namespace

hipError_t set_node(const Api& api, hipGraphExec_t exec, hipGraphNode_t node, NodeForm form, NodeRecord& record) {
  return std::visit(SetNode{api, exec, node, form}, record);
}

const char* setter_name(const NodeRecord& record, bool in_exec) {
  if (std::holds_alternative<KernelRecord>(record)) {
    return in_exec ? "hipGraphExecKernelNodeSetParams" : "hipGraphKernelNodeSetParams";
  }
  if (std::holds_alternative<MemsetRecord>(record)) {
    return in_exec ? "hipGraphExecMemsetNodeSetParams" : "hipGraphMemsetNodeSetParams";
  }
  if (std::holds_alternative<BatchRecord>(record)) return batch_setter_name(in_exec);
  const auto* copy = std::get_if<CopyRecord>(&record);
  if (copy != nullptr && copy->symbol.symbol != nullptr) return symbol_setter_name(*copy, in_exec);
  if (copy != nullptr && copy->linear) {
    return in_exec ? "hipGraphExecMemcpyNodeSetParams1D" : "hipGraphMemcpyNodeSetParams1D";
  }
  return in_exec ? "hipGraphExecMemcpyNodeSetParams" : "hipGraphMemcpyNodeSetParams";
}

}  // namespace hip
