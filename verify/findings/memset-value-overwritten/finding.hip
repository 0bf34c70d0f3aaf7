// A memset node writes the arguments of other kernels after many calls on its device.
// The story: finding.toml.
#include "../check.h"

int main() {
  constexpr int kValue = 232;
  int* memory = device_ints(1);
  int* other = device_ints(16);
  hipGraph_t graph = new_graph();
  hipMemsetParams params{};
  params.dst = memory;
  params.value = kValue;
  params.elementSize = 4;
  params.width = params.height = 1;
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &params));

  const auto launch_after = [&](const char* calls, int count, auto&& call) {
    hipGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < count; i++) MUST(call());
    run(exec);
    check(std::string("the value, launched after ") + calls, kValue, read_int(memory));
  };
  launch_after("no call", 0, [] { return hipSuccess; });
  launch_after("1,000 memsets", 1000, [&] { return hipMemsetAsync(other, 4, 29, nullptr); });
  launch_after("3,000 copies", 3000,
               [&] { return hipMemcpyAsync(other, other + 8, 10, hipMemcpyDeviceToDevice, nullptr); });
  return verdict();
}
