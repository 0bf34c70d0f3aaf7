// Device code for the tests of interpreted kernels: variables, stores to chosen words, a store to code.
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __global__ __attribute__((global))

__device__ unsigned counter = 40;
__constant__ unsigned table[4] = {2, 3, 5, 7};

extern "C" __global__ void count(unsigned* out) {
  counter += table[0];
  *out = counter;
}

// Every work item its own word.
extern "C" __global__ void mark(unsigned* out, unsigned value) {
  out[__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x()] =
      value;
}

// Every second word.
extern "C" __global__ void mark_even(unsigned* out, unsigned value) {
  out[2 * __builtin_amdgcn_workitem_id_x()] = value;
}

extern "C" __global__ void write_code(unsigned value) {
  *reinterpret_cast<volatile unsigned*>(__builtin_amdgcn_s_getpc()) = value;
}
