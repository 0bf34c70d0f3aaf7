#include "verify/systems/systems_run.h"

namespace verify {

SystemsRun::Inside::Inside(SystemsRun& run) : run_(run) {
  if (run_.own_) run_.platform_.enter();
  if (run_.current_ != 0) static_cast<void>(run_.platform_.api().hipSetDevice(run_.current_));
}
SystemsRun::Inside::~Inside() {
  if (run_.devices_ > 1) {
    static_cast<void>(run_.platform_.api().hipGetDevice(&run_.current_));
    static_cast<void>(run_.platform_.api().hipSetDevice(0));
  }
  if (run_.own_) run_.platform_.leave();
}

SystemsRun::SystemsRun(Platform& platform, const Parts& parts, std::uint64_t schedule_seed)
    : platform_(platform.for_systems()), own_(&platform_ != &platform) {
  const Inside inside(*this);
  if (own_) platform_.begin(schedule_seed);
  static_cast<void>(platform_.api().hipGetDeviceCount(&devices_));
  bench_.emplace(platform_, parts);
}

SystemsRun::~SystemsRun() {
  const Inside inside(*this);
  bench_.reset();
}

void SystemsRun::perform(const SystemAction& action, std::size_t step, Observation& observation) {
  const int device = device_of(action);
  if (device >= devices_) {
    observation.unsupported = "device " + std::to_string(device);
    return;
  }
  const std::optional<System> system = describe(action.verb).system;
  if (const char* const missing = system ? missing_function(*system, platform_.api()) : nullptr; missing != nullptr) {
    observation.unsupported = missing;
    return;
  }
  const Inside inside(*this);
  const std::uint64_t fired = bench_->failures_fired();
  note(bench_->run(action), step, observation);
  observation.failures_fired += bench_->failures_fired() - fired;
}

void SystemsRun::finish(std::size_t step, Observation& observation) {
  const Inside inside(*this);
  note(bench_->finish(), step, observation);
  for (std::size_t i = 0; i < kProperties; ++i) observation.exercised[i] += bench_->exercised()[i];
  observation.calls += bench_->calls();
}

void SystemsRun::note(SystemsBench::Outcome outcome, std::size_t step, Observation& observation) {
  for (Violation& violation : outcome.violations) {
    violation.step = step;
    observation.violations.push_back(std::move(violation));
  }
}

}  // namespace verify
