// The rules of the commands about modules.
//
// The use of a function whose module is gone is undefined (CUDA's documentation of cuModuleUnload), so a module stays
// while a graph, an executable graph, a capture or work that may still run has a kernel of it. Its variables go with
// it, as freed memory goes.
#include <fmt/format.h>

#include "verify/commands/captures/answers.h"
#include "verify/commands/define_rules.h"

namespace verify {

// ---- LoadModule

template <>
constexpr Traits kTraits<LoadModule>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State& state, const LoadModule& c) {
  if (state.parts().modules.contains(c.module)) return fmt::format("m{} is declared already", c.module);
  return unknown_thread(state, kNullStream, c.thread);
}

template <>
void apply(State& state, const LoadModule& c) {
  state.change().modules[c.module] = true;
}

// ---- UnloadModule

template <>
constexpr Traits kTraits<UnloadModule>{kCheckInCapture, kAnswers, kNeverRefused, kNothingSeen,
                                       kNoDevice,       kTwice,   kOnce};

// CUDA 13.0 on an H200 and 7.2 refuse it by mode and thread, as they refuse hipFree.
template <>
CaptureAnswer answer(const State& state, const UnloadModule& c) {
  return answer_to_unsafe(state, c.thread);
}

template <>
Reason check(const State& state, const UnloadModule& c) {
  if (Reason reason = state.missing_module(c.module)) return reason;
  if (state.module_in_use(c.module)) return fmt::format("a graph has a kernel of m{}", c.module);
  return unknown_thread(state, kNullStream, c.thread);
}

// Where no stream captures, the executor waits for the devices first.
template <>
Reason check_in_capture(const State& state, const UnloadModule& c) {
  for (const auto& [id, buffer] : state.buffers()) {
    if (buffer.alive && buffer.module == c.module) return fmt::format("the capture may name b{}", id);
  }
  return state.idle() ? Reason() : fmt::format("kernels of m{} may still be running", c.module);
}

template <>
void apply(State& state, const UnloadModule& c) {
  if (state.captures().empty()) state.change().finish_all();
  state.change().modules.at(c.module) = false;
  for (auto& [id, buffer] : state.change().memory.buffers) buffer.alive = buffer.alive && buffer.module != c.module;
}

template struct Rules<LoadModule>;
template struct Rules<UnloadModule>;

}  // namespace verify
