#include "bench/step_timing.h"

#include <memory>

#include "bench/counting_api.h"

namespace bench {

std::string_view name_of(Timed timed) {
  switch (timed) {
    case Timed::kBring:
      return "bring";
    case Timed::kStep:
      return "step";
    case Timed::kDone:
      return "done";
  }
  return "";
}

hip::Status time_steps(benchmark::State& state, Timed timed, const StepOptions& options, StepBed& bed) {
  hip::Api table = bed.api();
  hip::Result<std::unique_ptr<StepSession>> session = StepSession::make(options, bed, table);
  if (!session) return session.error();
  hip::Status status;
  std::size_t n = 0;
  for (; n < kStepsOfATurn; ++n) {
    if (status) status = session.value()->step(bed.addresses(session.value()->away_at(n)));
    if (status) status = bed.synchronize();
  }
  if (timed == Timed::kBring) table = without_launches(table);
  const bool works = timed != Timed::kBring || options.way == StepWay::kStabilise;
  for (auto turn : state) {
    static_cast<void>(turn);
    if (status) status = session.value()->step(bed.addresses(session.value()->away_at(n++)));
    if (!works) continue;
    if (timed != Timed::kDone) state.PauseTiming();
    if (status) status = bed.synchronize();
    if (timed != Timed::kDone) state.ResumeTiming();
  }
  return status;
}

void show(benchmark::State& state, const StepCounts& counts) {
  const auto count = [&state](const char* name, std::uint64_t value) {
    if (value != 0) state.counters[name] = static_cast<double>(value);
  };
  count("calls", counts.calls);
  count("setters", counts.setters);
  count("launches", counts.launches);
  count("allocations", counts.allocations);
  count("bytes_copied", counts.bytes_copied);
}

}  // namespace bench
