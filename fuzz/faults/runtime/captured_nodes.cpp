// U21, U25 and U27: runtimes that make the wrong nodes of captured copies and of captured memory.
//
// U21 (ROCm/rocm-systems#1226). The author wrote the captured copy as a node that is made, and then made again for its
// direction. The mistake: nothing owns the first one. P8.
//
// U25 (ROCm, legacy build 6682). The author believed: memory that a graph allocates is given back with the graph. The
// mistake: the captured free is a node, too; without it the memory stays, and the graph is another one. P6, P8.
//
// U27 (ROCm/rocm-systems#7092). The author believed: a graph needs the memory that it allocated until its launch is
// done, and unmaps it then. The mistake: memory that no node frees belongs to the program until somebody frees it. P12.
#include <set>

#include "fuzz/faults/runtime/faults.h"
#include "fuzz/faults/runtime/queries.h"

namespace fuzz {

namespace {

class MakesACopyTwice final : public hip::ApiLayer {
  using Self = MakesACopyTwice;

  void start() override { replace().hipMemcpyAsync = copy; }

  static hipError_t copy(void* dst, const void* src, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
    const hip::Api& hip = current<Self>().inner();
    const hipError_t status = hip.hipMemcpyAsync(dst, src, bytes, kind, stream);
    hipGraph_t first = nullptr;  // stands for the node that nothing owns
    if (status == hipSuccess && captures(hip, stream)) static_cast<void>(hip.hipGraphCreate(&first, 0));
    return status;
  }
};

class ForgetsCapturedFrees final : public hip::ApiLayer {
  using Self = ForgetsCapturedFrees;

  void start() override {
    if (inner().hipFreeAsync != nullptr) replace().hipFreeAsync = give_back;
  }

  static hipError_t give_back(void* memory, hipStream_t stream) {
    const hip::Api& hip = current<Self>().inner();
    return memory != nullptr && captures(hip, stream) ? hipSuccess : hip.hipFreeAsync(memory, stream);
  }
};

class UnmapsWhatEscapes final : public hip::ApiLayer {
  using Self = UnmapsWhatEscapes;

  void start() override {
    captured_.clear();
    of_graph_.clear();
    of_exec_.clear();
    launched_.clear();
    if (inner().hipMallocAsync == nullptr || inner().hipFreeAsync == nullptr) return;
    replace().hipMallocAsync = allocate;
    replace().hipFreeAsync = give_back;
    replace().hipStreamEndCapture = end;
    replace().hipGraphInstantiate = instantiate;
    replace().hipGraphLaunch = launch;
    replace().hipGraphDestroy = destroy_graph;
    replace().hipGraphExecDestroy = destroy_exec;
    replace().hipDeviceSynchronize = synchronize;
    replace().hipStreamSynchronize = synchronize_stream;
  }

  static hipError_t allocate(void** memory, std::size_t bytes, hipStream_t stream) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipMallocAsync(memory, bytes, stream);
    if (status == hipSuccess && captures(self.inner(), stream)) self.captured_.insert(*memory);
    return status;
  }
  static hipError_t give_back(void* memory, hipStream_t stream) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipFreeAsync(memory, stream);
    if (status != hipSuccess) return status;
    self.captured_.erase(memory);
    self.launched_.erase(memory);
    return status;
  }
  static hipError_t end(hipStream_t stream, hipGraph_t* graph) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipStreamEndCapture(stream, graph);
    if (status == hipSuccess && graph != nullptr) self.of_graph_[*graph] = self.captured_;
    self.captured_.clear();
    return status;
  }
  static hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log,
                                std::size_t bytes) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphInstantiate(exec, graph, node, log, bytes);
    if (const auto of = self.of_graph_.find(graph); status == hipSuccess && of != self.of_graph_.end()) {
      self.of_exec_[*exec] = of->second;
    }
    return status;
  }
  static hipError_t launch(hipGraphExec_t exec, hipStream_t stream) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphLaunch(exec, stream);
    const auto of = self.of_exec_.find(exec);
    if (status == hipSuccess && of != self.of_exec_.end()) self.launched_.insert(of->second.begin(), of->second.end());
    return status;
  }
  static hipError_t destroy_graph(hipGraph_t graph) {
    Self& self = current<Self>();
    self.of_graph_.erase(graph);
    return self.inner().hipGraphDestroy(graph);
  }
  static hipError_t destroy_exec(hipGraphExec_t exec) {
    Self& self = current<Self>();
    self.of_exec_.erase(exec);
    return self.inner().hipGraphExecDestroy(exec);
  }
  static hipError_t synchronize() {
    Self& self = current<Self>();
    return self.unmap(self.inner().hipDeviceSynchronize());
  }
  static hipError_t synchronize_stream(hipStream_t stream) {
    Self& self = current<Self>();
    return self.unmap(self.inner().hipStreamSynchronize(stream));
  }
  hipError_t unmap(hipError_t synchronized) {
    if (synchronized != hipSuccess) return synchronized;
    for (void* const memory : launched_) static_cast<void>(inner().hipFree(memory));
    launched_.clear();
    return hipSuccess;
  }

  std::set<void*> captured_;  // allocated by the capture that is open
  std::map<hipGraph_t, std::set<void*>> of_graph_;
  std::map<hipGraphExec_t, std::set<void*>> of_exec_;
  std::set<void*> launched_;  // since the latest synchronisation
};

}  // namespace

std::vector<RuntimeFault> captured_nodes_faults() {
  return {{"U21", layer_factory<MakesACopyTwice>()},
          {"U25", layer_factory<ForgetsCapturedFrees>()},
          {"U27", layer_factory<UnmapsWhatEscapes>()}};
}

}  // namespace fuzz
