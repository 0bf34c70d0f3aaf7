// A model and a kernel for tests of error cases.
#pragma once

#include <gtest/gtest.h>

#include "model/abi/in_process.h"
#include "verify/errors/error_calls.h"
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
#include "hip/kernels/device_kernels.h"
#endif

namespace verify {

using model::NodeView;

// The project's code object; null in a build that has no device kernels.
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
inline const void* const kCode = hg::device_code_object().data();
#else
inline const void* const kCode = nullptr;
#endif

// A graph by value.
struct Picture {
  model::NodeType type;
  model::NodeParams params;
  std::vector<std::uint32_t> dependencies;
  std::vector<Picture> children;
  model::ObjectId id;
  bool enabled;
  bool operator==(const Picture&) const = default;
};
inline std::vector<Picture> picture(const std::vector<NodeView>& views) {
  std::vector<Picture> all;
  for (const NodeView& view : views) {
    all.push_back({view.type, *view.params, view.dependencies, picture(view.children), view.id, view.enabled});
  }
  return all;
}

// A model with a kernel of the scene's signature.
class Machine {
 public:
  Machine() : instance_(options()), active_(instance_) {
    model::Kernel kernel;
    kernel.name = "count_only";
    kernel.signature = {17,
                        {{0, 4, model::ArgumentKind::kValue},
                         {8, 8, model::ArgumentKind::kValue},
                         {16, 1, model::ArgumentKind::kValue}}};
    kernel.semantics = [](std::span<const std::byte>, const model::LaunchShape&, model::MemoryAccess&) {};
    const hipModule_t module = instance_.add_module({kernel});
    EXPECT_EQ(api().hipModuleGetFunction(&kernel_, module, "count_only"), hipSuccess);
    instance_.add_variable(&variable_, ErrorScene::kSymbolBytes);
  }
  [[nodiscard]] static const hip::Api& api() { return model::abi::InProcess::api(); }
  [[nodiscard]] hipFunction_t kernel() const { return kernel_; }
  [[nodiscard]] const void* variable() const { return &variable_; }
  // Without the variable's memory, which it keeps.
  [[nodiscard]] model::LiveHandles live() {
    model::LiveHandles handles = instance_.runtime().live_handles();
    handles.allocations -= instance_.variables_in_memory();
    handles.bytes -= instance_.variables_in_memory() * ErrorScene::kSymbolBytes;
    return handles;
  }
  [[nodiscard]] std::vector<Picture> look(hipGraph_t graph) {
    const model::Graph* found = instance_.graph(graph);
    return found == nullptr ? std::vector<Picture>{} : picture(model::inspect(*found));
  }
  [[nodiscard]] std::vector<Picture> look(hipGraphExec_t exec) {
    const model::GraphExec* found = instance_.exec(exec);
    return found == nullptr ? std::vector<Picture>{} : picture(found->inspect());
  }

 private:
  static model::abi::InProcessOptions options() {
    model::abi::InProcessOptions chosen;
    chosen.model.memory.unknown_is_host = true;
    return chosen;
  }
  model::abi::InProcess instance_;
  model::abi::Activate active_;
  hipFunction_t kernel_ = nullptr;
  char variable_ = 0;
};

}  // namespace verify
