// The functions of libhgmodel.so besides HIP's own: options, and the model's observations.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HgModelOptions {
  int devices;                       // 1 to 64
  unsigned long long schedule_seed;  // 0: in order of addition
  int detect_races;                  // 0: off
} HgModelOptions;

// Sets the options, before the first call of HIP. Returns hipSuccess (0), hipErrorInvalidValue, or, after that call,
// hipErrorSetOnActiveProcess.
int hgmodel_configure(const HgModelOptions* options);

// The number of data races seen so far.
unsigned long long hgmodel_races_seen(void);

// The text of the fault, cut to `size` with a final 0; returns its whole length, 0 without a fault.
size_t hgmodel_fault_text(char* text, size_t size);

#ifdef __cplusplus
}
#endif
