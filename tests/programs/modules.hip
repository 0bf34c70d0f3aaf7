// A HIP program that loads its own device code once more, as a module: the same kernels and variables twice.
//
// A kernel by its symbol and the same kernel of the module stand in one graph, and setters and updates give a node
// either one in place of the other. A variable of the module is copied by nodes, eagerly and by kernels, and is not the
// program's own variable. After the module is gone, graphs that were set to the program's own kernels still run. Takes
// no arguments and exits 0 iff all of it is right.
//
// It is no program of hgcheck's language, which names no kernel by its symbol.
#include <hip/hip_runtime.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                 \
  do {                                                                                              \
    const hipError_t error = (call);                                                                \
    if (error != hipSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(error)); \
      std::exit(2);                                                                                 \
    }                                                                                               \
  } while (false)

extern "C" {
__device__ int variable = 3;
__global__ void add(int* out, int value) {
  *out += value;
}
__global__ void store(int* out, int value) {
  *out = value;
}
__global__ void add_variable(int* out, int value) {
  *out += variable + value;
}
}

namespace {

int failures = 0;

void report(const char* what, bool right) {
  std::printf("%-36s %s\n", what, right ? "right" : "WRONG");
  if (!right) ++failures;
}

// The bundle of device code in this program, which hipcc puts at the beginning of a page.
const void* own_code() {
  const void* code = nullptr;
  const auto find = [](dl_phdr_info* program, size_t, void* out) {
    for (int i = 0; i < program->dlpi_phnum; ++i) {
      const auto& part = program->dlpi_phdr[i];
      if (part.p_type != PT_LOAD) continue;
      const size_t begin = program->dlpi_addr + part.p_vaddr, end = begin + part.p_filesz;
      for (size_t at = (begin + 4095) / 4096 * 4096; at + 24 <= end; at += 4096) {
        const void* page = reinterpret_cast<const void*>(at);
        if (std::memcmp(page, "__CLANG_OFFLOAD_BUNDLE__", 24) == 0 || std::memcmp(page, "CCOB", 4) == 0)
          *static_cast<const void**>(out) = page;
      }
    }
    return 1;  // the other objects are libraries
  };
  dl_iterate_phdr(find, &code);
  return code;
}

int* memory = nullptr;
hipModule_t module = nullptr;

enum class By { kSymbol, kModule };

void* kernel(By by, const char* name) {
  if (by == By::kSymbol) {
    void (*const own)(int*, int) = std::strcmp(name, "add") == 0     ? add
                                   : std::strcmp(name, "store") == 0 ? store
                                                                     : add_variable;
    return reinterpret_cast<void*>(own);
  }
  hipFunction_t function = nullptr;
  CHECK(hipModuleGetFunction(&function, module, name));
  return function;
}

// A kernel of one thread that is given `memory` and a value.
class Work {
 public:
  Work(By by, const char* name, int value) : value_(value) {
    params_.func = kernel(by, name);
    params_.gridDim = params_.blockDim = dim3(1);
    params_.kernelParams = arguments_;
  }
  Work(const Work&) = delete;
  const hipKernelNodeParams* params() const { return &params_; }

 private:
  int value_;
  void* arguments_[2] = {&memory, &value_};
  hipKernelNodeParams params_{};
};

hipGraph_t new_graph() {
  hipGraph_t graph = nullptr;
  CHECK(hipGraphCreate(&graph, 0));
  return graph;
}
hipGraphNode_t add_node(hipGraph_t graph, hipGraphNode_t after, const Work& work) {
  hipGraphNode_t node = nullptr;
  CHECK(hipGraphAddKernelNode(&node, graph, &after, after == nullptr ? 0 : 1, work.params()));
  return node;
}
hipGraphExec_t instantiate(hipGraph_t graph) {
  hipGraphExec_t exec = nullptr;
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  return exec;
}
// The number in `memory` behind a launch that found 0 there.
int result(hipGraphExec_t exec) {
  int found = 0;
  CHECK(hipMemset(memory, 0, sizeof *memory));
  CHECK(hipGraphLaunch(exec, nullptr));
  CHECK(hipMemcpy(&found, memory, sizeof found, hipMemcpyDeviceToHost));
  return found;
}

void both_in_one_graph() {
  hipGraph_t graph = new_graph();
  hipGraphNode_t last = add_node(graph, nullptr, Work(By::kSymbol, "add", 1));
  last = add_node(graph, last, Work(By::kModule, "add", 2));
  add_node(graph, last, Work(By::kSymbol, "add", 4));
  hipGraphExec_t exec = instantiate(graph);
  report("one kernel by both in a graph", result(exec) == 7 && result(exec) == 7);
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
}

// A node gets another function. Returns its executable graph.
hipGraphExec_t set(const char* what, By from, By to, const char* name) {
  hipGraph_t graph = new_graph(), other = new_graph();
  const hipGraphNode_t node = add_node(graph, nullptr, Work(from, "add", 1));
  add_node(other, nullptr, Work(to, name, 9));
  hipGraphExec_t exec = instantiate(graph), updated = instantiate(graph);
  const Work work(to, name, 5);
  CHECK(hipGraphExecKernelNodeSetParams(exec, node, work.params()));
  hipGraphNode_t failed = nullptr;
  hipGraphExecUpdateResult answer{};
  CHECK(hipGraphExecUpdate(updated, other, &failed, &answer));
  CHECK(hipGraphKernelNodeSetParams(node, work.params()));
  hipKernelNodeParams got{};
  CHECK(hipGraphKernelNodeGetParams(node, &got));
  hipGraphExec_t again = instantiate(graph);
  report(what, result(exec) == 5 && result(updated) == 9 && got.func == work.params()->func && result(again) == 5);
  CHECK(hipGraphExecDestroy(updated));
  CHECK(hipGraphExecDestroy(again));
  CHECK(hipGraphDestroy(other));
  CHECK(hipGraphDestroy(graph));
  return exec;
}

void variable_of_the_module() {
  void *of_module = nullptr, *own = nullptr;
  size_t bytes = 0;
  CHECK(hipModuleGetGlobal(&of_module, &bytes, module, "variable"));
  CHECK(hipGetSymbolAddress(&own, HIP_SYMBOL(variable)));
  report("a variable of the module", bytes == sizeof(int) && of_module != own);

  const int by_host = 20;
  CHECK(hipMemcpy(of_module, &by_host, sizeof by_host, hipMemcpyHostToDevice));
  hipGraph_t graph = new_graph();
  hipGraphNode_t last = add_node(graph, nullptr, Work(By::kModule, "add_variable", 1));  // 20 + 1
  hipGraphNode_t copy = nullptr;
  CHECK(hipGraphAddMemcpyNode1D(&copy, graph, &last, 1, of_module, memory, sizeof(int), hipMemcpyDeviceToDevice));
  last = add_node(graph, copy, Work(By::kModule, "add_variable", 2));  // 21 + 21 + 2
  add_node(graph, last, Work(By::kSymbol, "add_variable", 0));         // 44 + 3
  hipGraphExec_t exec = instantiate(graph);
  report("nodes that read and write it", result(exec) == 47);
  int found = 0, found_own = 0;
  CHECK(hipMemcpy(&found, of_module, sizeof found, hipMemcpyDeviceToHost));
  CHECK(hipMemcpyFromSymbol(&found_own, HIP_SYMBOL(variable), sizeof found_own));
  report("the program's own variable", found == 21 && found_own == 3);
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphDestroy(graph));
}

}  // namespace

int main() {
  CHECK(hipMalloc(reinterpret_cast<void**>(&memory), sizeof *memory));
  CHECK(hipModuleLoadData(&module, own_code()));
  both_in_one_graph();
  hipGraphExec_t kept = set("from the module to the symbol", By::kModule, By::kSymbol, "add");
  hipGraphExec_t kept_too =
      set("from the module to the symbol and to another kernel", By::kModule, By::kSymbol, "store");
  CHECK(hipGraphExecDestroy(set("from the symbol to the module", By::kSymbol, By::kModule, "add")));
  CHECK(hipGraphExecDestroy(
      set("from the symbol to the module and to another kernel", By::kSymbol, By::kModule, "store")));
  variable_of_the_module();
  CHECK(hipModuleUnload(module));
  report("nodes set away from a module gone", result(kept) == 5 && result(kept_too) == 5);
  CHECK(hipGraphExecDestroy(kept));
  CHECK(hipGraphExecDestroy(kept_too));
  CHECK(hipFree(memory));
  std::printf("%s\n", failures == 0 ? "all right" : "something is wrong");
  return failures == 0 ? 0 : 1;
}
