// S1, stream order: work and stream-ordered frees on a stream happen in order; memory with an enqueued free is not
// reused before the work that uses it; the default stream synchronises for real.
//
// Detector of programs: a difference that disappears when the same program frees no memory before its end (systems have
// detectors of their own, in verify/systems). Nothing else of the program changes, so the cause is a free that comes
// too early, or new memory in the place of the freed memory. Not seen: memory that is reused too early and that the
// program does not read afterwards.
#include "verify/program/state.h"
#include "verify/properties/causes.h"

namespace verify {

std::optional<Program> without_stream_ordered_frees(const Program& program) {
  Program keeping;
  keeping.setting = program.setting;
  State state;
  for (const Step& step : program.steps) {
    const auto* freed = std::get_if<FreeAsync>(&step.command);
    const BufferState* buffer = freed == nullptr ? nullptr : state.buffer(freed->buffer);
    if (buffer == nullptr || !buffer->of_stream || buffer->capture) keeping.steps.push_back(step);
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state.apply(step.command);
  }
  if (keeping.steps.size() == program.steps.size()) return {};
  return keeping;
}

}  // namespace verify
