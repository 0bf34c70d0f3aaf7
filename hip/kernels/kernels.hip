// kernels.inc for gfx942. Freestanding: no HIP headers and no device library, so that any clang with the amdgcn target
// compiles it, and so that a kernel needs nothing of a runtime but its packet and its arguments.

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

template <class T>
using Ptr = T*;

#define HG_KERNEL(name) extern "C" __attribute__((global)) void name
#define HG_INLINE static inline __attribute__((device, always_inline))

HG_INLINE u64 first_item() {
  return static_cast<u64>(__builtin_amdgcn_workgroup_id_x()) * __builtin_amdgcn_workgroup_size_x() +
         __builtin_amdgcn_workitem_id_x();
}
HG_INLINE u64 stride() {
  return __builtin_amdgcn_grid_size_x();
}
HG_INLINE constexpr bool running() {
  return true;
}

#include "kernels.inc"

// Variables of the device code, for copies to and from symbols (verify::Platform::kVariables of verify::kSymbolBytes
// each). No kernel names them: kernels get their addresses as arguments, like those of other memory.
#define HG_VARIABLE(name) \
  extern "C" __attribute__((device, used, visibility("default"))) alignas(256) u8 name[1024] = {}

HG_VARIABLE(hg_symbol0);
HG_VARIABLE(hg_symbol1);
HG_VARIABLE(hg_symbol2);
HG_VARIABLE(hg_symbol3);
HG_VARIABLE(hg_symbol4);
