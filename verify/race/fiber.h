// race::Fiber: a stack of its own that is switched to, told to the sanitizers.
//
// To ThreadSanitizer a switch does not synchronise: what the fibers of one schedule do is as unordered as what threads
// do, but for what sanitizers.h announces. A fiber may be left where it is and started anew on the same stack.
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
  // To the sanitizers: all that this fiber did comes before what the caller does next.
  void order_before_caller();

 private:
  struct Switching;
  void allocate_stack();

  void* context_ = nullptr;
  void* stack_ = nullptr;  // lowest address, above a page that nobody may touch
  const void* bounds_bottom_ = nullptr;
  std::size_t bounds_size_ = 0;
  void* sanitizer_ = nullptr;   // ThreadSanitizer's fiber
  void* fake_stack_ = nullptr;  // AddressSanitizer's
  bool ours_ = false;           // `sanitizer_` was made by prepare()
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
};

}  // namespace verify::race
