// A copy node crashes if its memory was freed and allocated again at the same address on NVIDIA.
// The story: finding.toml. The case runs in a child process. It cannot run if no allocation returns to its address.
#include <sys/wait.h>

#include "../check.cuh"

static int launch_after_both_moved() {
  void *first = nullptr, *second = nullptr, *again = nullptr, *to = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphExec_t exec = nullptr;
  MUST(cudaMalloc(&to, 64));
  MUST(cudaMallocHost(&first, 64));
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, first, 1, cudaMemcpyHostToDevice));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  MUST(cudaMallocHost(&second, 64));
  MUST(cudaFreeHost(first));
  MUST(cudaMallocHost(&again, 64));
  if (again != first) return 2;
  MUST(cudaGraphLaunch(exec, nullptr));
  MUST(cudaDeviceSynchronize());
  return 0;
}

int main() {
  const pid_t child = fork();
  if (child == 0) _exit(launch_after_both_moved());
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 2;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) return 2;
  check("signal at the launch", 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  return verdict();
}
