// Accesses of 12 and 16 bytes, buffers with descriptors, scalar buffer loads, and loads to LDS, by inline assembly.
#include "device.h"

typedef u32 Dwords2 __attribute__((ext_vector_type(2)));
typedef u32 Dwords3 __attribute__((ext_vector_type(3)));
typedef u32 Dwords4 __attribute__((ext_vector_type(4)));

#define WAIT "\ns_waitcnt vmcnt(0) lgkmcnt(0)"

// --- indivisible pieces: {i, i, ~i, ~i} again and again; the reader counts pieces whose halves differ ---

KERNEL(write_four)(u32* at, u32 n) {
  for (u32 i = 0; i < n; ++i) {
    const Dwords4 value = {i, i, ~i, ~i};
    asm volatile("global_store_dwordx4 %0, %1, off" WAIT ::"v"(at), "v"(value) : "memory");
  }
}
KERNEL(write_three)(u32* at, u32 n) {
  for (u32 i = 0; i < n; ++i) {
    const Dwords3 value = {i, i, i};
    asm volatile("global_store_dwordx3 %0, %1, off" WAIT ::"v"(at), "v"(value) : "memory");
  }
}
KERNEL(read_four)(const u32* at, u32* torn, u32 n) {
  u32 count = 0;
  for (u32 i = 0; i < n; ++i) {
    Dwords4 value;
    asm volatile("global_load_dwordx4 %0, %1, off" WAIT : "=&v"(value) : "v"(at) : "memory");
    if (value.x != value.y || value.z != value.w) ++count;
  }
  *torn = count;
}

// --- buffers ---

// OFF, OFFEN, IDXEN and BOTH are the ways to give an address: %1 is the offset, %2 the index, %3 both.
#define BUFFER_LOADS(LOAD)                                                           \
  LOAD(dword_off, u32, "buffer_load_dword %0, off, %4, %5 offset:20")                \
  LOAD(dword_offen, u32, "buffer_load_dword %0, %1, %4, %5 offen")                   \
  LOAD(dword_idxen, u32, "buffer_load_dword %0, %2, %4, %5 idxen offset:20")         \
  LOAD(dwordx2_both, Dwords2, "buffer_load_dwordx2 %0, %3, %4, %5 idxen offen")      \
  LOAD(dwordx3_offen, Dwords3, "buffer_load_dwordx3 %0, %1, %4, %5 offen offset:20") \
  LOAD(dwordx4_offen, Dwords4, "buffer_load_dwordx4 %0, %1, %4, %5 offen")           \
  LOAD(dwordx4_both, Dwords4, "buffer_load_dwordx4 %0, %3, %4, %5 idxen offen")      \
  LOAD(ubyte_offen, u32, "buffer_load_ubyte %0, %1, %4, %5 offen")                   \
  LOAD(sbyte_offen, u32, "buffer_load_sbyte %0, %1, %4, %5 offen")                   \
  LOAD(ushort_idxen, u32, "buffer_load_ushort %0, %2, %4, %5 idxen")                 \
  LOAD(sshort_offen, u32, "buffer_load_sshort %0, %1, %4, %5 offen sc0 nt")          \
  LOAD(short_d16, u32, "buffer_load_short_d16 %0, %1, %4, %5 offen")                 \
  LOAD(short_d16_hi, u32, "buffer_load_short_d16_hi %0, %1, %4, %5 offen")           \
  LOAD(ubyte_d16_hi, u32, "buffer_load_ubyte_d16_hi %0, %1, %4, %5 offen")           \
  LOAD(sbyte_d16, u32, "buffer_load_sbyte_d16 %0, %1, %4, %5 offen")

#define LOAD(id, T, text)                                                                                   \
  KERNEL(buffer_load_##id)(T * out, const u32* offsets, const u32* indices, Dwords4 resource, u32 scalar) { \
    const u32 offset = offsets[item()], index = indices[item()];                                            \
    const u64 both = (u64)offset << 32 | index;                                                             \
    T result = {};                                                                                          \
    asm volatile(text WAIT                                                                                  \
                 : "+&v"(result)                                                                            \
                 : "v"(offset), "v"(index), "v"(both), "s"(resource), "s"(scalar)                           \
                 : "memory");                                                                               \
    out[item()] = result;                                                                                   \
  }
BUFFER_LOADS(LOAD)

#define BUFFER_STORES(STORE)                                                      \
  STORE(dword_offen, u32, "buffer_store_dword %0, %1, %4, %5 offen")              \
  STORE(dwordx2_both, Dwords2, "buffer_store_dwordx2 %0, %3, %4, %5 idxen offen") \
  STORE(dwordx3_offen, Dwords3, "buffer_store_dwordx3 %0, %1, %4, %5 offen")      \
  STORE(dwordx4_offen, Dwords4, "buffer_store_dwordx4 %0, %1, %4, %5 offen")      \
  STORE(byte_offen, u32, "buffer_store_byte %0, %1, %4, %5 offen")                \
  STORE(byte_d16_hi, u32, "buffer_store_byte_d16_hi %0, %1, %4, %5 offen")        \
  STORE(short_idxen, u32, "buffer_store_short %0, %2, %4, %5 idxen")              \
  STORE(short_d16_hi, u32, "buffer_store_short_d16_hi %0, %1, %4, %5 offen")

#define STORE(id, T, text)                                                                                           \
  KERNEL(buffer_store_##id)(const T* in, const u32* offsets, const u32* indices, Dwords4 resource, u32 scalar) {     \
    const u32 offset = offsets[item()], index = indices[item()];                                                     \
    const u64 both = (u64)offset << 32 | index;                                                                      \
    const T value = in[item()];                                                                                      \
    asm volatile(text WAIT ::"v"(value), "v"(offset), "v"(index), "v"(both), "s"(resource), "s"(scalar) : "memory"); \
  }
BUFFER_STORES(STORE)

KERNEL(buffer_add)(u32* before, const u32* offsets, const u32* values, Dwords4 resource, u32 scalar) {
  u32 data = values[item()];
  asm volatile("buffer_atomic_add %0, %1, %2, %3 offen sc0" WAIT
               : "+&v"(data)
               : "v"(offsets[item()]), "s"(resource), "s"(scalar)
               : "memory");
  before[item()] = data;
}
KERNEL(buffer_compare_swap)(u64* before, const u32* offsets, const u64* values, Dwords4 resource, u32 scalar) {
  // The new value, then the value to compare with.
  const u64 compared = values[item()], fresh = compared * 3;
  Dwords4 data = {(u32)fresh, (u32)(fresh >> 32), (u32)compared, (u32)(compared >> 32)};
  asm volatile("buffer_atomic_cmpswap_x2 %0, %1, %2, %3 offen sc0" WAIT
               : "+&v"(data)
               : "v"(offsets[item()]), "s"(resource), "s"(scalar)
               : "memory");
  before[item()] = (u64)data.y << 32 | data.x;
}

// LDS is filled by the load alone: a work item's dword is behind the 64 bytes of M0 and the 20 of the instruction.
KERNEL(buffer_to_lds)(u32* out, const u32* offsets, Dwords4 resource, u32 scalar) {
  SHARED volatile u32 words[128];
  for (u32 i = 0; i < 128; i += 64) words[local_id() + i] = 0xdead0000 + i;
  barrier();
  const u32 place = (u32)(u64)(__attribute__((address_space(3))) volatile u32*)words + 64;
  asm volatile("s_mov_b32 m0, %0\nbuffer_load_ushort %1, %2, %3 offen offset:20 lds" WAIT ::"s"(
                   (u32)__builtin_amdgcn_readfirstlane((i32)place)),
               "v"(offsets[item()]), "s"(resource), "s"(scalar)
               : "memory");
  barrier();
  for (u32 i = 0; i < 128; i += 64) out[local_id() + i] = words[local_id() + i];
}
KERNEL(global_to_lds)(u32* out, const u32* in) {
  SHARED volatile u32 words[64];
  words[local_id()] = 7;
  barrier();
  const u32 place = (u32)(u64)(__attribute__((address_space(3))) volatile u32*)words;
  asm volatile(
      "s_mov_b32 m0, %0\nglobal_load_lds_dword %1, off" WAIT ::"s"((u32)__builtin_amdgcn_readfirstlane((i32)place)),
      "v"(in + 63 - local_id())
      : "memory");
  barrier();
  out[local_id()] = words[local_id()];
}

// --- scalar buffer loads ---

KERNEL(scalar_buffer)(u32* out, Dwords4 resource, u32 offset) {
  u32 one;
  Dwords4 four;
  asm volatile("s_buffer_load_dword %0, %2, %3 offset:0x8\ns_buffer_load_dwordx4 %1, %2, %3" WAIT
               : "=&s"(one), "=&s"(four)
               : "s"(resource), "s"(offset));
  const u32 all[5] = {one, four.x, four.y, four.z, four.w};
  for (u32 i = 0; i < 5; ++i) out[i] = all[i];
}
