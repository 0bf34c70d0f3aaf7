// Generator of stream-ordered memory and its pools. Internal to verify/generate.
//
// What such a program is about is reuse: memory that a busy stream frees, and memory of the same size that the same
// stream or another one allocates behind it, with or without an event in between. What comes of the first owner's bytes
// is carried out before the free and read at the end, so that a runtime that gives them away too early shows (S1).
#pragma once

#include <functional>
#include <vector>

#include "verify/generate/choices.h"
#include "verify/program/state.h"

namespace verify {

class StreamMemoryGenerator {
 public:
  // What the generator of programs does for this one.
  struct Hands {
    std::function<bool(const Command&)> take;
    std::function<bool(Id stream)> work;  // anything, without races
    std::function<void()> declare_stream;
    std::function<void(Topic)> by_fields;
    Id &buffer, &event;  // the numbers that the next objects are going to have
  };
  StreamMemoryGenerator(Choices& choices, const State& state, Hands hands)
      : choices_(choices), state_(state), hands_(std::move(hands)) {}

  void act();
  // Memory of a capture: allocated and filled, mostly carried out, mostly freed.
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
