#include "hip/symbol_nodes.h"

#include <cassert>

namespace hip {

Result<hipGraphNode_t> add_symbol_node(const Api& api, hipGraph_t graph, const CopyRecord& copy,
                                       std::span<const hipGraphNode_t> dependencies) {
  assert(copy.symbol.symbol != nullptr && copy.linear);
  const auto& [symbol, offset, to, device] = copy.symbol;
  const hipMemcpy3DParms& params = copy.params;
  const std::size_t bytes = params.extent.width;
  hipGraphNode_t node = nullptr;
  hipError_t status = hipErrorNotSupported;
  if (to && api.hipGraphAddMemcpyNodeToSymbol != nullptr) {
    status = api.hipGraphAddMemcpyNodeToSymbol(&node, graph, dependencies.data(), dependencies.size(), symbol,
                                               params.srcPtr.ptr, bytes, offset, params.kind);
  } else if (!to && api.hipGraphAddMemcpyNodeFromSymbol != nullptr) {
    status = api.hipGraphAddMemcpyNodeFromSymbol(&node, graph, dependencies.data(), dependencies.size(),
                                                 params.dstPtr.ptr, symbol, bytes, offset, params.kind);
  }
  if (status == hipSuccess) return node;
  return Error{status, std::string(symbol_adder_name(copy)) + ": " + status_name(status)};
}

hipError_t call_symbol_setter(const Api& api, hipGraphExec_t exec, hipGraphNode_t node, const CopyRecord& copy) {
  assert(copy.symbol.symbol != nullptr && copy.linear);
  const auto& [symbol, offset, to, device] = copy.symbol;
  const hipMemcpy3DParms& params = copy.params;
  const std::size_t bytes = params.extent.width;
  if (exec != nullptr && to) {
    if (api.hipGraphExecMemcpyNodeSetParamsToSymbol == nullptr) return hipErrorNotSupported;
    return api.hipGraphExecMemcpyNodeSetParamsToSymbol(exec, node, symbol, params.srcPtr.ptr, bytes, offset,
                                                       params.kind);
  }
  if (exec != nullptr) {
    if (api.hipGraphExecMemcpyNodeSetParamsFromSymbol == nullptr) return hipErrorNotSupported;
    return api.hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, params.dstPtr.ptr, symbol, bytes, offset,
                                                         params.kind);
  }
  if (to) {
    if (api.hipGraphMemcpyNodeSetParamsToSymbol == nullptr) return hipErrorNotSupported;
    return api.hipGraphMemcpyNodeSetParamsToSymbol(node, symbol, params.srcPtr.ptr, bytes, offset, params.kind);
  }
  if (api.hipGraphMemcpyNodeSetParamsFromSymbol == nullptr) return hipErrorNotSupported;
  return api.hipGraphMemcpyNodeSetParamsFromSymbol(node, params.dstPtr.ptr, symbol, bytes, offset, params.kind);
}

const char* symbol_adder_name(const CopyRecord& copy) {
  return copy.symbol.to ? "hipGraphAddMemcpyNodeToSymbol" : "hipGraphAddMemcpyNodeFromSymbol";
}

const char* symbol_setter_name(const CopyRecord& copy, bool in_exec) {
  if (copy.symbol.to) {
    return in_exec ? "hipGraphExecMemcpyNodeSetParamsToSymbol" : "hipGraphMemcpyNodeSetParamsToSymbol";
  }
  return in_exec ? "hipGraphExecMemcpyNodeSetParamsFromSymbol" : "hipGraphMemcpyNodeSetParamsFromSymbol";
}

}  // namespace hip
