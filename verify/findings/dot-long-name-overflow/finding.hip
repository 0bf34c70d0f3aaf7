// hipGraphDebugDotPrint overflows a buffer on the stack when a kernel's name is long.
// The story: finding.toml.
#include "../check.h"

// Mangling shortens what repeats, so numbers make the length: 14 characters each.
template <int... kNumbers>
struct Numbers {};
template <int k>
using Ten = Numbers<k + 100000001, k + 100000002, k + 100000003, k + 100000004, k + 100000005, k + 100000006,
                    k + 100000007, k + 100000008, k + 100000009, k + 100000010>;
template <class... Types>
__global__ void named_by_its_types(int* out) {
  *out = sizeof...(Types);
}

int main() {
  const char* path = "/tmp/dot-long-name-overflow.dot";
  in_child("printing a kernel whose name has more than 4096 characters", [path] {
    int* memory = device_ints(1);
    hipGraph_t graph = new_graph();
    kernel_node(
        graph, {},
        named_by_its_types<Ten<0>, Ten<10>, Ten<20>, Ten<30>, Ten<40>, Ten<50>, Ten<60>, Ten<70>, Ten<80>, Ten<90>,
                           Ten<100>, Ten<110>, Ten<120>, Ten<130>, Ten<140>, Ten<150>, Ten<160>, Ten<170>, Ten<180>,
                           Ten<190>, Ten<200>, Ten<210>, Ten<220>, Ten<230>, Ten<240>, Ten<250>, Ten<260>, Ten<270>,
                           Ten<280>, Ten<290>, Ten<300>, Ten<310>, Ten<320>, Ten<330>, Ten<340>, Ten<350>>,
        memory);
    MUST(hipGraphDebugDotPrint(graph, path, 0));
    check("printing a kernel whose name has more than 4096 characters", hipSuccess,
          hipGraphDebugDotPrint(graph, path, hipGraphDebugDotFlagsKernelNodeParams));
  });
  std::remove(path);
  return verdict();
}
