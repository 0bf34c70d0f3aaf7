#include "tiny_patcher.h"

#include <algorithm>

#include "hip/kernel_parameters.h"

namespace verify {

namespace {

bool names_any(std::span<const hip::Move> moves, hip::BufferIndex buffer) {
  return std::any_of(moves.begin(), moves.end(), [&](const hip::Move& move) { return move.buffer == buffer; });
}

// One overload a kind of node that a TinyPatcher sets: in the executable graph, or in the graph if there is none.
struct NodeSetter {
  const hip::Api& api;
  hipGraphExec_t exec;
  hipGraphNode_t node;

  hipError_t operator()(hip::KernelRecord& r) const {
    const hip::KernelParameters params(r, hip::ArgumentStyle::kExtra);
    return exec == nullptr ? api.hipGraphKernelNodeSetParams(node, params.get())
                           : api.hipGraphExecKernelNodeSetParams(exec, node, params.get());
  }
  hipError_t operator()(hip::CopyRecord& r) const {
    const hipMemcpy3DParms& p = r.params;
    if (r.linear) {
      return exec == nullptr
                 ? api.hipGraphMemcpyNodeSetParams1D(node, p.dstPtr.ptr, p.srcPtr.ptr, p.extent.width, p.kind)
                 : api.hipGraphExecMemcpyNodeSetParams1D(exec, node, p.dstPtr.ptr, p.srcPtr.ptr, p.extent.width,
                                                         p.kind);
    }
    return exec == nullptr ? api.hipGraphMemcpyNodeSetParams(node, &r.params)
                           : api.hipGraphExecMemcpyNodeSetParams(exec, node, &r.params);
  }
  hipError_t operator()(hip::MemsetRecord& r) const {
    return exec == nullptr ? api.hipGraphMemsetNodeSetParams(node, &r.params)
                           : api.hipGraphExecMemsetNodeSetParams(exec, node, &r.params);
  }
  hipError_t operator()(hip::HostRecord& r) const {
    return exec == nullptr ? api.hipGraphHostNodeSetParams(node, &r.params)
                           : api.hipGraphExecHostNodeSetParams(exec, node, &r.params);
  }
  template <class Other>
  hipError_t operator()(Other&) const {
    return hipSuccess;
  }
};

}  // namespace

hipError_t set_node(const hip::Api& api, hipGraphExec_t exec, hipGraphNode_t node, hip::NodeRecord& record) {
  return std::visit(NodeSetter{api, exec, node}, record);
}

TinyPatcher::TinyPatcher(const PatchTarget& target)
    : table(target.api),
      recording(target.recording),
      handles(target.graph),
      executable(target.exec),
      places(target.addresses.begin(), target.addresses.end()) {}

bool TinyPatcher::needs_setting(const hip::RecordedNode& node, std::span<const hip::Move> moves) const {
  return std::any_of(node.relocations.begin(), node.relocations.end(),
                     [&](const hip::Relocation& r) { return names_any(moves, r.buffer); });
}

bool TinyPatcher::gives_up_on(const hip::RecordedNode& node, std::span<const hip::Move> moves) const {
  if (const auto* opaque = std::get_if<hip::OpaqueRecord>(&node.record)) {
    return std::any_of(opaque->buffers.begin(), opaque->buffers.end(),
                       [&](hip::BufferIndex buffer) { return names_any(moves, buffer); });
  }
  const auto* child = std::get_if<hip::ChildRecord>(&node.record);
  return child != nullptr && !moves.empty() && child->graph->buffer_count() != 0;
}

hip::NodeRecord TinyPatcher::record_for(hip::NodeIndex node, std::span<const hip::Move>,
                                        const hip::AddressTable& addresses) const {
  return hip::relocated(recording.nodes()[node], addresses);
}

hipError_t TinyPatcher::set(hip::NodeIndex node, hip::NodeRecord& record) {
  return set_node(table, executable, handles.nodes[node], record);
}

hip::PatchResult TinyPatcher::patch(std::span<const hip::Move> moves) {
  for (const hip::RecordedNode& node : recording.nodes()) {
    if (gives_up_on(node, moves)) return hip::PatchError{hip::PatchFailure::kRecordAgain, 0, "cannot know"};
  }
  begin_patch(moves);
  hip::AddressTable moved = places;
  for (const hip::Move& move : moves) {
    if (moved.size() <= move.buffer) moved.resize(move.buffer + std::size_t{1});
    moved[move.buffer] = move.to;
  }
  for (hip::NodeIndex i = 0; i < recording.nodes().size(); ++i) {
    if (!needs_setting(recording.nodes()[i], moves)) continue;
    hip::NodeRecord record = record_for(i, moves, moved);
    const hipError_t code = set(i, record);
    if (code != hipSuccess) return hip::PatchError{hip::PatchFailure::kUnusable, code, "a setter failed"};
  }
  places = moved;
  return hip::PatchReport{};
}

void TinyPatcher::replace(hip::NodeIndex node, hip::NodeRecord record, std::vector<hip::Relocation> relocations) {
  recording.replace(node, std::move(record), std::move(relocations));
}

void TinyPatcher::replace_all(const hip::Recording& other, std::span<const hip::DeviceAddress> addresses) {
  recording = other;
  places.assign(addresses.begin(), addresses.end());
}

}  // namespace verify
