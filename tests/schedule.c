// Preloaded into a program that knows nothing of hgcheck, so that the software gfx942 delays and reorders its work.
//
//   HGCHECK_SCHEDULE=SEED:MICROSECONDS[:DEVICES[:STEPPED]] LD_PRELOAD=libhgschedule.so
//       .capsule/7.2/bin/run --agent build/lib/agent PROGRAM
//
// The environment is the only thing that reaches such a program before its first HIP call. Where the agent is not
// loaded (the shell that starts the program), nothing happens.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "hip/agent/configure.h"

__attribute__((constructor)) static void choose_schedule(void) {
  void (*defaults)(hgagent_options*) = (void (*)(hgagent_options*))dlsym(RTLD_DEFAULT, "hgagent_defaults");
  int (*configure)(const hgagent_options*) = (int (*)(const hgagent_options*))dlsym(RTLD_DEFAULT, "hgagent_configure");
  const char* text = getenv("HGCHECK_SCHEDULE");
  if (defaults == NULL || configure == NULL || text == NULL) return;
  hgagent_options options;
  defaults(&options);
  const int fields = sscanf(text, "%" SCNu64 ":%" SCNu32 ":%" SCNu32 ":%" SCNu32, &options.schedule_seed,
                            &options.max_delay_us, &options.agents, &options.stepped);
  const int refused = fields >= 2 ? configure(&options) : -1;
  if (refused == 0) return;
  fprintf(stderr, "libhgschedule: HGCHECK_SCHEDULE=%s is refused (%d); it is SEED:MICROSECONDS[:DEVICES[:STEPPED]]\n",
          text, refused);
  abort();
}
