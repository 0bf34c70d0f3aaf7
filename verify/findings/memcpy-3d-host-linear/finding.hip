// A 3D copy node between two pageable buffers is done as one linear copy.
// The story: finding.toml.
#include <cstring>

#include "../check.h"

int main() {
  constexpr size_t kPitch = 8, kRows = 4;
  static char source[kPitch * kRows], target[kPitch * kRows], wanted[kPitch * kRows];
  for (size_t i = 0; i < sizeof source; i++) source[i] = static_cast<char>('A' + i % 26);
  std::memset(target, '.', sizeof target);
  std::memset(wanted, '.', sizeof wanted);
  hipMemcpy3DParms params{};
  params.srcPtr = make_hipPitchedPtr(source, kPitch, kPitch, kRows);
  params.dstPtr = make_hipPitchedPtr(target, kPitch, kPitch, kRows);
  params.srcPos = make_hipPos(2, 1, 0);
  params.dstPos = make_hipPos(1, 1, 0);
  params.extent = make_hipExtent(3, 2, 1);
  params.kind = hipMemcpyHostToHost;
  for (size_t row = 0; row < 2; row++) std::memcpy(wanted + (row + 1) * kPitch + 1, source + (row + 1) * kPitch + 2, 3);
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
  run(instantiate(graph));
  check("the target", std::string(wanted, sizeof wanted), std::string(target, sizeof target));
  return verdict();
}
