// race::Fiber: a separate stack that the runner switches to. The sanitizers are told of each switch.
//
// To ThreadSanitizer a switch does not synchronise: the work of the fibers of one schedule is as unordered as the work
// of threads, but for the order that sanitizers.h announces. A fiber may be left and started anew on the same stack.
#pragma once

#include <cstddef>

namespace verify::race {

class Fiber {
 public:
  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  // `entry` begins with the first switch to the fiber and must not return.
  void prepare(void (*entry)(void*), void* argument);
  // Makes this the fiber that the caller is on.
  void adopt();
  static void switch_to(Fiber& from, Fiber& to);
  // Tells the sanitizers that all the work of this fiber comes before the caller's next operation.
  void order_before_caller();

 private:
  struct Switching;
  void allocate_stack();

  void* context_ = nullptr;
  void* stack_ = nullptr;  // lowest address; the first page may not be accessed
  const void* bounds_bottom_ = nullptr;
  std::size_t bounds_size_ = 0;
  void* sanitizer_ = nullptr;   // ThreadSanitizer's fiber
  void* fake_stack_ = nullptr;  // AddressSanitizer's
  bool ours_ = false;           // `sanitizer_` was made by prepare()
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
};

}  // namespace verify::race
