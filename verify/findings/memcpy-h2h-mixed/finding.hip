// A hipMemcpyHostToHost node between pageable and other host memory is refused.
// The story: finding.toml.
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
