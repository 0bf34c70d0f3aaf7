// Definitions that the device sources of these tests share: CUDA-like C++ without a device library.
#pragma once

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long;
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long;

#define DEVICE static inline __attribute__((device))
#define OUT_OF_LINE static __attribute__((device, noinline))
#define KERNEL(name) extern "C" __attribute__((global)) void name
#define SHARED __attribute__((shared))

DEVICE u32 local_id() {
  return __builtin_amdgcn_workitem_id_x();
}
DEVICE u32 group_id() {
  return __builtin_amdgcn_workgroup_id_x();
}
DEVICE u32 group_size() {
  return __builtin_amdgcn_workgroup_size_x();
}
DEVICE u32 item() {
  return group_id() * group_size() + local_id();
}
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
