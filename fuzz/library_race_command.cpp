// `hgcheck race --library`: ranks that share a library of a client (verify/execute/library_ranks.h).
//
// The library runs in this process. If it crashes, a handler of the signal says which schedule ran, and the process
// ends with the status of a finding. If it hangs, the process ends without waiting for its threads.
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

void tell_of_crash(int) {
  static_cast<void>(!write(STDOUT_FILENO, crash_text, strnlen(crash_text, sizeof crash_text)));
  std::_Exit(kDiverged);
}

void catch_library_crashes() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, tell_of_crash);
}

std::string text_of(const verify::Preemptions& schedule) {
  return schedule.empty() ? "no preemption" : fmt::format("preempted at call {}", fmt::join(schedule, ", "));
}

void prepare_crash_text(const verify::Preemptions& schedule) {
  const std::string text =
      fmt::format("P11 the library ended the process\nshown by the schedule: {}\n", text_of(schedule));
  const std::size_t size = std::min(text.size(), sizeof crash_text - 1);
  std::memcpy(crash_text, text.data(), size);
  crash_text[size] = 0;
}

void print_result(const LibraryRaceCommand& command, const LibraryRaceResult& result, double seconds) {
  if (result.failure) {
    std::cout << fmt::format("{} {}\nshown by schedule {}: {}\n{}\n", result.failure->property, result.failure->message,
                             result.schedules, text_of(result.failure->schedule), result.failure->picture);
  }
  if (command.quiet && result.failure) return;
  std::string steps;
  for (const auto& [way, count] : result.steps) steps += fmt::format("{}{} {}", steps.empty() ? "" : ", ", count, way);
  std::cout << fmt::format("{} schedules of {} ranks in {:.1f} s, of at most {} calls", result.schedules, command.ranks,
                           seconds, result.calls);
  if (result.complete) std::cout << fmt::format(": every schedule of {} preemptions", command.bound);
  if (result.waited != 0) std::cout << fmt::format("; in {} a rank waited for a lock of the library", result.waited);
  std::cout << fmt::format("\nsteps: {}\n", steps);
  if (!result.failure) std::cout << "clean\n";
}

ordered_json json_of(const LibraryRaceCommand& command, const LibraryRaceResult& result, double seconds) {
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

int refuse(const std::string& why) {
  std::cerr << fmt::format("hgcheck: {}\n", why);
  return kUsage;
}

}  // namespace

int run(const LibraryRaceCommand& command) {
  const hip::Result<verify::LoadedLibrary> loaded = verify::load_library(command.library);
  if (!loaded) return refuse(loaded.error().message);
  if (!loaded.value().commands)
    return refuse(
        fmt::format("{} has version 1 of hip/patcher_abi.h, and threads are only for version 2", command.library));
  catch_library_crashes();
  const auto start = std::chrono::steady_clock::now();
  const LibraryRaceResult result = verify::race_library(
      *loaded.value().commands, {command.ranks, command.bound, command.schedules, command.seconds, prepare_crash_text});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!result.unsupported.empty())
    return refuse(fmt::format("{} cannot be judged: {}", command.library, result.unsupported));
  print_result(command, result, seconds.count());
  int status = result.failure ? kDiverged : kAgreed;
  if (!command.json.empty()) {
    const ordered_json json = json_of(command, result, seconds.count());
    if (const hip::Status written = write_text(command.json, json.dump(2) + "\n"); !written)
      status = refuse(written.error().message);
  }
  if (!result.hangs) return status;
  std::cout << std::flush;
  std::_Exit(status);
}

}  // namespace fuzz
