// hipGraphDebugDotPrint ignores flags that are combined.
// The story: finding.toml.
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
