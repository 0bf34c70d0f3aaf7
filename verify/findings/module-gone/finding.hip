// A kernel whose module is gone ends the process or hangs it.
// The story: finding.toml.
#include <link.h>

#include <cstring>

#include "../check.h"

extern "C" __global__ void store(int* out) {
  *out = 1;
}

// The bundle of device code in this program.
static const void* own_code() {
  const void* code = nullptr;
  const auto find = [](dl_phdr_info* program, size_t, void* out) {
    for (int i = 0; i < program->dlpi_phnum; ++i) {
      const auto& part = program->dlpi_phdr[i];
      if (part.p_type != PT_LOAD) continue;
      const size_t begin = program->dlpi_addr + part.p_vaddr, end = begin + part.p_filesz;
      for (size_t at = (begin + 4095) / 4096 * 4096; at + 24 <= end; at += 4096) {
        const void* page = reinterpret_cast<const void*>(at);
        if (memcmp(page, "__CLANG_OFFLOAD_BUNDLE__", 24) == 0 || memcmp(page, "CCOB", 4) == 0)
          *static_cast<const void**>(out) = page;
      }
    }
    return 1;  // the other objects are libraries
  };
  dl_iterate_phdr(find, &code);
  return code;
}

static hipModule_t module = nullptr;
static hipGraph_t graph = nullptr;
static hipGraphNode_t node = nullptr;
static hipGraphExec_t exec = nullptr;
static int* memory = nullptr;
static void* arguments[] = {&memory};
static hipKernelNodeParams params;

// A module with a kernel, and an executable graph of `store` itself.
static void load() {
  memory = device_ints(1);
  graph = new_graph();
  node = kernel_node(graph, {}, store, memory);
  MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  hipFunction_t function = nullptr;
  MUST(hipModuleLoadData(&module, own_code()));
  MUST(hipModuleGetFunction(&function, module, "store"));
  params = one_thread(function, arguments);
}
// A graph of the module's kernel.
static hipGraph_t graph_of_module() {
  hipGraph_t made = new_graph();
  MUST(hipGraphAddKernelNode(&node, made, nullptr, 0, &params));
  return made;
}
static void refused(const char* what, hipError_t error) {
  check(std::string(what) + " is refused", 1, error != hipSuccess);
}

int main() {
  in_child("adding a node", [] {
    load();
    MUST(hipModuleUnload(module));
    refused("adding a node", hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  });
  in_child("setting a node", [] {
    load();
    MUST(hipModuleUnload(module));
    refused("setting a node", hipGraphExecKernelNodeSetParams(exec, node, &params));
  });
  in_child("instantiating", [] {
    load();
    hipGraph_t of_module = graph_of_module();
    MUST(hipModuleUnload(module));
    alarm(1);  // it hangs
    refused("instantiating", hipGraphInstantiate(&exec, of_module, nullptr, nullptr, 0));
  });
  in_child("updating", [] {
    load();
    hipGraph_t of_module = graph_of_module();
    MUST(hipModuleUnload(module));
    hipGraphExecUpdateResult result{};
    refused("updating", hipGraphExecUpdate(exec, of_module, &node, &result));
  });
  in_child("launching", [] {
    load();
    MUST(hipGraphInstantiate(&exec, graph_of_module(), nullptr, nullptr, 0));
    MUST(hipModuleUnload(module));
    static_cast<void>(hipGraphLaunch(exec, nullptr));
    static_cast<void>(hipStreamSynchronize(nullptr));
    check("the device works behind a launch", hipSuccess, hipMemset(memory, 0, sizeof *memory));
  });
  return verdict();
}
