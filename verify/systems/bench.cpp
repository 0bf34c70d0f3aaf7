#include "verify/systems/bench.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "verify/execute/mapped_allocations.h"

namespace verify {

hip::ErrorSink BenchContext::sink() {
  return {
      [](void* self, const hip::Error& error) { static_cast<BenchContext*>(self)->reported.push_back(error.message); },
      this};
}

void BenchContext::expect(bool holds, PropertyId property, const std::string& where, const std::string& expected,
                          const std::string& observed) {
  ++exercised[static_cast<std::size_t>(property)];
  if (!holds) found.push_back({property, 0, where, expected, observed});
}

void SystemBench::not_of_this_bench(const SystemAction& action) {
  std::fprintf(stderr, "hgcheck: a bench has no action '%s'\n", print_action(action).c_str());
  std::abort();
}

SystemsBench::SystemsBench(Platform& platform, const Parts& parts) : context_{platform, interposer_}, parts_(parts) {
  interposer_.begin(platform.api(), false);
}

SystemsBench::~SystemsBench() = default;

SystemBench& SystemsBench::bench_of(System system) {
  std::unique_ptr<SystemBench>& bench = benches_[static_cast<std::size_t>(system)];
  if (bench != nullptr) return *bench;
  switch (system) {
    case System::kCache:
      bench = make_cache_bench(context_, parts_);
      break;
    case System::kStreams:
      bench = make_streams_bench(context_, parts_);
      break;
    case System::kScratch:
      bench = make_scratch_bench(context_, parts_);
      break;
    case System::kLauncher:
      bench = make_launcher_bench(context_, parts_);
      break;
    case System::kStabilizer:
      bench = make_stabilizer_bench(context_, parts_);
      break;
    case System::kTraces:
      bench = make_trace_bench(context_, parts_);
      break;
    case System::kRemapper:
      bench = make_remapper_bench(context_, parts_);
      break;
  }
  return *bench;
}

const char* missing_function(System system, const hip::Api& api) {
  if (system != System::kRemapper) return nullptr;
  const char* const missing = MappedAllocations::missing_function(api);
  return missing != nullptr ? missing : hip::first_missing<&hip::Api::hipMemGetAllocationPropertiesFromHandle>(api);
}

int SystemsBench::dispatch(const SystemAction& action) {
  if (action.verb == SystemVerb::kDevice) return context_.inner().hipSetDevice(action.fields[0]);
  if (action.verb == SystemVerb::kInject) {
    ++injections_;
    const std::string_view name = injectable_functions()[static_cast<std::size_t>(action.fields[0])];
    interposer_.fail(*find_function(name), static_cast<std::uint32_t>(action.fields[1]));
    return hipSuccess;
  }
  const System system = *describe(action.verb).system;
  last_ = system;
  return bench_of(system).run(action);
}

// After an illegal access or a race, the order was not kept, whichever memory it concerned.
void SystemsBench::look_for_faults(System system) {
  const RuntimeNotes notes = context_.platform.notes();
  static constexpr std::array<std::string_view, kSystems> kNames = {"cache",  "streams", "scratch", "launcher",
                                                                    "stable", "traces",  "remap"};
  const std::string where = std::string(kNames[static_cast<std::size_t>(system)]) + ": the runtime";
  const PropertyId order = system == System::kStabilizer ? PropertyId::kS4
                           : system == System::kRemapper ? PropertyId::kP12
                                                         : PropertyId::kS1;
  if (!notes.fault.empty()) context_.expect(false, order, where, "no illegal access", notes.fault);
  if (notes.races != 0) context_.expect(false, order, where, "no race", notes.first_race);
  stopped_ = !notes.fault.empty() || notes.races != 0;
}

SystemsBench::Outcome SystemsBench::run(const SystemAction& action) {
  Outcome outcome;
  if (stopped_) return outcome;
  const Interposer::Scope scope(interposer_);
  context_.found.clear();
  context_.reported.clear();
  const std::uint64_t fired = interposer_.fired();
  outcome.code = dispatch(action);
  most_fired_ = std::max(most_fired_, interposer_.fired() - fired);
  if (last_) look_for_faults(*last_);
  // A query that fails while a stream is given back is an answer about that stream, which is then not kept (C1).
  const bool about_a_stream =
      action.verb == SystemVerb::kCacheRelease && interposer_.last_fired() == find_function("hipStreamQuery");
  if (interposer_.fired() != fired && !stopped_ && !about_a_stream) {
    context_.expect(outcome.code != hipSuccess || !context_.reported.empty(), PropertyId::kP4, print_action(action),
                    "a failed call is reported", "success");
  }
  outcome.violations = std::exchange(context_.found, {});
  return outcome;
}

SystemsBench::Outcome SystemsBench::finish() {
  Outcome outcome;
  const Interposer::Scope scope(interposer_);
  context_.found.clear();
  context_.reported.clear();
  // Teardown tries each call twice, so it survives one failure; no system promises to survive several.
  if (injections_ > 1) {
    for (const std::string_view name : injectable_functions()) interposer_.fail(*find_function(name), 0);
  }
  const std::uint64_t fired = interposer_.fired();
  for (std::unique_ptr<SystemBench>& bench : benches_) {
    if (bench != nullptr && !stopped_) bench->finish();
    bench.reset();
  }
  // The cache queries a stream that is given back at the end, too.
  const bool about_a_stream = interposer_.last_fired() == find_function("hipStreamQuery");
  if (interposer_.fired() != fired && !stopped_ && !about_a_stream) {
    context_.expect(!context_.reported.empty(), PropertyId::kC4, "at the end", "a failed call of teardown is reported",
                    "nothing was said of " + std::string(function_name(*interposer_.last_fired())));
  }
  if (last_ && !stopped_ && most_fired_ < 2) {
    look_for_faults(*last_);
    const std::string left = stopped_ ? std::string() : context_.platform.leaks();
    context_.expect(left.empty(), last_ == System::kCache ? PropertyId::kC2 : PropertyId::kP8, "at the end",
                    "nothing is left", left);
  }
  if (last_ && !stopped_ && interposer_.fired() == 0) {
    context_.expect(interposer_.refused_returns() == 0, PropertyId::kC4, "at the end", "what was given back was there",
                    std::to_string(interposer_.refused_returns()) + " calls were refused");
  }
  outcome.violations = std::exchange(context_.found, {});
  return outcome;
}

}  // namespace verify
