// Arithmetic loops for bench_gfx942: integers, floats and doubles; one store at the end, so that the loop is kept.
#define KERNEL(name) extern "C" __attribute__((global)) void name

KERNEL(integer_loop)(unsigned* out, unsigned n) {
  unsigned x = __builtin_amdgcn_workitem_id_x(), y = 1;
  for (unsigned i = 0; i < n; ++i) {
    x = (x ^ y) + (x << 5);
    y = (y & x) + (y >> 3) + i;
  }
  out[__builtin_amdgcn_workitem_id_x()] = x ^ y;
}
KERNEL(multiply_loop)(unsigned* out, unsigned n) {
  unsigned x = __builtin_amdgcn_workitem_id_x(), y = 1;
  for (unsigned i = 0; i < n; ++i) {
    x = x * y + 12345;
    y = y * x + i;
  }
  out[__builtin_amdgcn_workitem_id_x()] = x ^ y;
}
KERNEL(float_loop)(float* out, unsigned n) {
  float x = 1.5f, y = (float)__builtin_amdgcn_workitem_id_x();
  for (unsigned i = 0; i < n; ++i) {
    x = __builtin_fmaf(x, 0.75f, y);
    y = (y + x) * 0.25f - 1.0f;
  }
  out[__builtin_amdgcn_workitem_id_x()] = x + y;
}
KERNEL(double_loop)(double* out, unsigned n) {
  double x = 1.5, y = (double)__builtin_amdgcn_workitem_id_x();
  for (unsigned i = 0; i < n; ++i) {
    x = __builtin_fma(x, 0.75, y);
    y = (y + x) * 0.25 - 1.0;
  }
  out[__builtin_amdgcn_workitem_id_x()] = x + y;
}
// A load and a store an iteration, neighbours next to each other.
KERNEL(memory_loop)(unsigned* out, unsigned n) {
  volatile unsigned* mine = out + __builtin_amdgcn_workitem_id_x();
  for (unsigned i = 0; i < n; ++i) *mine = *mine + i;
}
