// `hgcheck race --library`: ranks that share a library of a client (verify/execute/library_ranks.h).
//
// The library runs in this process. If it crashes or calls exit(), a handler says which schedule ran, and the process
// ends with the status of a finding, without JSON. If it hangs, the process ends without waiting for its threads. Not
// caught: _exit().
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "fuzz/commands.h"
#include "fuzz/files.h"
#include "verify/execute/library_ranks.h"
#include "verify/execute/patcher_library.h"

namespace fuzz {

namespace {

using nlohmann::ordered_json;
using verify::LibraryRaceResult;

// The text that the handler writes: a handler may not make one.
char crash_text[256];
volatile std::sig_atomic_t race_runs = 0;

void tell_of_crash(int) {
  static_cast<void>(!::write(STDOUT_FILENO, crash_text, strnlen(crash_text, sizeof crash_text)));
  std::_Exit(kDiverged);
}

void catch_library_ends() {
  struct sigaction action{};
  action.sa_handler = tell_of_crash;
  action.sa_flags = SA_ONSTACK;  // the library may have used up its thread's stack
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
  std::atexit([] {
    if (race_runs != 0) tell_of_crash(0);
  });
}

std::string preemptions_text(const verify::Preemptions& schedule) {
  return schedule.empty() ? "no preemption" : fmt::format("preempted at call {}", fmt::join(schedule, ", "));
}

void prepare_crash_text(const verify::Preemptions& schedule) {
  const std::string text =
      fmt::format("P11 the library ended the process\nshown by the schedule: {}\n", preemptions_text(schedule));
  const std::size_t size = std::min(text.size(), sizeof crash_text - 1);
  std::memcpy(crash_text, text.data(), size);
  crash_text[size] = 0;
}

void print_library_result(const LibraryRaceCommand& command, const LibraryRaceResult& result, double seconds) {
  if (result.failure) {
    std::cout << fmt::format("{} {}\nshown by schedule {}: {}\n{}\n", result.failure->property, result.failure->message,
                             result.schedules, preemptions_text(result.failure->schedule), result.failure->picture);
  }
  if (command.quiet) {
    if (!result.failure) std::cout << "clean\n";
    return;
  }
  std::string steps;
  for (const auto& [way, count] : result.steps) steps += fmt::format("{}{} {}", steps.empty() ? "" : ", ", count, way);
  std::cout << fmt::format("{} schedules of {} ranks in {:.1f} s, of at most {} calls", result.schedules, command.ranks,
                           seconds, result.calls);
  if (result.complete) std::cout << fmt::format(": every schedule of {} preemptions", command.bound);
  if (result.waited != 0)
    std::cout << fmt::format("; in {} a rank waited for a lock, or was slow, and the order is not exact",
                             result.waited);
  std::cout << fmt::format("\nsteps: {}\n", steps);
  if (!result.failure) std::cout << "clean\n";
}

ordered_json library_json(const LibraryRaceCommand& command, const LibraryRaceResult& result, double seconds) {
  ordered_json json = {{"library", command.library},    {"ranks", command.ranks}, {"bound", command.bound},
                       {"schedules", result.schedules}, {"calls", result.calls},  {"complete", result.complete},
                       {"waited", result.waited},       {"seconds", seconds},     {"steps", result.steps}};
  json["findings"] = ordered_json::array();
  if (result.failure) {
    json["findings"].push_back({{"property", result.failure->property},
                                {"summary", result.failure->message},
                                {"preempted", result.failure->schedule},
                                {"calls", result.failure->picture}});
  }
  return json;
}

int refuse_library(const std::string& why) {
  std::cerr << fmt::format("hgcheck: {}\n", why);
  return kUsage;
}

}  // namespace

int run(const LibraryRaceCommand& command) {
  const hip::Result<verify::LoadedLibrary> loaded = verify::load_library(command.library);
  if (!loaded) return refuse_library(loaded.error().message);
  if (!loaded.value().commands)
    return refuse_library(
        fmt::format("{} has version 1 of hip/patcher_abi.h, and threads are only for version 2", command.library));
  if (const hip::Status status = writable("--json", command.json); !status)
    return refuse_library(status.error().message);
  catch_library_ends();
  race_runs = 1;
  const auto start = std::chrono::steady_clock::now();
  const LibraryRaceResult result = verify::race_library(*loaded.value().commands, {.ranks = command.ranks,
                                                                                   .bound = command.bound,
                                                                                   .schedules = command.schedules,
                                                                                   .seconds = command.seconds,
                                                                                   .before = prepare_crash_text});
  race_runs = 0;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!result.unsupported.empty())
    return refuse_library(fmt::format("{} cannot be judged: {}", command.library, result.unsupported));
  if (command.json != "-") print_library_result(command, result, seconds.count());
  int status = result.failure ? kDiverged : kAgreed;
  if (!command.json.empty()) {
    const ordered_json json = library_json(command, result, seconds.count());
    if (const hip::Status written = write_text(command.json, json.dump(2) + "\n"); !written)
      status = refuse_library(written.error().message);
  }
  if (!result.hangs) return status;
  std::cout << std::flush;
  std::_Exit(status);
}

}  // namespace fuzz
