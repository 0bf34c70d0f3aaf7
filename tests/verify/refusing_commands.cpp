// A command buffer that refuses every step: for tests of what the harness does then. With ABI_ANSWER, its hgpatcher_abi
// answers that.
#include "hip/patcher_abi.h"

#ifndef ABI_ANSWER
#define ABI_ANSWER (HGPATCHER_ABI_COMMANDS << 16)
#endif

struct hgcommands {};

extern "C" {

uint32_t hgpatcher_abi(void) {
  return ABI_ANSWER;
}

hipError_t hgcommands_create(const hgpatcher_hip*, int, hgcommands** out) {
  *out = new hgcommands;
  return hipSuccess;
}

hipError_t hgcommands_begin(hgcommands*, size_t, int) {
  return hipSuccess;
}

hipError_t hgcommands_update(hgcommands*, size_t, const hgcommands_command*) {
  return hipSuccess;
}

hipError_t hgcommands_launch(hgcommands*, hipStream_t, hgcommands_did* did) {
  did->way = HGCOMMANDS_REFUSED;
  did->why = "it refuses every step";
  return hipSuccess;
}

void hgcommands_destroy(hgcommands* self) {
  delete self;
}

}  // extern "C"
