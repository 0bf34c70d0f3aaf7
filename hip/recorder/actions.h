// The actions for each function of hip/api/functions.inc, which Tag_NAME stands for: before() is called before the
// call, after() after a call that HIP accepted, refused() after a call that HIP refused: it adds to the call's line
// "failed". The actions are in the files *_calls.h and recorder.cpp.
#pragma once

#include <hip/hip_runtime_api.h>

#include <type_traits>

#include "hip/api/api.h"
#include "hip/recorder/calls.h"
#include "hip/recorder/host_memory.h"
#include "hip/recorder/log.h"
#include "hip/sync/sync.h"

// The rows below name all parameters of a function for two actions, which may use some of them only.
#pragma GCC diagnostic ignored "-Wunused-parameter"

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
template <class Tag, class... A>
void refused(Tag, Line&, const A&...) {}

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

#define REFUSED(name, ...) inline void refused(Tag_##name, Line& line __VA_OPT__(, ) __VA_ARGS__)
// A function that ends an object, which `statement` calls `ended`. The end is logged before the call. If HIP refuses
// the call, the line "failed ... kept OBJECT" takes it back.
#define LOGS_END(name, type, statement, ...)                           \
  BEFORE_IS(name, statement, type ended __VA_OPT__(, ) __VA_ARGS__)    \
  REFUSED(name, type ended __VA_OPT__(, ) __VA_ARGS__) {               \
    if constexpr (std::is_same_v<type, void*>) host_range_kept(ended); \
    line.word("kept").address(ended);                                  \
  }
#define ENDS(name, type, statement, ...)                     \
  LOGS_END(name, type, statement __VA_OPT__(, ) __VA_ARGS__) \
  AFTER(name, type ended __VA_OPT__(, ) __VA_ARGS__) {}

// A function that gives work to the device. `to`: memory that the work may write to, or null.
inline void gives_work(const void* to) {
  write_changes();
  device_may_write(to);
}
#define GIVES(name, to, statement, ...)        \
  BEFORE_IS(name, gives_work(to), __VA_ARGS__) \
  AFTER_IS(name, statement, __VA_ARGS__)
// The same for a function that returns when the work is done.
#define WAITS_FOR(name, to, statement, ...)                                 \
  BEFORE_IS(name, write_changes(); device_begins_to_write(to), __VA_ARGS__) \
  AFTER_IS(name, device_wrote(to); statement, __VA_ARGS__)                  \
  REFUSED(name, __VA_ARGS__) {                                              \
    device_wrote(to);                                                       \
  }

// Work that is given to a stream.
struct Work {
  explicit Work(hipStream_t stream) : line("work") { line.address(stream); }
  Line line;
};

}  // namespace hip::recorder
