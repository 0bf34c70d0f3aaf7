// The resources that this process and a HIP runtime hold, as any client can count them (P8).
#pragma once

#include <vector>

#include "hip/api/api.h"
#include "verify/execute/observation.h"

namespace verify {

// The names of what the process and the runtime hold.
inline constexpr const char *kHeapBytes = "bytes of the heap", *kResidentBytes = "resident bytes";
inline constexpr const char *kAllocations = "allocations", *kBytesOfMemory = "bytes of memory";
inline constexpr const char* kBytesOfTheDevice = "bytes of the device";
inline constexpr const char *kFileDescriptors = "file descriptors", *kThreads = "threads";

// Bytes of the heap and of resident memory, file descriptors, threads. Under sanitizers, which keep freed memory, no
// resident memory.
[[nodiscard]] std::vector<Held> held_by_the_process();

// Memory of the current device that is in use: all of it, of the default memory pool and of graphs. Only what the
// runtime answers.
[[nodiscard]] std::vector<Held> reported_by_the_runtime(const hip::Api& api);

}  // namespace verify
