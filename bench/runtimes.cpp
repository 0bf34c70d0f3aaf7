#include "bench/runtimes.h"

#include <cassert>
#include <cstdint>

#include "bench/workload.h"
#include "model/abi/in_process.h"

namespace bench {

namespace {

template <class Function>
struct Nothing;
template <class R, class... Args>
struct Nothing<R (*)(Args...)> {
  static R call(Args...) { return R{}; }
};
static_assert(hipSuccess == hipError_t{});

// Handles are never dereferenced, so any numbers but 0 do.
template <class Handle>
Handle next_handle() {
  static std::uintptr_t last = 0;
  return reinterpret_cast<Handle>(last += 16);
}

hip::Api table_that_does_nothing() {
  hip::Api api;
#define HIP_FUNCTION(name, ...) api.name = Nothing<decltype(api.name)>::call;
#include "hip/api/functions.inc"
#undef HIP_FUNCTION
  api.hipGraphCreate = [](hipGraph_t* graph, unsigned) {
    *graph = next_handle<hipGraph_t>();
    return hipSuccess;
  };
  api.hipGraphAddKernelNode = [](hipGraphNode_t* node, hipGraph_t, const hipGraphNode_t*, std::size_t,
                                 const hipKernelNodeParams*) {
    *node = next_handle<hipGraphNode_t>();
    return hipSuccess;
  };
  api.hipGraphInstantiate = [](hipGraphExec_t* exec, hipGraph_t, hipGraphNode_t*, char*, std::size_t) {
    *exec = next_handle<hipGraphExec_t>();
    return hipSuccess;
  };
  return api;
}

class NothingRuntime final : public Runtime {
 public:
  [[nodiscard]] const hip::Api& api() const override { return api_; }
  [[nodiscard]] hipFunction_t kernel() const override { return kernel_; }

 private:
  hip::Api api_ = table_that_does_nothing();
  hipFunction_t kernel_ = next_handle<hipFunction_t>();
};

model::Kernel workload_kernel() {
  model::Kernel kernel;
  kernel.name = "matrix_product_with_bias";
  kernel.signature.argument_bytes = kArgumentBytes;
  for (std::uint32_t offset = 0; offset < kBuffersOfKernel * 8; offset += 8) {
    kernel.signature.arguments.push_back({offset, 8, model::ArgumentKind::kPointer});
  }
  for (std::uint32_t offset = kBuffersOfKernel * 8; offset < kArgumentBytes; offset += 4) {
    kernel.signature.arguments.push_back({offset, 4, model::ArgumentKind::kValue});
  }
  return kernel;
}

class ModelRuntime final : public Runtime {
 public:
  ModelRuntime() : active_(instance_) {
    const hipModule_t module = instance_.add_module({workload_kernel()});
    const hipError_t status = api().hipModuleGetFunction(&kernel_, module, workload_kernel().name.c_str());
    assert(status == hipSuccess);
    static_cast<void>(status);
  }
  [[nodiscard]] const hip::Api& api() const override { return model::abi::InProcess::api(); }
  [[nodiscard]] hipFunction_t kernel() const override { return kernel_; }

 private:
  model::abi::InProcess instance_;
  model::abi::Activate active_;
  hipFunction_t kernel_ = nullptr;
};

}  // namespace

std::string_view name_of(RuntimeKind kind) {
  return kind == RuntimeKind::kNothing ? "nothing" : "model";
}

std::unique_ptr<Runtime> make_runtime(RuntimeKind kind) {
  if (kind == RuntimeKind::kModel) return std::make_unique<ModelRuntime>();
  return std::make_unique<NothingRuntime>();
}

}  // namespace bench
