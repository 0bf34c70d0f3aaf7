/* The C ABI of a graph patcher, version 1, and of a command buffer, version 2 (at the end of this file): for testing
 * your own code that brings instantiated HIP graphs to new addresses (`hgcheck campaign --subject RUNTIME:lib=PATH`;
 * docs/check-your-own-patcher.md).
 *
 * A patcher is a shared library that exports, with C linkage, the functions under 'what the library exports'
 * (hgpatcher_launch may be left out). For each executable graph that is patched it gets the recorded graph
 * (hgpatcher_record), then each time the buffers that have moved (hgpatcher_patch). After other code has changed the
 * graph, through a setter or hipGraphExecUpdate, the patcher is destroyed, and hgpatcher_record is called again for a
 * new one.
 *
 * Its duty. After hgpatcher_patch returned HGPATCHER_DONE the executable graph must do what a graph freshly
 * recorded at the new addresses would do. If the patcher cannot know which fields move, or meets a kind of node that it
 * does not handle, it returns HGPATCHER_RECORD_AGAIN before it changes anything; the graph is then recorded again. A
 * failed HIP call is never ignored: it returns HGPATCHER_ROLLED_BACK if all is as before, else HGPATCHER_UNUSABLE.
 *
 * How it calls HIP. Through `hip->find` alone, which knows every HIP function of the runtime under test by name and
 * returns null for one that this runtime lacks. Do not link a HIP runtime: the one under test may be a model. HIP
 * functions may be called only from within the functions below, on the thread that called them.
 *
 * Ownership. All that hgpatcher_record and hgpatcher_patch are passed belongs to the caller and is valid only during
 * the call (`hip` and the memory behind it live as long as the patcher): copy the parts that are needed later. Handles
 * (graph, exec, nodes) stay the caller's; the graph outlives the patcher. The object that hgpatcher_record puts into
 * `*out` is the library's. hgpatcher_destroy gets it back before the executable graph is destroyed.
 *
 * Not required: thread safety (one call at a time, one patcher per executable graph), and patching a graph that is not
 * instantiated: such a graph (exec is null) is only passed to a library with HGPATCHER_WANTS_DEFINITIONS.
 */
#ifndef HIP_PATCHER_ABI_H
#define HIP_PATCHER_ABI_H

#include <hip/hip_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HGPATCHER_ABI_VERSION 1u

/* The data that the library wants: the lower 16 bits of hgpatcher_abi(). */
#define HGPATCHER_WANTS_RELOCATIONS                                                                                  \
  1u                                   /* else hgpatcher_node.relocations is null: the library finds pointers itself \
                                        */
#define HGPATCHER_WANTS_DEFINITIONS 2u /* hgpatcher_record may be called with a null exec: patch the graph itself */

typedef enum hgpatcher_status {
  HGPATCHER_DONE = 0,
  HGPATCHER_RECORD_AGAIN = 1, /* the patcher cannot do these moves: nothing was changed */
  HGPATCHER_ROLLED_BACK = 2,  /* a HIP call failed, everything is as before the patch */
  HGPATCHER_UNUSABLE = 3      /* a HIP call failed and the graph is neither old nor new */
} hgpatcher_status;

typedef void (*hgpatcher_function)(void);
typedef struct hgpatcher_hip {
  hgpatcher_function (*find)(const struct hgpatcher_hip* self, const char* name);
} hgpatcher_hip;

/* The field of a node that holds the address of `buffer` plus `addend`. */
typedef enum hgpatcher_field {
  HGPATCHER_KERNEL_ARGUMENT = 0, /* 8 bytes at `offset` of hgpatcher_kernel.block */
  HGPATCHER_COPY_DESTINATION = 1,
  HGPATCHER_COPY_SOURCE = 2,
  HGPATCHER_MEMSET_DESTINATION = 3
} hgpatcher_field;
typedef struct hgpatcher_relocation {
  uint32_t field; /* an hgpatcher_field */
  uint32_t offset;
  uint32_t buffer;
  int64_t addend;
} hgpatcher_relocation;

/* A kernel node: launch dimensions, and its arguments as one packed block in the kernel's own layout. */
typedef struct hgpatcher_kernel {
  hipFunction_t function; /* or a kernel's host function, which hipKernelNodeParams takes as well */
  dim3 grid, block;
  uint32_t shared_bytes;
  const void* arguments;
  size_t bytes;
  const uint32_t* offsets; /* of each argument in the block, */
  const uint32_t* sizes;   /* and its size */
  size_t count;
} hgpatcher_kernel;

typedef enum hgpatcher_kind {
  HGPATCHER_KERNEL = 0,
  HGPATCHER_COPY = 1,   /* `copy`; `linear`: it was added by the 1D form (extent.width bytes) and has to stay 1D */
  HGPATCHER_MEMSET = 2, /* `memset` */
  HGPATCHER_HOST = 3,   /* holds no buffer that moves */
  HGPATCHER_EMPTY = 4,
  HGPATCHER_CHILD = 5,        /* `child` */
  HGPATCHER_OPAQUE = 6,       /* its fields are unknown; `buffers` are those whose addresses it may hold */
  HGPATCHER_EVENT_RECORD = 7, /* `event`; holds no buffer */
  HGPATCHER_EVENT_WAIT = 8    /* `event`; holds no buffer */
} hgpatcher_kind;

typedef struct hgpatcher_node {
  hipGraphNode_t handle; /* as setters of the executable graph take it; null inside a child */
  uint32_t kind;         /* an hgpatcher_kind; says which members below are valid */
  int linear;
  hgpatcher_kernel kernel;
  hipMemcpy3DParms copy;
  hipMemsetParams memset;
  hipHostNodeParams host;
  hipEvent_t event;
  const struct hgpatcher_graph* child;
  const uint32_t* buffers;
  size_t buffer_count;
  const uint32_t* dependencies; /* indices of earlier nodes */
  size_t dependency_count;
  const hgpatcher_relocation* relocations; /* of this node's own fields; a child's are in the child */
  size_t relocation_count;
} hgpatcher_node;

typedef struct hgpatcher_graph {
  hipGraph_t handle;   /* null for a child */
  hipGraphExec_t exec; /* null: the definition is to be patched */
  const hgpatcher_node* nodes;
  size_t node_count;
  const uint64_t* addresses; /* each buffer's address, by its index; 0: it does not exist yet */
  const uint64_t* bytes;     /* each buffer's size, by its index; both null for a child */
  size_t buffer_count;
} hgpatcher_graph;

/* A buffer that has another address now. All moves of one patch happen at once. */
typedef struct hgpatcher_move {
  uint32_t buffer;
  uint64_t from, to, bytes;
} hgpatcher_move;

typedef struct hgpatcher hgpatcher; /* the library's own */

/* ---- what the library exports */

/* HGPATCHER_ABI_VERSION and the data that the library wants, as (version << 16 | wants); of version 2:
 * HGPATCHER_ABI_COMMANDS << 16, with what it asks for. */
uint32_t hgpatcher_abi(void);

/* A graph was recorded and instantiated. Returns hipSuccess; after an error the graph is recorded at each patch. */
hipError_t hgpatcher_record(const hgpatcher_hip* hip, const hgpatcher_graph* graph, hgpatcher** out);

/* Brings the executable graph to the buffers' new addresses. `error`: the error of the HIP call that failed, if any. */
hgpatcher_status hgpatcher_patch(hgpatcher* patcher, const hgpatcher_move* moves, size_t count, hipError_t* error);

void hgpatcher_destroy(hgpatcher* patcher);

/* Optional: launches the graph, for patchers that put off work until then. Without it, hipGraphLaunch is called. */
hipError_t hgpatcher_launch(hgpatcher* patcher, hipStream_t stream);

/* ---- version 2: commands, not moves
 *
 * A framework does not tell its command buffer which buffers have moved. At each step it hands over every command, in
 * order, with the command's complete new parameters, and launches. A library of version 2 is such a command buffer: it
 * makes, changes and launches executable graphs of its own, in any way it likes. In place of hgpatcher_record,
 * hgpatcher_patch, hgpatcher_launch and hgpatcher_destroy it exports the functions below, and hgpatcher_abi answers
 * with HGPATCHER_ABI_COMMANDS.
 *
 * An object is made for each executable graph of a program. Each launch of that graph is one step: hgcommands_begin,
 * hgcommands_update for each command in order, hgcommands_launch. Kinds, dependencies and the number of commands are
 * those of the step before, in nested command buffers too, unless hgcommands_begin says so; parameters, and what a
 * traced graph holds, may be others at each step. No steps are launches into a capture, and launches of graphs that are
 * not handed over: graphs with memory nodes, and programs with several devices unless the library asks for them
 * (HGCOMMANDS_SEVERAL_DEVICES); without that, all commands are of the device that hgcommands_create names.
 *
 * Its duty. After hgcommands_launch returned hipSuccess, the stream holds one launch that does what a graph freshly
 * recorded from this step's commands would do, behind the stream's earlier work. A failed HIP call is never ignored:
 * the function that made it returns its error, also where recording again or refusing would help; only
 * hgcommands_destroy cannot, and makes a refused call once more. A failed hipGraphLaunch launches nothing. After an
 * error the step is over: the program's next launch is the next step, from hgcommands_begin, which says again that
 * commands are others if the failed step had others. (An answer of hipGraphExecUpdate that the graphs do not fit,
 * hipErrorGraphExecUpdateFailure, is no failed call. No other refusal is excepted.) A library that cannot do these
 * commands answers HGCOMMANDS_REFUSED (and hipSuccess) before it launches anything: the caller then launches a graph of
 * its own. The earlier launch may still run when a step begins: its executable graph may be set, updated and destroyed.
 *
 * On the model a step that only sets nodes is looked into as a patch is, if nothing but addresses changed since the
 * library recorded last. Nodes are matched with commands by their order: record commands in their order, nested ones as
 * child graphs or in their place.
 *
 * Ownership: as in version 1. A command, nested ones too, and what it points at are valid until hgcommands_launch
 * returns. Threads: one call at a time for each object; while a call is inside a HIP function, another thread may call
 * the library with another object.
 */
#define HGPATCHER_ABI_COMMANDS 2u

/* A library of version 2 may ask for this in the lower 16 bits of hgpatcher_abi(). Commands may then be of several
 * devices, and streams of another device than the graph. A command's `device` has to be current while its node is added
 * or set. In hgcommands_create and in the calls of a step the stream's device is current, in hgcommands_destroy any
 * device; the library leaves the current device as it was. */
#define HGCOMMANDS_SEVERAL_DEVICES 1u

typedef struct hgcommands_command {
  hgpatcher_node node; /* `handle`, `child`, `buffers` and `relocations` are null; dependencies: earlier commands */
  int device;          /* that is current when a framework records the command */
  const struct hgcommands_command* nested; /* of HGPATCHER_CHILD: the commands of a nested command buffer */
  size_t nested_count;
  /* With HGPATCHER_OPAQUE: a graph to add as a child. It holds a traced command, or one node that this file has no
   * struct for (a batch, semaphores, a copy of a symbol, a kernel with attributes). A new graph at each step, the
   * caller's, destroyed when hgcommands_launch has returned: the library may neither launch nor keep it. */
  hipGraph_t traced;
} hgcommands_command;

typedef enum hgcommands_way {
  HGCOMMANDS_LAUNCHED = 0, /* nothing had to be changed */
  HGCOMMANDS_SET = 1,      /* by setters: `nodes` calls of them */
  HGCOMMANDS_UPDATED = 2,  /* by hipGraphExecUpdate */
  HGCOMMANDS_RECORDED = 3, /* recorded and instantiated, as at the first step */
  HGCOMMANDS_REFUSED = 4   /* nothing was done: `why`, the library's text, valid until the next call */
} hgcommands_way;
typedef struct hgcommands_did { /* all zero when hgcommands_launch is called; what it says is counted, not checked */
  uint32_t way;                 /* an hgcommands_way; of several, the last one in that list */
  uint32_t nodes;               /* setters called, with HGCOMMANDS_SET */
  const char* why;              /* with HGCOMMANDS_REFUSED */
} hgcommands_did;

typedef struct hgcommands hgcommands; /* the library's own */

/* `device`: of the graph; current in every call, unless the library asks for several. hipErrorNotSupported: the
 * runtime lacks a function that the library needs, and the program counts as unsupported. Any other error is that of
 * the launch; the next launch tries again. */
hipError_t hgcommands_create(const hgpatcher_hip* hip, int device, hgcommands** out);

/* `other_commands` is not zero: kinds, dependencies or the number of commands changed since the last step. */
hipError_t hgcommands_begin(hgcommands* commands, size_t count, int other_commands);

hipError_t hgcommands_update(hgcommands* commands, size_t index, const hgcommands_command* command);

hipError_t hgcommands_launch(hgcommands* commands, hipStream_t stream, hgcommands_did* did);

/* Called when no launch runs any more. */
void hgcommands_destroy(hgcommands* commands);

#ifdef __cplusplus
}
#endif

#endif
