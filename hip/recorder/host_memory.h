// Host memory that a device can reach: what the host wrote into it between two calls of HIP is part of what a program
// does, and no call says so.
//
// Ranges come from what allocates pinned and managed memory and from pageable ranges that asynchronous copies name
// (adopted). Before work is given to the device each range is looked at: one that holds something else than when the
// device was last waited for is written to the log, in full up to kMaxDataBytes. Thread-safe.
#pragma once

#include <cstddef>

namespace hip::recorder {

void host_range_begins(const void* address, std::size_t bytes);
void host_range_ends(const void* address);
// A pageable range of a copy, unless one holds it already.
void adopt(const void* address, std::size_t bytes);
// Writes what changed since the device was waited for.
void write_changes();
// From now on the bytes may be the device's.
void device_waited_for();

}  // namespace hip::recorder
