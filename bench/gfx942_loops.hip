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

// Products of 1024 x 1024 x 1024 by matrix instructions: a wave for each 32 x 32 elements of c, which is row-major. The
// rows of a and the columns of b lie one behind the other.
#define SIDE 1024u
typedef float Tile __attribute__((ext_vector_type(16)));

// Where the lane's row of a (or column of b) starts, by the number of the tile in its direction.
static __attribute__((device)) unsigned line_of(unsigned tile) {
  return (tile * 32 + __builtin_amdgcn_workitem_id_x() % 32) * SIDE;
}
static __attribute__((device)) void store_tile(float* c, Tile sum, unsigned down, unsigned across) {
  const unsigned lane = __builtin_amdgcn_workitem_id_x();
  for (unsigned r = 0; r < 16; ++r) {
    c[(down * 32 + r / 4 * 8 + lane / 32 * 4 + r % 4) * SIDE + across * 32 + lane % 32] = sum[r];
  }
}
KERNEL(fp8_product)(float* c, const unsigned char* a, const unsigned char* b) {
  const unsigned down = __builtin_amdgcn_workgroup_id_x() / (SIDE / 32);
  const unsigned across = __builtin_amdgcn_workgroup_id_x() % (SIDE / 32);
  const unsigned first = __builtin_amdgcn_workitem_id_x() / 32 * 8;
  const long* row = (const long*)(a + line_of(down) + first);
  const long* column = (const long*)(b + line_of(across) + first);
  Tile sum = {};
  for (unsigned k = 0; k < SIDE; k += 16) {
    sum = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(row[k / 8], column[k / 8], sum, 0, 0, 0);
  }
  store_tile(c, sum, down, across);
}
KERNEL(f32_product)(float* c, const float* a, const float* b) {
  const unsigned down = __builtin_amdgcn_workgroup_id_x() / (SIDE / 32);
  const unsigned across = __builtin_amdgcn_workgroup_id_x() % (SIDE / 32);
  const unsigned first = __builtin_amdgcn_workitem_id_x() / 32;
  const float* row = a + line_of(down) + first;
  const float* column = b + line_of(across) + first;
  Tile sum = {};
  for (unsigned k = 0; k < SIDE; k += 2) {
    sum = __builtin_amdgcn_mfma_f32_32x32x2f32(row[k], column[k], sum, 0, 0, 0);
  }
  store_tile(c, sum, down, across);
}
