// The scenarios on real threads, in front of a HIP runtime: the model as libhgmodel.so, or AMD's.
//
//   stress_runtime LIBRARY [SECONDS]     a path or a soname; altogether
//
// Status 1 when a scenario notices something, 2 when the library cannot be loaded. Under ThreadSanitizer its status
// too. Not here: capture-modes, which has the model's runtime inside and calls no HIP.
#include <cstdio>
#include <cstdlib>

#include "hip/api/api.h"
#include "verify/race/fake_hip.h"
#include "verify/race/stress.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HGCHECK_STRESS_TSAN 1
#endif
#endif
#ifdef HGCHECK_STRESS_TSAN
// The runtime is not instrumented: ThreadSanitizer sees the memory that it allocates, copies and frees, but not the
// atomics that order its threads. So ThreadSanitizer ignores calls from the runtime. This project's code on the
// runtime's threads (host functions) is instrumented and is checked. Evidence: docs/race.md, 'Stress'.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1";
}
#endif

namespace {

using namespace verify::race;

struct Arguments {
  std::string_view library, fault;
  double seconds = 10;
};

// A share of the time for every plan.
int run(const Arguments& arguments) {
  std::vector<std::pair<const Scenario*, const NamedPlan*>> plans;
  for (const Scenario& scenario : scenarios()) {
    const auto& faults = scenario.faults;
    if (!arguments.fault.empty() && std::find(faults.begin(), faults.end(), arguments.fault) == faults.end()) continue;
    if (scenario.name == "capture-modes" && arguments.library != "none") continue;
    for (const NamedPlan& plan : scenario.plans) plans.emplace_back(&scenario, &plan);
  }
  int failures = 0;
  for (const auto& [scenario, plan] : plans) {
    const StressOptions options{.rounds = 10'000'000, .seconds = arguments.seconds / static_cast<double>(plans.size())};
    const Stressed result = stress(*scenario, arguments.fault, plan->plan, options);
    const bool clean = result.failure.kind == FailureKind::kNone;
    failures += clean ? 0 : 1;
    std::printf("%s (%s): %llu rounds%s%s\n", std::string(scenario->name).c_str(), std::string(plan->name).c_str(),
                static_cast<unsigned long long>(result.rounds), clean ? "" : ": ", result.failure.message.c_str());
    std::fflush(stdout);
    if (!clean && !arguments.fault.empty()) break;
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) return std::fprintf(stderr, "usage: %s none|LIBRARY [SECONDS [FAULT]]\n", argv[0]), 2;
  Arguments arguments{argv[1], argc > 3 ? argv[3] : ""};
  if (argc > 2) arguments.seconds = std::strtod(argv[2], nullptr);
  if (arguments.library == "none") return run(arguments);
  const hip::Result<hip::LoadedApi> loaded = hip::load_api(argv[1]);
  if (!loaded) return std::fprintf(stderr, "%s\n", loaded.error().message.c_str()), 2;
  FakeHip::forward_to(&loaded.value().api);
  return run(arguments);
}
