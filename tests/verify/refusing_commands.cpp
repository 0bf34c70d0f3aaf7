// A command buffer that refuses every step: for tests of what the harness does then. ABI_ANSWER, MAKES, TAKES and WAY
// change one answer each; GIVES_BACK is what hgcommands_destroy does first.
#include <cstdlib>

#include "hip/patcher_abi.h"

#ifndef ABI_ANSWER
#define ABI_ANSWER (HGPATCHER_ABI_COMMANDS << 16)
#endif

#ifndef MAKES  // what hgcommands_create does, with `hip` and `out`
#define MAKES *out = new hgcommands{}, hipSuccess
#endif
#ifndef TAKES
#define TAKES hipSuccess
#endif
#ifndef GIVES_BACK
#define GIVES_BACK static_cast<void>(0)
#endif
#ifndef WAY
#define WAY HGCOMMANDS_REFUSED
#endif

struct hgcommands {
  hipGraph_t graph;
  hipError_t (*destroy)(hipGraph_t);
};

namespace {

// Makes a graph that the library holds.
[[maybe_unused]] hipError_t hold_graph(const hgpatcher_hip* hip, hgcommands** out) {
  const auto create = reinterpret_cast<hipError_t (*)(hipGraph_t*, unsigned)>(hip->find(hip, "hipGraphCreate"));
  *out = new hgcommands{nullptr, reinterpret_cast<hipError_t (*)(hipGraph_t)>(hip->find(hip, "hipGraphDestroy"))};
  return create(&(*out)->graph, 0);
}

// Uses up the thread's stack.
[[maybe_unused]] hipError_t recurse(int depth) {
  if (depth < 0) return hipErrorUnknown;
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  const hipError_t below = recurse(depth + 1);
  return frame[0] == 0 ? below : hipSuccess;
}

}  // namespace

extern "C" {

uint32_t hgpatcher_abi(void) {
  return ABI_ANSWER;
}

hipError_t hgcommands_create([[maybe_unused]] const hgpatcher_hip* hip, int, hgcommands** out) {
  *out = nullptr;
  return MAKES;
}

hipError_t hgcommands_begin(hgcommands*, size_t, int) {
  return hipSuccess;
}

hipError_t hgcommands_update(hgcommands*, size_t, const hgcommands_command*) {
  return TAKES;
}

hipError_t hgcommands_launch(hgcommands*, hipStream_t, hgcommands_did* did) {
  did->way = WAY;
  did->why = "it refuses every step";
  return hipSuccess;
}

void hgcommands_destroy(hgcommands* self) {
  GIVES_BACK;
  delete self;
}

}  // extern "C"
