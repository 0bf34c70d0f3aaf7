// U01 and U02: a runtime, and a program on top of one, that keep pointers to memory of the caller.
//
// U01 (ROCm/clr#138). The author believed: the node owns the parameters that a caller sets, so it can store the struct
// as it came. The mistake: the caller owns the memory that the struct points to, and may overwrite or free it as soon
// as the call has returned. Instantiation reads the bytes that are there by then. (The runtime of the report also freed
// this memory, when the graph was destroyed.) P1.
//
// U02 (ggml-org/llama.cpp#12152). The author believed: the argument array that a getter returns may be edited, so the
// program changes an argument by replacing its pointer with a pointer to a block of the program. The mistake: the node
// reads its arguments through that array as long as it lives, and the block is gone before that. P1.
#include "fuzz/faults/runtime/faults.h"
#include "fuzz/faults/runtime/queries.h"

namespace fuzz {

namespace {

// The parameters of a kernel node as the caller's struct has them: pointers to the values, not the values.
struct Borrowed {
  hipKernelNodeParams params{};
  std::vector<void*> arguments;
  std::vector<void*> extra;
  std::size_t extra_size = 0;

  // The parameters for one call; vectors may move, so the pointers are valid only for that call.
  hipKernelNodeParams* get() {
    if (!arguments.empty()) params.kernelParams = arguments.data();
    if (extra.empty()) return &params;
    extra[3] = &extra_size;
    params.extra = extra.data();
    return &params;
  }
};

Borrowed borrow_arguments(const hipKernelNodeParams& params, std::size_t count) {
  Borrowed borrowed{params, {}, {}, 0};
  borrowed.arguments.assign(params.kernelParams, params.kernelParams + count);
  return borrowed;
}

// Handles the usual list: the block and its size.
Borrowed borrow_block(const hipKernelNodeParams& params) {
  Borrowed borrowed{params, {}, {}, 0};
  if (params.extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER || params.extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE) {
    return borrowed;
  }
  borrowed.extra_size = *static_cast<const std::size_t*>(params.extra[3]);
  borrowed.extra = {params.extra[0], params.extra[1], params.extra[2], nullptr, HIP_LAUNCH_PARAM_END};
  return borrowed;
}

class KeepsTheCallersArguments final : public hip::ApiLayer {
  using Self = KeepsTheCallersArguments;

  void start() override {
    kept_.clear();
    replace().hipGraphAddKernelNode = add;
    replace().hipGraphKernelNodeSetParams = set;
    replace().hipGraphInstantiate = instantiate;
  }

  static hipError_t add(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, std::size_t count,
                        const hipKernelNodeParams* params) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphAddKernelNode(node, graph, after, count, params);
    if (status == hipSuccess) self.kept_.erase(*node);
    return status;
  }
  static hipError_t set(hipGraphNode_t node, const hipKernelNodeParams* params) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphKernelNodeSetParams(node, params);
    if (status != hipSuccess) return status;
    const std::vector<std::size_t>* sizes = self.argument_sizes(params->func);
    if (params->extra != nullptr) {
      self.kept_[node] = borrow_block(*params);
    } else if (sizes != nullptr && !sizes->empty()) {
      self.kept_[node] = borrow_arguments(*params, sizes->size());
    }
    return status;
  }
  static hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log,
                                std::size_t bytes) {
    Self& self = current<Self>();
    for (const hipGraphNode_t each : nodes_of(self.inner(), graph)) {
      const auto kept = self.kept_.find(each);
      if (kept == self.kept_.end()) continue;
      const hipError_t status = self.inner().hipGraphKernelNodeSetParams(each, kept->second.get());
      if (status != hipSuccess) return status;
    }
    return self.inner().hipGraphInstantiate(exec, graph, node, log, bytes);
  }

  std::map<hipGraphNode_t, Borrowed> kept_;
};

class EditsWhatAGetterReturned final : public hip::ApiLayer {
  using Self = EditsWhatAGetterReturned;

  void start() override {
    arrays_.clear();
    replace().hipGraphExecKernelNodeSetParams = set;
    replace().hipGraphLaunch = launch;
    replace().hipGraphExecUpdate = update;
    replace().hipGraphExecDestroy = destroy;
  }

  static hipError_t set(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams* params) {
    Self& self = current<Self>();
    const std::vector<std::size_t>* sizes = params == nullptr ? nullptr : self.argument_sizes(params->func);
    const hipError_t status = self.inner().hipGraphExecKernelNodeSetParams(exec, node, params);
    if (status != hipSuccess) return status;
    if (params->extra != nullptr) {
      self.arrays_[exec][node] = borrow_block(*params);
    } else if (sizes != nullptr && !sizes->empty()) {
      self.arrays_[exec][node] = borrow_arguments(*params, sizes->size());
    }
    return status;
  }
  // Reads the node's arguments through the array before each launch.
  static hipError_t launch(hipGraphExec_t exec, hipStream_t stream) {
    Self& self = current<Self>();
    for (auto& [node, array] : self.arrays_[exec]) {
      const hipError_t status = self.inner().hipGraphExecKernelNodeSetParams(exec, node, array.get());
      if (status != hipSuccess) return status;
    }
    return self.inner().hipGraphLaunch(exec, stream);
  }
  static hipError_t update(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* node,
                           hipGraphExecUpdateResult* result) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphExecUpdate(exec, graph, node, result);
    if (status == hipSuccess) self.arrays_.erase(exec);
    return status;
  }
  static hipError_t destroy(hipGraphExec_t exec) {
    Self& self = current<Self>();
    self.arrays_.erase(exec);
    return self.inner().hipGraphExecDestroy(exec);
  }

  std::map<hipGraphExec_t, std::map<hipGraphNode_t, Borrowed>> arrays_;
};

}  // namespace

std::vector<RuntimeFault> ownership_faults() {
  return {{"U01", layer_factory<KeepsTheCallersArguments>()}, {"U02", layer_factory<EditsWhatAGetterReturned>()}};
}

}  // namespace fuzz
