// The queries of a snapshot; the contract is in the header.
#include "verify/errors/snapshot.h"

#include <algorithm>

namespace verify {

namespace {

template <class... Values>
std::string bits(const Values&... values) {
  std::string text;
  (text.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return text;
}

template <class Value>
std::string bits_of_all(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

}  // namespace

std::vector<hipGraphNode_t> Snapshot::nodes_of(const hip::Api& api, hipGraph_t graph) {
  std::size_t count = 0;
  if (api.hipGraphGetNodes(graph, nullptr, &count) != hipSuccess || count == 0) return {};
  std::vector<hipGraphNode_t> nodes(count);
  if (api.hipGraphGetNodes(graph, nodes.data(), &count) != hipSuccess) return {};
  return nodes;
}

std::string Snapshot::attributes(hipGraphNode_t node) const {
  std::string text;
  for (const hipKernelNodeAttrID id : {hipKernelNodeAttributeCooperative, hipKernelNodeAttributeAccessPolicyWindow}) {
    hipKernelNodeAttrValue value{};
    const hipError_t status = ask<&hip::Api::hipGraphKernelNodeGetAttribute>(node, id, &value);
    text += id == hipKernelNodeAttributeCooperative
                ? bits(status, value.cooperative)
                : bits(status, value.accessPolicyWindow.base_ptr, value.accessPolicyWindow.num_bytes,
                       value.accessPolicyWindow.hitRatio, value.accessPolicyWindow.hitProp,
                       value.accessPolicyWindow.missProp);
  }
  return text;
}

std::string Snapshot::kernel(hipGraphNode_t node) const {
  hipKernelNodeParams params{};
  const hipError_t status = ask<&hip::Api::hipGraphKernelNodeGetParams>(node, &params);
  std::string text = bits(status, params.func, params.gridDim, params.blockDim, params.sharedMemBytes);
  text += attributes(node);
  if (status != hipSuccess || !sizes_ || params.kernelParams == nullptr) return text;
  const std::vector<std::size_t> sizes = sizes_(node, params);
  for (std::size_t i = 0; i < sizes.size() && params.kernelParams[i] != nullptr; ++i)
    text.append(static_cast<const char*>(params.kernelParams[i]), sizes[i]);
  return text;
}

std::string Snapshot::parameters(hipGraphNode_t node, hipGraphNodeType type) const {
  if (type == hipGraphNodeTypeKernel) return kernel(node);
  if (type == hipGraphNodeTypeMemcpy) {
    hipMemcpy3DParms params{};
    const hipError_t status = ask<&hip::Api::hipGraphMemcpyNodeGetParams>(node, &params);
    return bits(status, params.srcArray, params.srcPos, params.srcPtr, params.dstArray, params.dstPos, params.dstPtr,
                params.extent, params.kind);
  }
  if (type == hipGraphNodeTypeMemset) {
    hipMemsetParams params{};
    const hipError_t status = ask<&hip::Api::hipGraphMemsetNodeGetParams>(node, &params);
    return bits(status, params.dst, params.elementSize, params.height, params.pitch, params.value, params.width);
  }
  if (type == hipGraphNodeTypeHost) {
    hipHostNodeParams params{};
    const hipError_t status = ask<&hip::Api::hipGraphHostNodeGetParams>(node, &params);
    return bits(status, params.fn, params.userData);
  }
  hipEvent_t event = nullptr;
  if (type == hipGraphNodeTypeEventRecord) {
    const hipError_t status = ask<&hip::Api::hipGraphEventRecordNodeGetEvent>(node, &event);
    return bits(status, event);
  }
  if (type == hipGraphNodeTypeWaitEvent) {
    const hipError_t status = ask<&hip::Api::hipGraphEventWaitNodeGetEvent>(node, &event);
    return bits(status, event);
  }
#if HIP_VERSION >= 60400000
  if (type == hipGraphNodeTypeBatchMemOp) {
    hipBatchMemOpNodeParams params{};
    const hipError_t status = ask<&hip::Api::hipGraphBatchMemOpNodeGetParams>(node, &params);
    return bits(status, params.ctx, params.count, params.flags);
  }
#endif
  return {};
}

void Snapshot::graph(const std::string& name, hipGraph_t graph) {
  const std::vector<hipGraphNode_t> nodes = nodes_of(api_, graph);
  note("the nodes of " + name, bits_of_all(nodes));
  std::size_t count = 0;
  hipError_t status = api_.hipGraphGetEdges(graph, nullptr, nullptr, &count);
  std::vector<hipGraphNode_t> from(count), to(count);
  if (status == hipSuccess && count != 0) status = api_.hipGraphGetEdges(graph, from.data(), to.data(), &count);
  std::vector<std::pair<hipGraphNode_t, hipGraphNode_t>> edges;
  for (std::size_t i = 0; i < from.size(); ++i) edges.emplace_back(from[i], to[i]);
  std::ranges::sort(edges);
  note("the edges of " + name, bits(status) + bits_of_all(edges));
  for (std::size_t i = 0; i < nodes.size() && one_more_node(); ++i) {
    hipGraphNodeType type{};
    const std::string where = "node " + std::to_string(i) + " of " + name;
    const hipError_t asked = api_.hipGraphNodeGetType(nodes[i], &type);
    note("the type of " + where, bits(asked, type));
    if (asked != hipSuccess) continue;
    note("the parameters of " + where, parameters(nodes[i], type));
    hipGraph_t child = nullptr;
    if (type != hipGraphNodeTypeGraph || ask<&hip::Api::hipGraphChildGraphNodeGetGraph>(nodes[i], &child) != hipSuccess)
      continue;
    this->graph("the child " + where, child);
  }
}

void Snapshot::exec(const std::string& name, hipGraphExec_t exec, const std::vector<hipGraphNode_t>& nodes) {
  unsigned long long flags = 0;
  const hipError_t asked = ask<&hip::Api::hipGraphExecGetFlags>(exec, &flags);
  note("the flags of " + name, bits(asked, flags));
  for (std::size_t i = 0; i < nodes.size() && one_more_node(); ++i) {
    hipGraphNodeType type{};
    unsigned enabled = 0;
    if (nodes[i] == nullptr || api_.hipGraphNodeGetType(nodes[i], &type) != hipSuccess) continue;
    if (type != hipGraphNodeTypeKernel && type != hipGraphNodeTypeMemcpy && type != hipGraphNodeTypeMemset) continue;
    const hipError_t status = ask<&hip::Api::hipGraphNodeGetEnabled>(exec, nodes[i], &enabled);
    note("whether node " + std::to_string(i) + " of " + name + " is enabled", bits(status, enabled));
  }
}

// Nothing but the state has a meaning where a capture is invalid.
void Snapshot::stream(const std::string& name, hipStream_t stream) {
  hipStreamCaptureStatus capture = hipStreamCaptureStatusNone;
  unsigned long long id = 0;
  hipGraph_t graph = nullptr;
  const hipGraphNode_t* nodes = nullptr;
  std::size_t count = 0;
  const hipError_t status = ask<&hip::Api::hipStreamGetCaptureInfo_v2>(stream, &capture, &id, &graph, &nodes, &count);
  note("the capture status of " + name, bits(status, capture));
  if (status != hipSuccess || capture != hipStreamCaptureStatusActive) return;
  note("the capture of " + name, bits(id, graph));
  std::vector<hipGraphNode_t> behind(nodes, nodes + count);
  std::ranges::sort(behind);
  note("the capture dependencies of " + name, bits_of_all(behind));
}

void Snapshot::memory(const std::string& name, const void* pointer, std::size_t bytes) {
  std::string value(bytes, '\0');
  const hipError_t status = api_.hipMemcpy(value.data(), pointer, bytes, hipMemcpyDeviceToHost);
  note("the bytes of " + name, bits(status) + value);
}

void Snapshot::thread() {
  int device = 0;
  const hipError_t status = ask<&hip::Api::hipGetDevice>(&device);
  note("the current device", bits(status, device));
  // The mode can only be exchanged: once to ask, once to put it back.
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
  const hipError_t asked = ask<&hip::Api::hipThreadExchangeStreamCaptureMode>(&mode);
  note("the capture mode of the thread", bits(asked, mode));
  if (asked == hipSuccess) static_cast<void>(ask<&hip::Api::hipThreadExchangeStreamCaptureMode>(&mode));
}

std::string Snapshot::difference(const Snapshot& before, const Snapshot& after) {
  const auto [was, is] = std::ranges::mismatch(before.facts_, after.facts_);
  if (was != before.facts_.end()) return was->where;
  return is != after.facts_.end() ? is->where : std::string();
}

}  // namespace verify
