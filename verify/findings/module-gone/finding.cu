// A kernel whose module is gone ends the process or hangs it.
// The story: finding.toml.
#include <cuda.h>
#include <sys/wait.h>

#include "../check.cuh"

static const char* kPtx =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry nothing()\n{\n  ret;\n}\n";

template <class F>
F driver(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  MUST(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result));
  return reinterpret_cast<F>(found);
}

// In a process of its own, because it crashes.
static void instantiate() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphExec_t exec = nullptr;
  MUST(cudaFree(nullptr));
  if (driver<CUresult (*)(CUmodule*, const void*)>("cuModuleLoadData")(&module, kPtx) != CUDA_SUCCESS) _exit(2);
  if (driver<CUresult (*)(CUfunction*, CUmodule, const char*)>("cuModuleGetFunction")(&function, module, "nothing") !=
      CUDA_SUCCESS)
    _exit(2);
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = function;
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  void* none = nullptr;
  params.kernelParams = &none;
  MUST(cudaGraphCreate(&graph, 0));
  if (driver<CUresult (*)(CUgraphNode*, CUgraph, const CUgraphNode*, size_t, const CUDA_KERNEL_NODE_PARAMS*)>(
          "cuGraphAddKernelNode")(&node, graph, nullptr, 0, &params) != CUDA_SUCCESS)
    _exit(2);
  if (driver<CUresult (*)(CUmodule)>("cuModuleUnload")(module) != CUDA_SUCCESS) _exit(2);
  static_cast<void>(cudaGraphInstantiate(&exec, graph, 0));
}

int main() {
  const pid_t child = fork();
  if (child == 0) {
    instantiate();
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || (WIFEXITED(status) && WEXITSTATUS(status) == 2)) return 2;
  check("signal that ends cudaGraphInstantiate", 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  return verdict();
}
