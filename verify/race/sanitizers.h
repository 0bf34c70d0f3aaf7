// Tells the sanitizers about fibers; does nothing in a build without sanitizers.
//
// ThreadSanitizer: it sees every fiber as a thread, switches do not synchronise, and the synchronisation that a
// schedule models is announced (acquire, release). The scheduler is excluded in two ways: its own code is compiled
// without instrumentation (HGCHECK_RACE_TSAN says that the rest is instrumented), and the instrumented code that it
// calls (malloc, templates that the linker takes from elsewhere) runs while accesses are ignored.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HGCHECK_RACE_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define HGCHECK_RACE_ASAN 1
#endif

#ifdef HGCHECK_RACE_TSAN
#include <sanitizer/tsan_interface.h>
#include <sys/single_threaded.h>
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif
#ifdef HGCHECK_RACE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace verify::race::sanitizers {

#ifdef HGCHECK_RACE_TSAN
inline constexpr bool kThread = true;
inline void* create_fiber() {
  return __tsan_create_fiber(0);
}
inline void destroy_fiber(void* fiber) {
  __tsan_destroy_fiber(fiber);
}
inline void* current_fiber() {
  return __tsan_get_current_fiber();
}
inline void acquire(void* object) {
  __tsan_acquire(object);
}
inline void release(void* object) {
  __tsan_release(object);
}
// Called before the first fiber. libstdc++ sees one thread in a process of fibers, and then counts the references of a
// shared_ptr without atomics. ThreadSanitizer would report races that real threads do not have.
inline void expect_threads() {
  __libc_single_threaded = 0;
}
inline void ignore_accesses() {
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}
inline void heed_accesses() {
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}
// Orders everything that `fiber` did so far before the caller's next operations. The fiber does not run.
inline void acquire_all_of(void* fiber) {
  void* const caller = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(fiber, __tsan_switch_to_fiber_no_sync);
  __tsan_switch_to_fiber(caller, 0);
}
#else
inline constexpr bool kThread = false;
inline void* create_fiber() {
  return nullptr;
}
inline void destroy_fiber(void*) {}
inline void* current_fiber() {
  return nullptr;
}
inline void acquire(void*) {}
inline void release(void*) {}
inline void expect_threads() {}
inline void ignore_accesses() {}
inline void heed_accesses() {}
inline void acquire_all_of(void*) {}
#endif

#ifdef HGCHECK_RACE_ASAN
inline constexpr bool kAddress = true;
inline void forget_stack(const void* bottom, std::size_t size) {
  __asan_unpoison_memory_region(bottom, size);
}
inline void arrived(void* fake_stack, const void** bottom, std::size_t* size) {
  __sanitizer_finish_switch_fiber(fake_stack, bottom, size);
}
#else
inline constexpr bool kAddress = false;
inline void forget_stack(const void*, std::size_t) {}
inline void arrived(void*, const void**, std::size_t*) {}
#endif

inline void leave([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom,
                  [[maybe_unused]] std::size_t size, [[maybe_unused]] void* fiber) {
#ifdef HGCHECK_RACE_ASAN
  __sanitizer_start_switch_fiber(fake_stack, bottom, size);
#endif
#ifdef HGCHECK_RACE_TSAN
  __tsan_switch_to_fiber(fiber, __tsan_switch_to_fiber_no_sync);
#endif
}

}  // namespace verify::race::sanitizers
