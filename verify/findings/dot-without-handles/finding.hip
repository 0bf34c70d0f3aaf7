// hipGraphDebugDotPrint prints no handles of nodes or events and no parameters of host nodes.
// The story: finding.toml.
#include <fstream>
#include <sstream>

#include "../check.h"

std::string printed(hipGraph_t graph, unsigned flags) {
  const char* path = "/tmp/dot-without-handles.dot";
  MUST(hipGraphDebugDotPrint(graph, path, flags));
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::remove(path);
  return text.str();
}

int main() {
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  const hipHostNodeParams host{[](void*) {}, nullptr};
  MUST(hipGraphAddHostNode(&node, graph, nullptr, 0, &host));
  hipEvent_t event = nullptr;
  MUST(hipEventCreate(&event));
  MUST(hipGraphAddEventRecordNode(&node, graph, &node, 1, event));
  const size_t plain = printed(graph, 0).size();
  check("the file is longer with the flag for handles", 1, printed(graph, hipGraphDebugDotFlagsHandles).size() > plain);
  check("the file is longer with the flag for host nodes", 1,
        printed(graph, hipGraphDebugDotFlagsHostNodeParams).size() > plain);
  check("the file is longer with the flag for events", 1,
        printed(graph, hipGraphDebugDotFlagsEventNodeParams).size() > plain);
  return verdict();
}
