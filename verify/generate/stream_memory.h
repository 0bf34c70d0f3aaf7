// Generator of stream-ordered memory and its pools. Internal to verify/generate.
//
// Such programs test reuse: a busy stream frees memory, and the same stream or another stream allocates memory of the
// same size after it, with or without an event in between. The first owner's bytes are copied to another buffer before
// the free and read at the end, so that a runtime that gives the memory away too early shows (S1).
#pragma once

#include <functional>
#include <vector>

#include "verify/generate/choices.h"
#include "verify/program/state.h"

namespace verify {

class StreamMemoryGenerator {
 public:
  // The program generator's functions and counters that this generator uses.
  struct Hands {
    std::function<bool(const Command&)> take;
    std::function<bool(Id stream)> work;  // draws any work without races
    std::function<void()> declare_stream;
    std::function<void(Topic)> by_fields;
    Id &buffer, &event;  // the numbers that the next objects are going to have
  };
  StreamMemoryGenerator(Choices& choices, const State& state, Hands hands)
      : choices_(choices), state_(state), hands_(std::move(hands)) {}

  void act();
  // Memory of a capture: allocates and fills it, mostly copies it out, mostly frees it.
  void in_capture(Id stream);

 private:
  [[nodiscard]] Id pick(const std::vector<Id>& ids) { return ids[choices_.below(ids.size())]; }
  [[nodiscard]] std::vector<Id> there() const;
  [[nodiscard]] std::vector<Id> own_pools() const;
  [[nodiscard]] std::uint64_t size();
  bool give(Id stream, NodeParams params);
  bool allocate(Id stream, std::uint64_t bytes, Id* buffer);
  void carry_out(Id stream, Id buffer);
  void order(Id before, Id behind);
  void free(Id buffer, Id stream);
  void free_somehow(Id buffer);
  void reuse();

  Choices& choices_;
  const State& state_;
  Hands hands_;
};

}  // namespace verify
