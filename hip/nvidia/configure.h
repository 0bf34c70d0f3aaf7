/* Which CUDA libraries libhip-nvidia.so opens. C, no other header.
 *
 * A program that wants other libraries than the machine's (tests: a stub) calls hgnv_configure before its first HIP
 * call. Afterwards nothing is taken over, and the result is not 0. Any thread may call it. No environment variable is
 * read.
 */
#ifndef HGCHECK_HIP_NVIDIA_CONFIGURE_H
#define HGCHECK_HIP_NVIDIA_CONFIGURE_H

#ifdef __cplusplus
extern "C" {
#endif

/* What dlopen takes: a path or a soname. Null or "": the names that hip/nvidia/cuda.h lists. The texts are copied.
 * 0, or 1 where CUDA's libraries have been opened already. */
int hgnv_configure(const char* runtime, const char* driver);

/* Why CUDA's libraries could not be opened, a text for people; "" where they were. Opens them where that has not
 * happened yet. The text lives as long as the library. */
const char* hgnv_problem(void);

#ifdef __cplusplus
}
#endif

#endif
