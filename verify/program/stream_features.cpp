// Features of streams, events, eager work and capture: what a program does with them, by the state that it meets.
#include <algorithm>

#include "verify/program/features.h"
#include "verify/program/state.h"

namespace verify {

namespace {

using Add = std::function<void(std::string_view)>;

// One overload a command that has any.
struct StreamFeatures {
  const State& state;  // before the command
  const Add& add;

  void thread(Id thread) const {
    if (thread != 0) add("helper thread");
  }
  void operator()(const DeclareStream& c) const {
    if (c.non_blocking) add("non-blocking stream");
    if (c.priority != 0) add("stream with a priority");
    if (c.per_thread) add("per-thread stream");
    if (c.device != 0) add("stream of another device");
  }
  void operator()(const DeclareEvent& c) const {
    if (c.timing) add("event with timing");
    if (c.blocking) add("event that blocks");
    if (c.release != EventRelease::kDefault) add("event with a release");
    if (c.device != 0) add("event of another device");
  }
  void operator()(const Enqueue& c) const {
    add(state.capture_of(c.stream) != nullptr ? "captured work" : "eager work");
    if (is_event_node(c.params)) add("captured event node");
    thread(c.thread);
  }
  void operator()(const Launch& c) const {
    if (state.capture_of(c.stream) != nullptr) add("captured launch");
  }
  void operator()(const MallocAsync& c) const {
    if (state.capture_of(c.stream) != nullptr) add("captured allocation");
  }
  void operator()(const FreeAsync& c) const {
    if (state.capture_of(c.stream) != nullptr) add("captured free");
  }
  void operator()(const WaitEvent& c) const {
    if (state.event_captured(c.event) && state.capture_of(c.stream) == nullptr) add("capture fork");
  }
  void operator()(const BeginCapture& c) const {
    static constexpr std::string_view kModes[] = {"capture global", "capture thread", "capture relaxed"};
    add(kModes[static_cast<std::size_t>(c.mode)]);
    if (c.into) add("capture into a graph");
    thread(c.thread);
  }
  void operator()(const EndCapture& c) const { thread(c.thread); }
  void operator()(const Synchronize& c) const { thread(c.thread); }
  void operator()(const Query& c) const { thread(c.thread); }
  void operator()(const UnsafeCall& c) const { thread(c.thread); }
  void operator()(const ExchangeCaptureMode& c) const { thread(c.thread); }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

void count_stream_features(const Program& program, const Add& add) {
  const bool captures = std::any_of(program.steps.begin(), program.steps.end(), [](const Step& step) {
    return std::holds_alternative<BeginCapture>(step.command);
  });
  State state;  // stays empty where nothing captures
  for (const Step& step : program.steps) {
    std::visit(StreamFeatures{state, add}, step.command);
    if (!captures) continue;
    const CaptureAnswer answer = state.answer(step.command);
    if (answer.status != 0) add("capture refused");
    if (!answer.invalidates.empty()) add("capture invalidated");
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state.apply(step.command);
  }
}

}  // namespace verify
