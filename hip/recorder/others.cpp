// The functions of HIP's library that no table of the project has: a program that is recorded may call them, and the
// program in the language then lacks their effect. The first call of each is logged as "other".
//
// A wrapper needs no signature. It keeps all registers that may hold arguments, as the System V ABI for x86-64 names
// them, and jumps to HIP's function with the caller's stack.
#include <dlfcn.h>

#include "hip/recorder/calls.h"
#include "hip/recorder/log.h"
#include "hip/sync/sync.h"

namespace hip::recorder {
namespace {

struct OtherFunction {
  hip::sync::Atomic<void*> target;  // HIP's function, once its call was logged; the assembly code reads it
  const char* name;
};
static_assert(sizeof(hip::sync::Atomic<void*>) == sizeof(void*));

constexpr int kNotSupported = 801;  // hipErrorNotSupported

int absent() {
  return kNotSupported;
}

}  // namespace
}  // namespace hip::recorder

extern "C" {

// Logs the call, and returns the function that the caller asked for.
__attribute__((visibility("hidden"), used)) void* hgrecorder_meet(hip::recorder::OtherFunction* function) {
  void* const real = dlsym(RTLD_NEXT, function->name);
  if (real == nullptr) return reinterpret_cast<void*>(&hip::recorder::absent);  // the runtime is older than the program
  if (hip::recorder::Depth::now != 0) return real;
  if (function->target.exchange(real) == nullptr && !hip::recorder::only_asks(function->name))
    hip::recorder::Line("other").word(function->name);
  return real;
}

}  // extern "C"

// The common end of all wrappers; r11 holds the function's record, and no argument is ever in r10 or r11.
asm(R"(
.text
.type hgrecorder_pass, @function
hgrecorder_pass:
  mov (%r11), %r10
  test %r10, %r10
  jne 1f
  push %rax
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  sub $128, %rsp
  movaps %xmm0, (%rsp)
  movaps %xmm1, 16(%rsp)
  movaps %xmm2, 32(%rsp)
  movaps %xmm3, 48(%rsp)
  movaps %xmm4, 64(%rsp)
  movaps %xmm5, 80(%rsp)
  movaps %xmm6, 96(%rsp)
  movaps %xmm7, 112(%rsp)
  mov %r11, %rdi
  call hgrecorder_meet
  mov %rax, %r10
  movaps (%rsp), %xmm0
  movaps 16(%rsp), %xmm1
  movaps 32(%rsp), %xmm2
  movaps 48(%rsp), %xmm3
  movaps 64(%rsp), %xmm4
  movaps 80(%rsp), %xmm5
  movaps 96(%rsp), %xmm6
  movaps 112(%rsp), %xmm7
  add $128, %rsp
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rax
1:
  jmp *%r10
.size hgrecorder_pass, .-hgrecorder_pass
)");

#define OTHER_FUNCTION(name, ...)                                                                               \
  extern "C" {                                                                                                  \
  __attribute__((visibility("hidden"), used)) hip::recorder::OtherFunction hgrecorder_##name{{nullptr}, #name}; \
  }                                                                                                             \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n  lea hgrecorder_" #name                \
      "(%rip), %r11\n  jmp hgrecorder_pass\n.size " #name ", .-" #name "\n");
#define IMPLICIT_FUNCTION(...)
#include "hip/api/other_functions.inc"
#undef OTHER_FUNCTION
#undef IMPLICIT_FUNCTION
