// hipGraphDebugDotPrint prints no parameters of copies that the driver's function added.
// The story: finding.toml.
#include <fstream>
#include <sstream>

#include "../check.h"

bool longer_with_the_flag(hipGraph_t graph) {
  const auto size = [graph](unsigned flags) {
    const char* path = "/tmp/dot-driver-copies.dot";
    MUST(hipGraphDebugDotPrint(graph, path, flags));
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    std::remove(path);
    return text.str().size();
  };
  return size(hipGraphDebugDotFlagsMemcpyNodeParams) > size(0);
}

int main() {
  int* memory = device_ints(16);
  hipCtx_t context = nullptr;
  MUST(hipCtxGetCurrent(&context));
  HIP_MEMCPY3D params{};
  params.dstMemoryType = params.srcMemoryType = hipMemoryTypeDevice;
  params.dstDevice = memory, params.srcDevice = memory + 8;
  params.dstPitch = params.srcPitch = params.WidthInBytes = 4;
  params.dstHeight = params.srcHeight = params.Height = params.Depth = 1;
  hipGraph_t by_driver = new_graph(), usual = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipDrvGraphAddMemcpyNode(&node, by_driver, nullptr, 0, &params, context));
  hipMemcpy3DParms same{};
  same.dstPtr = make_hipPitchedPtr(memory, 4, 4, 1);
  same.srcPtr = make_hipPitchedPtr(memory + 8, 4, 4, 1);
  same.extent = make_hipExtent(4, 1, 1);
  same.kind = hipMemcpyDeviceToDevice;
  MUST(hipGraphAddMemcpyNode(&node, usual, nullptr, 0, &same));
  check("the file says more of a copy with the flag for copies", 1, longer_with_the_flag(usual));
  check("the file says more of a driver's copy with the flag for copies", 1, longer_with_the_flag(by_driver));
  return verdict();
}
