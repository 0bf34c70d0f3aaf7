// The actions for each function of hip/api/functions.inc, which Tag_NAME stands for: before() is called before the
// call, after() after a call that HIP accepted. The actions are in the files *_calls.h and recorder.cpp.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hip/api/api.h"
#include "hip/recorder/calls.h"
#include "hip/recorder/log.h"
#include "hip/sync/sync.h"

namespace hip::recorder {

// TAG and EXPORTED expand a name that HIP's header renames: the runtime exports the function under the new name.
#define TAG(name)                               \
  struct Tag_##name {                           \
    static constexpr const char* kName = #name; \
  };
#define HIP_FUNCTION(name, ...) TAG(name)
#include "hip/api/functions.inc"
#undef HIP_FUNCTION

template <class Tag, class... A>
void before(Tag, const A&...) {}
template <class Tag, class... A>
void after(Tag, const A&...) {
  static hip::sync::Atomic<bool> said{false};
  if (!only_asks(Tag::kName) && !said.exchange(true)) Line("other").word(Tag::kName);
}

#define BEFORE(name, ...) inline void before(Tag_##name __VA_OPT__(, ) __VA_ARGS__)
#define AFTER(name, ...) inline void after(Tag_##name __VA_OPT__(, ) __VA_ARGS__)
// The same for functions whose action is one statement: one row for each function.
#define BEFORE_IS(name, statement, ...)     \
  BEFORE(name __VA_OPT__(, ) __VA_ARGS__) { \
    statement;                              \
  }
#define AFTER_IS(name, statement, ...)     \
  AFTER(name __VA_OPT__(, ) __VA_ARGS__) { \
    statement;                             \
  }

// Work that is given to a stream.
struct Work {
  explicit Work(hipStream_t stream) : line("work") { line.address(stream); }
  Line line;
};

}  // namespace hip::recorder
