// Every setter call and every update of an executable graph takes memory until the graph is destroyed.
// The story: finding.toml.
#include "../check.h"

long resident_kb() {
  long pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) std::exit(2);
  std::fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int main() {
  constexpr int kUpdates = 40000;
  constexpr long kAllowedKb = 1024;
  int* memory = device_ints(4);
  hipGraph_t graph = new_graph();
  hipMemsetParams params{};
  params.dst = memory;
  params.value = 1;
  params.elementSize = 4;
  params.width = params.height = 1;
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
  hipGraphExec_t exec = instantiate(graph);

  auto growth = [&](auto&& change) {
    for (int i = 0; i < 1000; i++) change();
    const long before = resident_kb();
    for (int i = 0; i < kUpdates; i++) change();
    return resident_kb() - before;
  };
  const long by_setter = growth([&] { MUST(hipGraphExecMemsetNodeSetParams(exec, node, &params)); });
  const long by_update = growth([&] {
    hipGraphNode_t error_node = nullptr;
    hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
    MUST(hipGraphExecUpdate(exec, graph, &error_node, &result));
  });
  std::printf("%d setter calls: %ld KB more, %d updates: %ld KB more\n", kUpdates, by_setter, kUpdates, by_update);
  check("setter calls take more than 1 MB", 0, by_setter > kAllowedKb);
  check("updates take more than 1 MB", 0, by_update > kAllowedKb);
  return verdict();
}
