#include <hip/api/api.h>
#include <hip/graph_patcher.h>

#include <iostream>

int main() {
  const hip::Recording recording;
  const hip::Result<hip::LoadedApi> api = hip::load_api("/no/such/runtime.so");
  std::cout << recording.nodes().size() << " " << api.error().message << "\n";
  return api ? 1 : 0;
}
