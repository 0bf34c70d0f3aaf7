// kernels.inc for NVIDIA's GPUs, as PTX. Freestanding: no CUDA and no device library, so that any clang with the
// nvptx64 target compiles it. Parameters lie as on gfx942: each at the next multiple of its natural alignment.

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

template <class T>
using Ptr = T*;

#define HG_KERNEL(name) extern "C" __attribute__((nvptx_kernel)) void name
#define HG_INLINE static inline __attribute__((always_inline))

HG_INLINE u64 first_item() {
  return static_cast<u64>(__nvvm_read_ptx_sreg_ctaid_x()) * __nvvm_read_ptx_sreg_ntid_x() +
         __nvvm_read_ptx_sreg_tid_x();
}
HG_INLINE u64 stride() {
  return static_cast<u64>(__nvvm_read_ptx_sreg_nctaid_x()) * __nvvm_read_ptx_sreg_ntid_x();
}
HG_INLINE constexpr bool running() {
  return true;
}

#include "kernels.inc"

// Variables of the device code, as kernels.hip has them.
#define HG_VARIABLE(name) extern "C" __attribute__((used, visibility("default"))) alignas(256) u8 name[1024] = {}

HG_VARIABLE(hg_symbol0);
HG_VARIABLE(hg_symbol1);
HG_VARIABLE(hg_symbol2);
HG_VARIABLE(hg_symbol3);
HG_VARIABLE(hg_symbol4);
