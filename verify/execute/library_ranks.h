// verify::race_library: ranks that share one library of a user (version 2 of hip/patcher_abi.h), under every schedule
// of few preemptions.
//
// Each rank is a thread with a device of the model, a stream and an object of the library of its own. All take the same
// steps: each step fills a buffer, launches a collective that reads it and writes a second buffer, and copies that to a
// third one. Between two steps the buffers move, and the last step has other commands. After a step the ranks meet, as
// they do in a collective.
//
// A rank can be preempted before each call of the library and inside of each call of HIP that the library makes
// (verify/execute/rank_turns.h). hip/patcher_abi.h allows exactly that: one call at a time for each object, while
// another thread calls the library with another object.
//
// After each step these conditions must hold:
//   C6  Each rank has come to the step's collective once, with its own buffers; no rank refuses a step that another
//       rank takes.
//   P3  Each rank's buffers have the bytes of its own commands.
//   P4  The library answers no error: no call of HIP fails here.
//   P8  The library's graphs are gone when its objects are destroyed.
//   P11 The library does not hang. A crash ends the process.
//
// Not checked: code of the library that races between two calls. A rank is never preempted there, and its accesses to
// memory are not watched; ThreadSanitizer does that. A library that takes a lock is judged, but each wait for a lock
// costs 20 ms, and 1 s where the thread spins (RankTurns). The order of such a schedule is not exact, so a failure
// counts when three runs of the schedule fail.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "hip/result/result.h"
#include "verify/execute/command_library.h"
#include "verify/execute/rank_turns.h"

namespace verify {

struct LibraryRaceOptions {
  std::size_t ranks = 2;
  std::size_t bound = 2;                             // preemptions of a schedule
  std::uint64_t schedules = 0;                       // at most; 0: no limit
  double seconds = 0;                                // at most; 0: no limit
  std::chrono::milliseconds hang_patience{30'000};   // without a call: the ranks hang
  std::function<void(const Preemptions&)> before{};  // called before each schedule
};

struct LibraryRaceFailure {
  std::string property, message;
  Preemptions schedule;
  std::string picture;  // the calls as they were made
};

struct LibraryRaceResult {
  std::uint64_t schedules = 0;
  std::uint64_t calls = 0;                     // the most calls of a schedule
  std::uint64_t waited = 0;                    // schedules in which a rank waited for a lock of the library
  bool complete = false;                       // every schedule within the bound
  bool hangs = false;                          // threads still run: the process has to end without waiting for them
  std::map<std::string, std::uint64_t> steps;  // how often the library said which way it went
  std::string unsupported;                     // why the library cannot be judged; empty: it can
  std::optional<LibraryRaceFailure> failure;   // of the first schedule that has one: no other needs fewer preemptions
};

[[nodiscard]] LibraryRaceResult race_library(const CommandLibrary& library, const LibraryRaceOptions& options = {});

}  // namespace verify
