// Host memory that a device can reach: writes of the host between two calls of HIP are part of a program, and no call
// shows them.
//
// Ranges come from calls that allocate pinned and managed memory and from pageable ranges that asynchronous copies name
// (adopted). Each range is compared before work is given to the device: if it has changed since the device was last
// waited for, it is written to the log, in full or as a hash (log.h). A range that no work of the device may write to
// is compared when the device was waited for, too: the host may fill it while the device works. Thread-safe.
#pragma once

#include <cstddef>

namespace hip::recorder {

// Holds the lock of this file while the process forks; see recorder.cpp. A child has no ranges: runtimes do not let it
// have the memory that they allocated (madvise, MADV_DONTFORK).
void hold_host_memory();
void let_go_of_host_memory(bool in_child);

void host_range_begins(const void* address, std::size_t bytes);
void host_range_ends(const void* address);
// HIP refused the call for which this thread ended the range last: the range goes on.
void host_range_kept(const void* address);
// Adds a pageable range that a copy names, unless a known range holds it already. `room`: bytes behind it that belong
// to its last row and that the copy does not reach.
void adopt(const void* address, std::size_t bytes, std::size_t room = 0);
// Logs the ranges that changed since the device was last waited for.
void write_changes();
// Work that the program gives to the device, now or later, may write to the range of this address.
void device_may_write(const void* address);
// The same, of work whose arguments are not known.
void device_may_write_anywhere();
// Around a call that writes to the range of this address, if at all, and is over when it returns.
void device_begins_to_write(const void* address);
void device_wrote(const void* address);
// The device may have written to ranges: their present bytes do not count as changes of the host.
void device_waited_for();

}  // namespace hip::recorder
