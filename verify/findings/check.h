// Shared by the sources of verify/findings; small enough to be pasted into any of them.
//
// MUST(call) is for what the case only needs: if it fails, the case could not run (status 2). `check` is for what the
// case is about: it prints both sides and counts what differs. `in_child` does the same for code that may crash or
// hang; HIP must not have been used before it, because the child is forked. `verdict` is main's result: 0 right, 1 the
// deviation.
#pragma once
#include <hip/hip_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define MUST(call) must((call), #call, __LINE__)
inline void must(hipError_t error, const char* call, int line) {
  if (error == hipSuccess) return;
  std::printf("could not run: line %d: %s: %s\n", line, call, hipGetErrorName(error));
  std::exit(2);
}

inline int deviations = 0;
inline void check(const std::string& what, const std::string& expected, const std::string& observed) {
  std::printf("expected %s: %s\nobserved %s: %s\n", what.c_str(), expected.c_str(), what.c_str(), observed.c_str());
  std::fflush(stdout);
  deviations += expected != observed;
}
inline void check(const std::string& what, long long expected, long long observed) {
  check(what, std::to_string(expected), std::to_string(observed));
}
inline void check(const std::string& what, hipError_t expected, hipError_t observed) {
  check(what, std::string(hipGetErrorName(expected)), std::string(hipGetErrorName(observed)));
}
inline int verdict() {
  return deviations != 0;
}

template <class Body>
void in_child(const std::string& what, Body body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);  // a hang is signal 14
    body();
    std::fflush(stdout);
    _exit(verdict());
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || (WIFEXITED(status) && WEXITSTATUS(status) > 1)) std::exit(2);
  if (WIFSIGNALED(status)) check(what, "returns", "killed by signal " + std::to_string(WTERMSIG(status)));
  deviations += WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

template <class T>
struct Same {
  using type = T;
};
inline hipKernelNodeParams one_thread(const void* kernel, void** arguments) {
  hipKernelNodeParams params{};
  params.func = const_cast<void*>(kernel);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  return params;
}
// A kernel node of one thread.
template <class... P>
hipGraphNode_t kernel_node(hipGraph_t graph, const std::vector<hipGraphNode_t>& after, void (*kernel)(P...),
                           typename Same<P>::type... arguments) {
  void* list[] = {&arguments...};
  const hipKernelNodeParams params = one_thread(reinterpret_cast<const void*>(kernel), list);
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
  return node;
}
// Zeroed device memory, and one int of it.
inline int* device_ints(size_t count) {
  int* memory = nullptr;
  MUST(hipMalloc(reinterpret_cast<void**>(&memory), count * sizeof(int)));
  MUST(hipMemset(memory, 0, count * sizeof(int)));
  MUST(hipDeviceSynchronize());
  return memory;
}
inline int read_int(const int* memory) {
  int value = 0;
  MUST(hipMemcpy(&value, memory, sizeof value, hipMemcpyDeviceToHost));
  return value;
}
inline hipGraph_t new_graph() {
  hipGraph_t graph = nullptr;
  MUST(hipGraphCreate(&graph, 0));
  return graph;
}
inline hipGraphExec_t instantiate(hipGraph_t graph) {
  hipGraphExec_t exec = nullptr;
  MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  return exec;
}
inline void run(hipGraphExec_t exec) {
  MUST(hipGraphLaunch(exec, nullptr));
  MUST(hipDeviceSynchronize());
}
