// race::Arena: the memory that a schedule's threads allocate.
//
// While a schedule runs, operator new takes from one region of memory. A deleted block is not used again before the
// schedule ends: it is overwritten and marked, so that a second delete is noticed and a late use reads nonsense rather
// than the data of another block. Blocks that are never deleted are counted. Each schedule begins the region again, so
// memory stays flat however many schedules there are. Memory of a schedule that was given up half-way is not used again
// (statics of the explored code may still point to it).
//
// The operators are in operators.cpp, which only programs that explore link; without them, and under the sanitizers,
// which have allocators of their own, nothing is counted. The arena does not see malloc. Memory that a static of the
// explored code keeps from one schedule to the next counts as a leak.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hip/sync/scheduler.h"

namespace verify::race {

struct Leaks {
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  hip::sync::ThreadNumber thread = 0;  // the thread that allocated the first of the blocks
  std::uint32_t step = 0;              // the step after which it did so
};

class Arena {
 public:
  [[nodiscard]] static Arena& of_process();

  // Begins the region again. With `keep`, the memory of the last schedule is not used again.
  void begin(bool keep);
  // Keeps for ever the allocations since the region began that are not deleted yet: the explored code's statics.
  void pin();
  // Whether operator new takes memory from this arena from now on.
  void set_on(bool on) { on_ = on && usable_; }
  [[nodiscard]] bool on() const { return on_; }
  // Sets the thread and the step that allocate, for reports.
  void set_place(hip::sync::ThreadNumber thread, std::uint32_t step) { thread_ = thread, step_ = step; }
  [[nodiscard]] Leaks leaks() const;
  [[nodiscard]] std::size_t used() const { return static_cast<std::size_t>(next_ - first_); }

  // For the operators. Null: the region is full.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment);
  // Whether the memory was this arena's. Calls `twice` (on_double_free) when the memory is deleted for the second time.
  bool release(void* memory);
  void on_double_free(void (*twice)(void*), void* context) { twice_ = twice, context_ = context; }
  void set_usable(bool usable) { usable_ = usable; }
  [[nodiscard]] bool usable() const { return usable_; }

 private:
  Arena() = default;

  bool on_ = false;
  bool usable_ = false;
  std::byte* base_ = nullptr;
  std::byte* lowest_ = nullptr;  // where the region begins again: above the pinned blocks
  std::byte* first_ = nullptr;   // where this schedule's memory begins
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::uint64_t live_ = 0;
  hip::sync::ThreadNumber thread_ = 0;
  std::uint32_t step_ = 0;
  void (*twice_)(void*) = nullptr;
  void* context_ = nullptr;
};

}  // namespace verify::race
