// Two launches of one executable graph on two streams run at the same time.
// The story: finding.toml.
#include "../check.h"

__global__ void slow_increment(int* counter, int rounds) {
  volatile int* memory = counter;
  const int before = memory[0];
  int sum = 0;
  for (int i = 0; i < rounds; i++) sum += memory[1];
  memory[0] = before + 1 + (sum == 12345);
}

int main() {
  constexpr int kLaunches = 4;
  int* counter = device_ints(2);
  hipGraph_t graph = new_graph();
  kernel_node(graph, {}, slow_increment, counter, 40000);
  hipGraphExec_t exec = instantiate(graph);
  hipStream_t streams[2];
  for (hipStream_t& stream : streams) MUST(hipStreamCreate(&stream));
  for (hipStream_t stream : streams)
    MUST(hipGraphLaunch(exec, stream));  // the first on a stream takes longer on the host
  MUST(hipDeviceSynchronize());
  MUST(hipMemset(counter, 0, sizeof(int)));
  MUST(hipDeviceSynchronize());
  for (int i = 0; i < kLaunches; i++) MUST(hipGraphLaunch(exec, streams[i % 2]));
  MUST(hipDeviceSynchronize());
  check("counter after four launches", kLaunches, read_int(counter));
  return verdict();
}
