// hipGraphDebugDotPrint with two flags prints what no flag prints.
//
// Documentation: hip_runtime_api.h, hipGraphDebugDotPrint: "Flags from hipGraphDebugDotFlags to get additional node
// information"; the enumerators are single bits (1 << 0, 1 << 2, ...), and CUDA documents them as such.
// What happens: the flags are compared with == to one enumerator at a time, so memcpy parameters and memset
// parameters together give neither.
// Source: GetLabel and GetShape of each node class.
#include <fstream>
#include <sstream>

#include "../check.h"

bool shows_memset_parameters(hipGraph_t graph, unsigned flags) {
  const char* path = "/tmp/dot-flags-not-combined.dot";
  MUST(hipGraphDebugDotPrint(graph, path, flags));
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::remove(path);
  return text.str().find("elementSize") != std::string::npos;
}

int main() {
  int* memory = device_ints(1);
  hipGraph_t graph = new_graph();
  hipMemsetParams params{};
  params.dst = memory;
  params.elementSize = 4;
  params.width = params.height = 1;
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
  constexpr unsigned kMemset = hipGraphDebugDotFlagsMemsetNodeParams, kMemcpy = hipGraphDebugDotFlagsMemcpyNodeParams;
  check("memset parameters are printed with their flag", 1, shows_memset_parameters(graph, kMemset));
  check("memset parameters are printed with their flag and another", 1,
        shows_memset_parameters(graph, kMemset | kMemcpy));
  return verdict();
}
