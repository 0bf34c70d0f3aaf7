// Kernels for the agent's own tests. Compiled for gfx942 only, without any header.
#define KERNEL extern "C" __attribute__((global)) void

using u32 = unsigned;
using u64 = unsigned long;

extern "C" __attribute__((device)) u32 table[4] = {10, 20, 30, 40};
extern "C" __attribute__((device)) u32* pointer_to_table = &table[1];

static __attribute__((device)) u32 item() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
}

KERNEL store_index(u32* to, u32 count) {
  const u32 i = item();
  if (i < count) to[i] = i;
}

KERNEL store_value(u32* to, u32 value) {
  *to = value;
}

KERNEL copy_value(u32* to, const u32* from) {
  *to = *from;
}

KERNEL add_table(u32* to) {
  const u32 i = item();
  if (i < 4) to[i] += table[i] + *pointer_to_table;
}

KERNEL count_atomically(u32* counter, u32 times) {
  for (u32 i = 0; i < times; ++i) __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

// Counts until somebody else stores something; then adds up how often each item did.
KERNEL count_until_store(u32* counter, u32* flag, u32* counted) {
  u32 times = 0;
  do {
    __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    ++times;
  } while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0);
  __hip_atomic_fetch_add(counted, times, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

// Appends `value` to a list that starts with its length.
KERNEL append(u32* list, u32 value) {
  if (item() != 0) return;
  const u32 at = __hip_atomic_fetch_add(list, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  list[1 + at] = value;
}

// Ends when somebody else stores something.
KERNEL wait_for_store(u32* flag, u32* seen) {
  u32 value = 0;
  while ((value = __hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM)) == 0)
    __builtin_amdgcn_s_sleep(1);
  *seen = value;
}

KERNEL store_and_wait(u32* mine, u32* others) {
  __hip_atomic_store(mine, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  while (__hip_atomic_load(others, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0) __builtin_amdgcn_s_sleep(1);
}

KERNEL trap(u32*) {
  __builtin_trap();
}

KERNEL spin_forever(u32*) {
  for (;;) __builtin_amdgcn_s_sleep(1);
}

// The device library's steps for a signal: the value, then the mailbox, then the interrupt.
KERNEL signal_add(u64* value, u64* mailbox, u32 id) {
  __hip_atomic_fetch_add(value, 1ul, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  __hip_atomic_store(mailbox, id, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
  __builtin_amdgcn_s_sendmsg(1, id);
}

// Workgroups that wait for each other: all of them must be under way.
KERNEL meet(u32* arrived, u32 groups, u32* out) {
  if (__builtin_amdgcn_workitem_id_x() == 0) {
    __hip_atomic_fetch_add(arrived, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
    while (__hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < groups) __builtin_amdgcn_s_sleep(1);
    out[__builtin_amdgcn_workgroup_id_x()] = 1;
  }
}

KERNEL read_packet(u32* to) {
  const auto* packet = (const u32*)__builtin_amdgcn_dispatch_ptr();
  *to = packet[3];  // grid_size_x
}
