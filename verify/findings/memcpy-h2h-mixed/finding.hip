// A memcpy node of kind hipMemcpyHostToHost between pinned and pageable memory is refused.
//
// Documentation: hip_runtime_api.h, hipMemcpyKind: hipMemcpyHostToHost, "Host-to-Host Copy"; hipHostMalloc returns
// host memory.
// What happens: hipErrorInvalidValue from hipGraphAddMemcpyNode1D; hipMemcpyAsync takes the same arguments, and the
// node is accepted with hipMemcpyDefault.
// Source: GraphMemcpyNode1D::ValidateParams takes every address that the runtime knows for device memory.
#include "../check.h"

int main() {
  static int pageable = 0;
  int* pinned = nullptr;
  MUST(hipHostMalloc(reinterpret_cast<void**>(&pinned), sizeof(int), hipHostMallocDefault));
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  auto add = [&](void* target, void* source, hipMemcpyKind kind) {
    return hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, target, source, sizeof(int), kind);
  };
  MUST(hipMemcpyAsync(&pageable, pinned, sizeof(int), hipMemcpyHostToHost, nullptr));
  check("pinned to pageable, hipMemcpyDefault", hipSuccess, add(&pageable, pinned, hipMemcpyDefault));
  check("pinned to pageable, hipMemcpyHostToHost", hipSuccess, add(&pageable, pinned, hipMemcpyHostToHost));
  check("pageable to pinned, hipMemcpyHostToHost", hipSuccess, add(pinned, &pageable, hipMemcpyHostToHost));
  return verdict();
}
