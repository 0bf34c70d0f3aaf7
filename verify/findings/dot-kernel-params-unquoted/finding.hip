// hipGraphDebugDotPrint with the flag for kernel parameters writes an invalid DOT file.
// The story: finding.toml.
#include <fstream>
#include <sstream>

#include "../check.h"

__global__ void store(int* out) {
  *out = 1;
}

// Whether the attribute `style` of the first node is a closed string followed by another attribute.
std::string style_of_first_node(hipGraph_t graph, unsigned flags) {
  const char* path = "/tmp/dot-kernel-params-unquoted.dot";
  MUST(hipGraphDebugDotPrint(graph, path, flags));
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::remove(path);
  const std::string all = text.str();
  const std::string start = "[style=\"";
  const size_t node = all.find("_node_");
  const size_t begin = node == std::string::npos ? node : all.find(start, node);
  if (begin == std::string::npos) return "none";
  const size_t from = begin + start.size();
  std::string value = all.substr(from, all.find('"', from) - from);
  for (char& c : value) c = c == '\n' ? ' ' : c;
  return value;
}

int main() {
  int* memory = device_ints(1);
  hipGraph_t graph = new_graph();
  kernel_node(graph, {}, store, memory);
  check("style without flags", "bold", style_of_first_node(graph, 0));
  check("style with kernel parameters", "bold", style_of_first_node(graph, hipGraphDebugDotFlagsKernelNodeParams));
  check("style with kernel attributes", "bold", style_of_first_node(graph, hipGraphDebugDotFlagsKernelNodeAttributes));
  return verdict();
}
