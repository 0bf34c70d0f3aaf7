/* Functions of the software gfx942 beside HSA's own: options, deliberate faults, counters. Plain C.
 *
 * The library is loaded by AMD's runtime; a program that wants other options than the defaults finds these functions
 * with dlsym before its first HIP call. hgagent_configure takes effect
 *   - for everything, when it is called before hsa_init (that is, before the first HIP call);
 *   - afterwards for schedule_seed, max_delay_us, max_delays, instruction_budget, tell_of_faults,
 *     device_memory_bytes and the fail_* counts; the others must be the same as before, or no option changes and the
 * result is not 0. All functions may be called from any thread. No environment variable is read.
 */
#ifndef HGCHECK_HIP_AGENT_CONFIGURE_H
#define HGCHECK_HIP_AGENT_CONFIGURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HGAGENT_MAX_AGENTS 8

typedef struct hgagent_options {
  uint32_t size;   /* sizeof(hgagent_options): a caller compiled against another version is refused */
  uint32_t agents; /* gfx942 agents, 1 to HGAGENT_MAX_AGENTS */
  /* The seed by which work that no packet and no signal orders is delayed and reordered; 0: no deliberate delays.
   * The same seed repeats every decision that the agent makes (they are functions of the seed, the queue, the packet
   * and the like, never of time). Threads of the runtime and of the operating system are not controlled: a program
   * with a single host thread repeats, as far as its own results do not depend on time. See docs/agent.md. */
  uint64_t schedule_seed;
  uint32_t max_delay_us; /* of one delay */
  /* 0: addresses of freed memory are used again at once, last in first out, as real allocators do.
   * 1: freed memory stays inaccessible for as long as possible, so that a stale pointer faults. */
  uint32_t quarantine;
  uint64_t instruction_budget; /* wave instructions of one kernel launch */
  uint32_t compute_units;      /* reported for each agent; AMD's copy and fill kernels start so many workgroups */
  /* A runtime without a handler of system events (HIP 6.4) ends the process when a fault of a kernel is reported to
   * it. 0: faults are not reported to it; 1: they are, as on a real GPU. */
  uint32_t tell_of_faults;
  /* The N-th call of this kind from now on fails, once; 0: none does. */
  uint64_t fail_allocation;
  uint64_t fail_queue;
  uint64_t fail_signal;
  uint64_t fail_code_object;
  uint64_t device_memory_bytes; /* of each agent, virtual memory's handles included; allocations beyond it fail */
  /* Deliberate delays until the next hgagent_configure, of all threads together; 0: no bound. Time decides which
   * thread has the last ones. */
  uint64_t max_delays;
  /* 1: the threads of the host that wait step the machine, instead of a thread for each queue and engine; see
   * docs/agent.md. The same seed then repeats the order of all steps, as far as the host's calls are the same. */
  uint32_t stepped;
} hgagent_options;

enum hgagent_counter {
  HGAGENT_ALLOCATIONS = 0, /* live, of memory pools */
  HGAGENT_ALLOCATED_BYTES, /* their sizes */
  HGAGENT_SIGNALS,         /* live */
  HGAGENT_QUEUES,          /* live */
  HGAGENT_EXECUTABLES,     /* live */
  HGAGENT_LOCKS,           /* live ranges of registered host memory */
  HGAGENT_RESERVATIONS,    /* live ranges of reserved addresses (virtual memory management) */
  HGAGENT_MEMORY_HANDLES,  /* live handles of physical memory (virtual memory management) */
  HGAGENT_THREADS,         /* of the agent: queues, copy engines, signal handlers */
  HGAGENT_DISPATCHES,      /* kernels run since hsa_init */
  HGAGENT_INSTRUCTIONS,    /* wave instructions executed since hsa_init */
  HGAGENT_COPIES,          /* copies done by engines since hsa_init */
  HGAGENT_FAULTS,          /* faults of kernels and copies since hsa_init */
  HGAGENT_DECODED_OBJECTS, /* code objects read since the library was loaded; one that is kept is not read again */
  HGAGENT_FAILED_CALLS,    /* calls that failed because of a fail_* count, since the library was loaded */
  HGAGENT_COUNTERS
};

/* The defaults: one agent, no seed, no quarantine, no faults. */
void hgagent_defaults(struct hgagent_options* options);
/* Returns 0, or the number (from 1) of the first field that is refused. */
int hgagent_configure(const struct hgagent_options* options);
/* The text of the last fault of a kernel or copy: kernel, instruction, address, and the allocation that the address
 * used to belong to. Returns its length; writes at most `size` bytes, the last of them 0. 0: there was no fault. */
size_t hgagent_last_fault(char* text, size_t size);
/* The value of a counter of `enum hgagent_counter`; 0 for any other number. */
uint64_t hgagent_counters(uint32_t counter);

/* What the runtime does from here on is noted, and what was noted before is forgotten. */
void hgagent_signature_begin(void);
/* The signature since hgagent_signature_begin (hip/agent/signature.h), which ends with this call: different numbers,
 * ascending. Returns how many there are; writes at most `size` of them. */
size_t hgagent_signature(uint16_t* features, size_t size);

/* For a process that forks. hgagent_rest ends the agent's threads and returns 0, or 1 while work is under way; the
 * runtime above must have no thread of its own. hgagent_wake starts them again, in the process or in its child, which
 * goes on with its copy of the device's memory. Nothing else may be called in between. Virtual memory's handles stay
 * common to both, and so does memory that has an IPC handle or was attached with one. */
int hgagent_rest(void);
void hgagent_wake(void);

/* For a thread that waits in a way that the machine does not see, in a loop that yields: makes one step of a stepped
 * machine. Returns 1 if there was one to make, otherwise 0. */
int hgagent_step(void);

#ifdef __cplusplus
}
#endif

#endif
