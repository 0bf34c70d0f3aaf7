// Kernels whose work items meet: LDS, barriers, atomic operations, lane exchange, flat pointers, the whole grid.
#include "device.h"

constexpr u32 kMaxGroup = 1024;

// --- LDS and barriers ---

// out[g] = the sum of the workgroup's elements; the workgroup's size is any up to 1024.
KERNEL(group_sum)(u64* out, const u64* in) {
  SHARED u64 partial[kMaxGroup];
  const u32 me = local_id();
  partial[me] = in[item()];
  for (u32 width = kMaxGroup / 2; width > 0; width /= 2) {
    barrier();
    if (me < width && me + width < group_size()) partial[me] += partial[me + width];
  }
  if (me == 0) out[group_id()] = partial[0];
}

// The workgroup's bytes, backward, through LDS whose size the launch gives.
extern SHARED u8 dynamic_bytes[];
KERNEL(group_reverse)(u8* out, const u8* in) {
  const u32 me = local_id();
  dynamic_bytes[me] = in[item()];
  barrier();
  out[item()] = dynamic_bytes[group_size() - 1 - me];
}

// Different widths in LDS, and work items that leave before the last barrier.
struct Wide {
  u32 words[4];
};
KERNEL(group_mixed)(u64* out, const u64* in) {
  SHARED Wide wide[256];
  SHARED u16 shorts[256];
  SHARED double doubles[256];
  const u32 me = local_id();
  const u64 x = in[item()];
  wide[me] = Wide{{(u32)x, (u32)(x >> 32), me, ~me}};
  shorts[me] = (u16)(x >> 16);
  doubles[me] = (double)(x >> 12);
  barrier();
  const u32 other = me ^ 1;
  if (other >= group_size()) return;
  const Wide w = wide[other];
  barrier();
  out[item()] = w.words[0] + ((u64)w.words[1] << 32) + w.words[2] + (w.words[3] ^ (u64)(i64)(i16)shorts[other]) +
                (u64)(doubles[other] * 0.5);
}

// --- atomic operations ---

#define AT_AGENT __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT
#define IN_GROUP __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP

KERNEL(atomics_global)(u32* words, u64* wides, float* floats, double* doubles, const u64* in) {
  const u64 x = in[item()];
  __hip_atomic_fetch_add(&words[0], (u32)x, AT_AGENT);
  __hip_atomic_fetch_min(&words[1], (u32)x, AT_AGENT);
  __hip_atomic_fetch_max(&words[2], (u32)x, AT_AGENT);
  __hip_atomic_fetch_min((i32*)&words[3], (i32)x, AT_AGENT);
  __hip_atomic_fetch_max((i32*)&words[4], (i32)x, AT_AGENT);
  __hip_atomic_fetch_and(&words[5], (u32)x | 0xff00ff00, AT_AGENT);
  __hip_atomic_fetch_or(&words[6], (u32)x & 0x0ff00ff0, AT_AGENT);
  __hip_atomic_fetch_xor(&words[7], (u32)x, AT_AGENT);
  __hip_atomic_fetch_sub(&words[8], (u32)x, AT_AGENT);
  __hip_atomic_fetch_add(&wides[0], x, AT_AGENT);
  __hip_atomic_fetch_min(&wides[1], x, AT_AGENT);
  __hip_atomic_fetch_max((i64*)&wides[2], (i64)x, AT_AGENT);
  __hip_atomic_fetch_xor(&wides[3], x, AT_AGENT);
  // Whole numbers, so that the order of the additions does not matter.
  __hip_atomic_fetch_add(floats, (float)(x & 15), AT_AGENT);
  __hip_atomic_fetch_add(doubles, (double)(x & 0xffff), AT_AGENT);
}

// Every work item gets a ticket of its own; the tickets are all of 0 to n - 1.
KERNEL(atomics_tickets)(u32* counter, u32* out) {
  out[item()] = __hip_atomic_fetch_add(counter, 1, AT_AGENT);
}

// A product by compare-and-swap, and the last one to exchange.
KERNEL(atomics_swap)(u64* product, u32* small_product, u32* last, const u64* in) {
  const u64 factor = in[item()] | 1;
  u64 seen = __hip_atomic_load(product, AT_AGENT);
  while (!__hip_atomic_compare_exchange_strong(product, &seen, seen * factor, __ATOMIC_RELAXED, AT_AGENT)) {}
  u32 seen32 = __hip_atomic_load(small_product, AT_AGENT);
  while (!__hip_atomic_compare_exchange_strong(small_product, &seen32, seen32 * (u32)factor, __ATOMIC_RELAXED,
                                               AT_AGENT)) {}
  __hip_atomic_exchange(last, item() + 1, AT_AGENT);
}

KERNEL(atomics_histogram)(u32* out, const u64* in) {
  SHARED u32 bins[64];
  SHARED u64 total;
  SHARED float most;
  const u32 me = local_id();
  for (u32 i = me; i < 64; i += group_size()) bins[i] = 0;
  if (me == 0) {
    total = 0;
    most = 0;
  }
  barrier();
  const u64 x = in[item()];
  __hip_atomic_fetch_add(&bins[x % 64], 1, IN_GROUP);
  __hip_atomic_fetch_add(&total, x, IN_GROUP);
  __hip_atomic_fetch_max(&most, (float)(x % 1000), IN_GROUP);
  barrier();
  for (u32 i = me; i < 64; i += group_size()) __hip_atomic_fetch_add(&out[i], bins[i], AT_AGENT);
  if (me == 0) {
    __hip_atomic_fetch_add(&out[64], (u32)(total ^ total >> 32), AT_AGENT);
    __hip_atomic_fetch_max(&out[65], (u32)most, AT_AGENT);
  }
}

// --- lanes; out has 16 words a work item, the workgroup is one whole wave ---

KERNEL(lanes)(u32* out, const u32* in) {
  const u32 me = local_id();
  const i32 x = (i32)in[me];
  i32* o = (i32*)out + 16 * me;
  o[0] = __builtin_amdgcn_ds_bpermute((i32)(4 * ((me * 7 + 3) & 63)), x);
  o[1] = __builtin_amdgcn_ds_permute((i32)(4 * ((me + 5) & 63)), x);
  o[2] = __builtin_amdgcn_readlane(x, 37);
  o[3] = __builtin_amdgcn_readfirstlane(x);
  o[4] = __builtin_amdgcn_update_dpp(-1, x, 0x111, 0xf, 0xf, false);   // row_shr:1
  o[5] = __builtin_amdgcn_update_dpp(-1, x, 0x102, 0xf, 0xf, true);    // row_shl:2
  o[6] = __builtin_amdgcn_update_dpp(-1, x, 0x121, 0xf, 0xf, false);   // row_ror:1
  o[7] = __builtin_amdgcn_update_dpp(-1, x, 0x1b, 0xf, 0xf, false);    // quad_perm:[3,2,1,0]
  o[8] = __builtin_amdgcn_update_dpp(-1, x, 0x140, 0x5, 0xf, false);   // row_mirror, rows 0 and 2
  o[9] = __builtin_amdgcn_update_dpp(-1, x, 0x141, 0xf, 0x3, false);   // row_half_mirror, banks 0 and 1
  o[10] = __builtin_amdgcn_update_dpp(-1, x, 0x142, 0xa, 0xf, false);  // row_bcast:15 into rows 1 and 3
  o[11] = __builtin_amdgcn_ds_swizzle(x, 0x041f);                      // xor with 1, in groups of 32
  o[12] = __builtin_amdgcn_ds_swizzle(x, 0x8000 | 0x4e);               // quads, [2,3,0,1]
  o[13] = (i32)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  const u64 odd = __builtin_amdgcn_ballot_w64((x & 1) != 0);
  o[14] = __builtin_popcountl(odd);
  o[15] = (i32)((odd >> me & 1) + 2 * (u64)(__builtin_amdgcn_ballot_w64(x > 0) == ~0ul));
}

// Sums over the active lanes of a wave that has diverged, by exchange in halves.
KERNEL(lanes_diverged)(u32* out, const u32* in) {
  const u32 me = local_id();
  const u32 x = in[me];
  if (x % 3 != 0) {
    u64 active = __builtin_amdgcn_ballot_w64(true);
    u32 sum = 0;
    while (active != 0) {
      const u32 lane = (u32)__builtin_ctzl(active);
      sum += (u32)__builtin_amdgcn_readlane((i32)x, (i32)lane);
      active &= active - 1;
    }
    out[me] = sum;
  } else {
    out[me] = x / 3;
  }
}

// --- flat pointers ---

DEVICE u64 read_anywhere(const volatile u64* at) {
  return *at;
}
KERNEL(flat_pointers)(u64* out, const u64* in) {
  SHARED u64 local_copy[256];
  const u32 me = local_id();
  u64 mine[4] = {in[item()], me, 3 * me, ~0ul};
  local_copy[me] = 1000 + me;
  barrier();
  const u64 choice = in[item()] % 3;
  const u64* at = choice == 0 ? &in[item()] : (choice == 1 ? &local_copy[group_size() - 1 - me] : &mine[me % 4]);
  u64* to = choice == 2 ? &mine[(me + 1) % 4] : &out[item()];
  const u64 value = read_anywhere(at);
  *(volatile u64*)to = value;
  if (choice == 2) out[item()] = mine[0] + mine[1] + mine[2] + mine[3];
}

// --- three dimensions ---

KERNEL(dimensions)(u32* out, u32 width, u32 height) {
  const u32 x =
      __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  const u32 y =
      __builtin_amdgcn_workgroup_id_y() * __builtin_amdgcn_workgroup_size_y() + __builtin_amdgcn_workitem_id_y();
  const u32 z =
      __builtin_amdgcn_workgroup_id_z() * __builtin_amdgcn_workgroup_size_z() + __builtin_amdgcn_workitem_id_z();
  __hip_atomic_fetch_add(&out[(z * height + y) * width + x],
                         x + 1000 * y + 1000000 * z + __builtin_amdgcn_grid_size_y(), AT_AGENT);
}

// --- the whole grid ---

// Every workgroup waits for all others, `rounds` times; out[g] is what its neighbour wrote in the last round.
KERNEL(grid_barrier)(u32* arrived, u32* slots, u32* out, u32 groups, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    if (local_id() == 0) {
      slots[group_id()] = round * 100 + group_id();
      __hip_atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
      while (__hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < (2 * round + 1) * groups) {
        __builtin_amdgcn_s_sleep(2);
      }
      out[group_id()] = slots[(group_id() + 1) % groups];
      __hip_atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
      while (__hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < (2 * round + 2) * groups) {}
    }
    barrier();
  }
}
