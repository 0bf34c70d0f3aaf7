// A kernel whose name has a thousand characters; HG_LONG_NAME is the name.
extern "C" __attribute__((global)) void HG_LONG_NAME(unsigned* out, unsigned n) {
  out[__builtin_amdgcn_workitem_id_x() % 8] = 3 * n + 1;
}
