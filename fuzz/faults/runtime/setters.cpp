// U17, U18, U19, U22 and U23: runtimes whose launches do not run what setters set.
//
// U17 (ROCm/clr#42). The author believed: a packet holds the node's parameters, so a setter changes the node. The
// mistake: the first launch records the packet with the arguments of that time, no setter records it again, and the old
// arguments run. P3.
//
// U18 (ROCm/rocm-systems#9063). The author believed: a setter writes the packet in the node's slot. The mistake: a
// disabled node has given its slot to the next node, whose packet is overwritten. P2, P3; of a patch also A3, A4.
//
// U19 (ROCm/rocm-systems#10713). The author believed: arguments live as long as their executable graph, in slots that
// nothing has to give back. The mistake: each setter takes another slot. P8.
//
// U22 (ROCm/hip#3888). The author wrote the update of a memset for memory with a pitch. The mistake: a memset of one
// row has none, and is not updated at all. P3.
//
// U23 (CHIP-SPV/chipStar#1495). The author believed: a launch submits the list of commands. The mistake: each launch
// adds its commands to the list, so the N-th launch executes N times. P3.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "fuzz/faults/runtime/faults.h"
#include "fuzz/faults/runtime/queries.h"

namespace fuzz {

namespace {

// The parameters of a kernel node, with their values.
class KernelValues {
 public:
  // `sizes`: of the kernel's arguments; null where the layer was not told.
  KernelValues(const hipKernelNodeParams& params, const std::vector<std::size_t>* sizes) : params_(params) {
    if (params.extra != nullptr) {
      bytes_ = *static_cast<const std::size_t*>(params.extra[3]);
      const auto* block = static_cast<const std::byte*>(params.extra[1]);
      values_.emplace_back(block, block + bytes_);
      extra_ = {HIP_LAUNCH_PARAM_BUFFER_POINTER, values_[0].data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes_,
                HIP_LAUNCH_PARAM_END};
      params_.extra = extra_.data();
      return;
    }
    for (std::size_t i = 0; sizes != nullptr && i < sizes->size(); ++i) {
      const auto* value = static_cast<const std::byte*>(params.kernelParams[i]);
      values_.emplace_back(value, value + (*sizes)[i]);
    }
    for (std::vector<std::byte>& value : values_) arguments_.push_back(value.data());
    params_.kernelParams = arguments_.data();
  }
  KernelValues(const KernelValues&) = delete;
  KernelValues& operator=(const KernelValues&) = delete;
  [[nodiscard]] const hipKernelNodeParams* get() const { return &params_; }

 private:
  hipKernelNodeParams params_;
  std::vector<std::vector<std::byte>> values_;
  std::vector<void*> arguments_, extra_;
  std::size_t bytes_ = 0;
};

// Launches run older parameters than those that were set. Afterwards the nodes have their own again, so that everything
// but the launch sees what was set.
class RunsOldParameters : public hip::ApiLayer {
  using Self = RunsOldParameters;

 protected:
  void start() override {
    execs_.clear();
    replace().hipGraphInstantiate = instantiate;
    replace().hipGraphLaunch = launch;
    replace().hipGraphExecUpdate = update;
    replace().hipGraphExecDestroy = destroy;
  }
  // Sets a node of an executable graph to what it has now.
  using Setter = std::function<void(hipGraphExec_t, hipGraphNode_t)>;
  // The setter of a node as it is in its graph; empty for nodes that the fault does not concern.
  virtual Setter setter_of(hipGraphNode_t node) = 0;
  [[nodiscard]] bool launched(hipGraphExec_t exec) const {
    const auto found = execs_.find(exec);
    return found != execs_.end() && found->second.launched;
  }
  // `runs`: launches run what was set.
  void was_set(hipGraphExec_t exec, hipGraphNode_t node, const Setter& now, bool runs) {
    const auto found = execs_.find(exec);
    if (found == execs_.end() || !found->second.nodes.contains(node)) return;
    Node& changed = found->second.nodes[node];
    changed.now = now;
    if (runs) changed.packet = now;
    changed.stale = !runs;
  }

 private:
  struct Node {
    Setter packet, now;
    bool stale = false;
  };
  struct Exec {
    bool launched = false;
    std::map<hipGraphNode_t, Node> nodes;
  };

  static hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log,
                                std::size_t bytes) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphInstantiate(exec, graph, node, log, bytes);
    if (status != hipSuccess) return status;
    Exec& made = self.execs_[*exec] = {};
    for (const hipGraphNode_t each : nodes_of(self.inner(), graph)) {
      if (const Setter setter = self.setter_of(each)) made.nodes[each] = {setter, setter};
    }
    return status;
  }
  static hipError_t launch(hipGraphExec_t exec, hipStream_t stream) {
    Self& self = current<Self>();
    const auto found = self.execs_.find(exec);
    if (found == self.execs_.end()) return self.inner().hipGraphLaunch(exec, stream);
    for (const auto& [node, each] : found->second.nodes) {
      if (each.stale) each.packet(exec, node);
    }
    const hipError_t status = self.inner().hipGraphLaunch(exec, stream);
    for (const auto& [node, each] : found->second.nodes) {
      if (each.stale) each.now(exec, node);
    }
    found->second.launched = true;
    return status;
  }
  static hipError_t update(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* node,
                           hipGraphExecUpdateResult* result) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphExecUpdate(exec, graph, node, result);
    if (status == hipSuccess) self.execs_.erase(exec);
    return status;
  }
  static hipError_t destroy(hipGraphExec_t exec) {
    Self& self = current<Self>();
    self.execs_.erase(exec);
    return self.inner().hipGraphExecDestroy(exec);
  }

  std::map<hipGraphExec_t, Exec> execs_;
};

class RunsTheRecordedPacket final : public RunsOldParameters {
  using Self = RunsTheRecordedPacket;

  void start() override {
    RunsOldParameters::start();
    replace().hipGraphExecKernelNodeSetParams = set;
  }
  Setter setter_to(const hipKernelNodeParams& params) {
    const auto values = std::make_shared<const KernelValues>(params, argument_sizes(params.func));
    return [this, values](hipGraphExec_t exec, hipGraphNode_t node) {
      static_cast<void>(inner().hipGraphExecKernelNodeSetParams(exec, node, values->get()));
    };
  }
  Setter setter_of(hipGraphNode_t node) override {
    hipKernelNodeParams params{};
    if (!has_type(inner(), node, hipGraphNodeTypeKernel)) return {};
    return inner().hipGraphKernelNodeGetParams(node, &params) == hipSuccess ? setter_to(params) : Setter();
  }
  static hipError_t set(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams* params) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphExecKernelNodeSetParams(exec, node, params);
    if (status == hipSuccess) self.was_set(exec, node, self.setter_to(*params), !self.launched(exec));
    return status;
  }
};

class LosesADisabledNodesSlot final : public hip::ApiLayer {
  using Self = LosesADisabledNodesSlot;

  void start() override {
    slots_.clear();
    disabled_.clear();
    replace().hipGraphInstantiate = instantiate;
    replace().hipGraphNodeSetEnabled = enable;
    replace().hipGraphExecKernelNodeSetParams = set;
  }

  static hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log,
                                std::size_t bytes) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphInstantiate(exec, graph, node, log, bytes);
    if (status != hipSuccess) return status;
    std::vector<hipGraphNode_t>& slots = self.slots_[*exec] = nodes_of(self.inner(), graph);
    std::erase_if(slots, [&](hipGraphNode_t each) { return !has_type(self.inner(), each, hipGraphNodeTypeKernel); });
    std::erase_if(self.disabled_, [&](const auto& each) { return each.first == *exec; });
    return status;
  }
  static hipError_t enable(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphNodeSetEnabled(exec, node, enabled);
    if (status != hipSuccess) return status;
    if (enabled == 0) self.disabled_.emplace(exec, node);
    if (enabled != 0) self.disabled_.erase({exec, node});
    return status;
  }
  static hipError_t set(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams* params) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphExecKernelNodeSetParams(exec, node, params);
    if (status != hipSuccess || !self.disabled_.contains({exec, node})) return status;
    const std::vector<hipGraphNode_t>& slots = self.slots_[exec];
    const auto next = std::find_if(std::ranges::find(slots, node), slots.end(),
                                   [&](hipGraphNode_t each) { return !self.disabled_.contains({exec, each}); });
    if (next != slots.end()) static_cast<void>(self.inner().hipGraphExecKernelNodeSetParams(exec, *next, params));
    return status;
  }

  std::map<hipGraphExec_t, std::vector<hipGraphNode_t>> slots_;
  std::set<std::pair<hipGraphExec_t, hipGraphNode_t>> disabled_;
};

class TakesASlotForEachSetter final : public hip::ApiLayer {
  using Self = TakesASlotForEachSetter;

  void start() override { replace().hipGraphExecKernelNodeSetParams = set; }

  static hipError_t set(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams* params) {
    constexpr std::size_t kSlotBytes = 64;
    const hip::Api& hip = current<Self>().inner();
    const hipError_t status = hip.hipGraphExecKernelNodeSetParams(exec, node, params);
    void* slot = nullptr;
    if (status == hipSuccess) static_cast<void>(hip.hipMalloc(&slot, kSlotBytes));
    return status;
  }
};

class UpdatesMemsetsWithAPitch final : public RunsOldParameters {
  using Self = UpdatesMemsetsWithAPitch;

  void start() override {
    RunsOldParameters::start();
    replace().hipGraphExecMemsetNodeSetParams = set;
  }
  Setter setter_to(const hipMemsetParams& params) {
    return [this, params](hipGraphExec_t exec, hipGraphNode_t node) {
      static_cast<void>(inner().hipGraphExecMemsetNodeSetParams(exec, node, &params));
    };
  }
  Setter setter_of(hipGraphNode_t node) override {
    hipMemsetParams params{};
    if (!has_type(inner(), node, hipGraphNodeTypeMemset)) return {};
    return inner().hipGraphMemsetNodeGetParams(node, &params) == hipSuccess ? setter_to(params) : Setter();
  }
  static hipError_t set(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* params) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphExecMemsetNodeSetParams(exec, node, params);
    if (status == hipSuccess) self.was_set(exec, node, self.setter_to(*params), params->height > 1);
    return status;
  }
};

class AddsItsCommandsAtEachLaunch final : public hip::ApiLayer {
  using Self = AddsItsCommandsAtEachLaunch;

  void start() override {
    launches_.clear();
    replace().hipGraphLaunch = launch;
    replace().hipGraphExecDestroy = destroy;
  }

  static hipError_t launch(hipGraphExec_t exec, hipStream_t stream) {
    Self& self = current<Self>();
    hipError_t status = self.inner().hipGraphLaunch(exec, stream);
    if (status != hipSuccess || captures(self.inner(), stream)) return status;
    for (std::size_t again = self.launches_[exec]++; again != 0 && status == hipSuccess; --again) {
      status = self.inner().hipGraphLaunch(exec, stream);
    }
    return status;
  }
  static hipError_t destroy(hipGraphExec_t exec) {
    Self& self = current<Self>();
    self.launches_.erase(exec);
    return self.inner().hipGraphExecDestroy(exec);
  }

  std::map<hipGraphExec_t, std::size_t> launches_;
};

}  // namespace

std::vector<RuntimeFault> setters_faults() {
  return {{"U17", layer_factory<RunsTheRecordedPacket>()},
          {"U18", layer_factory<LosesADisabledNodesSlot>()},
          {"U19", layer_factory<TakesASlotForEachSetter>()},
          {"U22", layer_factory<UpdatesMemsetsWithAPitch>()},
          {"U23", layer_factory<AddsItsCommandsAtEachLaunch>()}};
}

}  // namespace fuzz
