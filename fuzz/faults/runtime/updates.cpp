// U05, U06 and U12: runtimes that update badly.
//
// U05 (ROCm/rocm-systems#11070). The author believed: a batch of packets has to be formed again when one of its nodes
// has changed, so the node's update forms it. The mistake: an update changes every node, and forming the batch looks
// at every node: the cost of hipGraphExecUpdate grows with the square of the graph. P10.
//
// U06 (ROCm/rocm-systems#10714). The author believed: the status of a node's update matters to that node alone. The
// mistake: the error is dropped, the caller is told that the update succeeded, and the old graph runs on. P4.
//
// U12 (CHIP-SPV/chipStar#1499). The author meant to store the new copy kind and wrote the assignment the wrong way
// round. The result: the kind that a setter is given is never stored, and the node keeps its first kind. P3.
#include "fuzz/faults/runtime/faults.h"
#include "fuzz/faults/runtime/queries.h"

namespace fuzz {

namespace {

class RefreshesAllAfterEachNode final : public hip::ApiLayer {
  using Self = RefreshesAllAfterEachNode;

  struct Packet {
    hipGraphNode_t node = nullptr;
    hipGraphNodeType type{};
  };

  void start() override { replace().hipGraphExecUpdate = update; }

  static void form_batch(const hip::Api& hip, const std::vector<hipGraphNode_t>& nodes) {
    std::vector<Packet> batch;
    for (const hipGraphNode_t node : nodes) {
      Packet& packet = batch.emplace_back(Packet{node, {}});
      static_cast<void>(hip.hipGraphNodeGetType(node, &packet.type));
    }
  }
  static hipError_t update(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* node,
                           hipGraphExecUpdateResult* result) {
    const hip::Api& hip = current<Self>().inner();
    const hipError_t status = hip.hipGraphExecUpdate(exec, graph, node, result);
    if (status != hipSuccess) return status;
    const std::vector<hipGraphNode_t> nodes = nodes_of(hip, graph);
    for (std::size_t changed = 0; changed < nodes.size(); ++changed) form_batch(hip, nodes);
    return status;
  }
};

class DropsTheErrorOfAnUpdate final : public hip::ApiLayer {
  using Self = DropsTheErrorOfAnUpdate;

  void start() override { replace().hipGraphExecUpdate = update; }

  static hipError_t update(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* node,
                           hipGraphExecUpdateResult* result) {
    static_cast<void>(current<Self>().inner().hipGraphExecUpdate(exec, graph, node, result));
    if (result != nullptr) *result = hipGraphExecUpdateSuccess;
    return hipSuccess;
  }
};

class AssignsTheKindBackwards final : public hip::ApiLayer {
  using Self = AssignsTheKindBackwards;

  void start() override {
    replace().hipGraphMemcpyNodeSetParams = set;
    replace().hipGraphMemcpyNodeSetParams1D = set_linear;
  }

  static hipError_t set(hipGraphNode_t node, const hipMemcpy3DParms* params) {
    const hip::Api& hip = current<Self>().inner();
    hipMemcpy3DParms held{};
    if (params == nullptr || hip.hipGraphMemcpyNodeGetParams(node, &held) != hipSuccess) {
      return hip.hipGraphMemcpyNodeSetParams(node, params);
    }
    hipMemcpy3DParms stored = *params;
    stored.kind = held.kind;
    return hip.hipGraphMemcpyNodeSetParams(node, &stored);
  }
  static hipError_t set_linear(hipGraphNode_t node, void* dst, const void* src, std::size_t count, hipMemcpyKind kind) {
    const hip::Api& hip = current<Self>().inner();
    hipMemcpy3DParms held{};
    if (hip.hipGraphMemcpyNodeGetParams(node, &held) == hipSuccess) kind = held.kind;
    return hip.hipGraphMemcpyNodeSetParams1D(node, dst, src, count, kind);
  }
};

}  // namespace

std::vector<RuntimeFault> updates_faults() {
  return {{"U05", layer_factory<RefreshesAllAfterEachNode>()},
          {"U06", layer_factory<DropsTheErrorOfAnUpdate>()},
          {"U12", layer_factory<AssignsTheKindBackwards>()}};
}

}  // namespace fuzz
