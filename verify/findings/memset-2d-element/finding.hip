// A 2D memset of elements of 2 or 4 bytes writes beyond the end of each row.
// The story: finding.toml.
#include "../check.h"

int wrong_bytes(unsigned element, unsigned value) {
  constexpr size_t kPitch = 64, kHeight = 3, kWidth = 3;
  char* memory = reinterpret_cast<char*>(device_ints(kPitch * (kHeight + 2)));
  hipMemsetParams params{};
  params.dst = memory;
  params.value = value;
  params.elementSize = element;
  params.width = kWidth;
  params.height = kHeight;
  params.pitch = kPitch;
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
  run(instantiate(graph));
  std::vector<unsigned char> bytes(kPitch * (kHeight + 2));
  MUST(hipMemcpy(bytes.data(), memory, bytes.size(), hipMemcpyDeviceToHost));
  int wrong = 0;
  for (size_t i = 0; i < bytes.size(); i++) {
    const size_t row = i / kPitch, column = i % kPitch;
    const bool inside = row < kHeight && column < kWidth * element;
    wrong += bytes[i] != (inside ? value >> (8 * (column % element)) & 0xff : 0);
  }
  return wrong;
}

int main() {
  check("wrong bytes, elements of 1 byte", 0, wrong_bytes(1, 0x11));
  check("wrong bytes, elements of 2 bytes", 0, wrong_bytes(2, 0x1122));
  check("wrong bytes, elements of 4 bytes", 0, wrong_bytes(4, 0x11223344));
  return verdict();
}
