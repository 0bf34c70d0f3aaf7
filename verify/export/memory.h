// Memory of the program's buffers in a reproducer: allocated one by one, or places in one arena of each kind.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>

#include "verify/export/names.h"
#include "verify/export/text.h"

namespace verify {

class ReproducerMemory {
 public:
  ReproducerMemory(ReproducerText& text, NeedsOfFile& needs, const Reproducer& reproducer);

  [[nodiscard]] bool in_arena() const { return in_arena_; }
  // Whether the file checks bytes at all; where it does not, no buffer is filled.
  [[nodiscard]] bool contents_matter() const { return contents_matter_; }

  // Declares the arenas that `known` says are used.
  void declare_arenas(const NeedsOfFile& known);
  // Declares a variable for the next place in the arena, or for memory of its own.
  void place(const std::string& name, MemoryKind memory, std::uint64_t bytes, Id device);
  // The buffers of a loop that have another number in each round: the number in the second round, and how much it grows
  // with each later one.
  struct LaterNumbers {
    Id second = 0, growth = 0;
  };
  void in_rounds(std::map<Id, LaterNumbers> numbers) { numbers_ = std::move(numbers); }
  // Fills a buffer with the pattern of a seed.
  void fill(Id buffer, std::uint64_t bytes, std::uint64_t seed);
  // Frees memory that is not in an arena.
  void release(Id buffer, MemoryKind memory);

 private:
  void allocate(const std::string& name, MemoryKind memory, std::uint64_t bytes, Id device);

  ReproducerText& text_;
  NeedsOfFile& needs_;
  const Reproducer& reproducer_;
  bool in_arena_, contents_matter_;
  std::map<Id, LaterNumbers> numbers_;
  std::deque<std::uint64_t> places_;  // offsets in the arenas that are not taken yet
};

}  // namespace verify
