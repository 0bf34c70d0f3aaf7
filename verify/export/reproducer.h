// A program as one stand-alone HIP source file that needs nothing of hgcheck: the form in which a finding goes to the
// runtime's developers.
//
// Promises: the file builds with hipcc alone (as Catch2: within AMD's HIP tests), makes the HIP calls that the program
// and the strategy make, in the same order, with buffers laid out as they were when the program was run, and shows the
// failure by its exit status (0 as documented, 1 the failure, 2 could not run). A command or a node that has no such
// form is an error that names it.
// The exporter does not know which behaviour is right: the caller gives the checks of the file and the expected bytes
// (`hgcheck export` asks the model). The file does not reproduce the overwriting of arguments after each call, nor
// injected failures.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hip/result/result.h"
#include "verify/program/program.h"

namespace verify {

enum class ReproducerForm : std::uint8_t { kHip, kCatch2 };
enum class ReproducerStrategy : std::uint8_t { kPatch, kRebuild, kUpdate };

// How a command has to end.
struct ExpectedStatus {
  std::string error = "hipSuccess";  // the name of a hipError_t
  int update_result = 0;             // hipGraphExecUpdateResult, of an update
  std::string seen;                  // everything else that the command answers, as StepStatus spells it
  bool differs = false;              // the runtime's answer differs, and the file shows that
  bool only_seen_differs = false;    // the runtime's answer differs in `seen` alone
  std::string saw{};                 // `seen` of the runtime, where only that differs
};
// The bytes that a buffer has to hold from `offset` on, at a `read` or (step: the program's length) at the end.
struct ExpectedBytes {
  std::size_t step = 0;
  Id buffer = 0;
  std::uint64_t offset = 0;
  std::string hex;
};
struct ExpectedTopology {
  Id graph = 0;
  std::size_t nodes = 0, edges = 0;
};

// Each kind of host memory has one arena, and each device has one arena.
inline constexpr std::size_t kArenas = kMemoryKinds + kMaxDevices - 1;
[[nodiscard]] constexpr std::size_t arena_of(MemoryKind memory, Id device) {
  return device == 0 ? static_cast<std::size_t>(memory) : kMemoryKinds + device - 1;
}

struct Reproducer {
  std::string name;                  // of the file, without its extension
  std::vector<std::string> comment;  // the comment at the top of the file, a line each
  Program program;                   // valid, without frozen addresses; it ends with the step that shows the failure
  ReproducerStrategy strategy = ReproducerStrategy::kPatch;
  // With the placement `arena`: the size of each arena, and where in it each declaration and each move puts its buffer,
  // in order.
  std::array<std::uint64_t, kArenas> arena_bytes{};
  std::vector<std::uint64_t> places;
  std::vector<ExpectedStatus> statuses;  // one for each step
  std::vector<ExpectedBytes> bytes;
  std::vector<ExpectedTopology> topology;
  // Graphs of the program into which a capture went that failed: destroying them at the end has to succeed.
  std::vector<Id> owned{};
  bool checks_host_functions = false;
  std::map<std::uint32_t, std::uint64_t> host_functions;  // how often each tag has to run
  bool dies = false;                                      // the file shows a crash or a hang
  bool tears_down = false;                                // everything is destroyed at the end of the file
  std::uint32_t attempts = 1;                             // how often a failure that depends on timing is tried
};

[[nodiscard]] hip::Result<std::string> to_reproducer(const Reproducer& reproducer, ReproducerForm form);

}  // namespace verify
