// Observations: the results that a client of HIP sees while a program runs, by symbolic name.
//
// An observation has statuses, bytes, topology, parameters of graph nodes, and host functions that ran. Addresses
// appear only inside bytes, where both sides of a comparison have the same addresses. An observation also carries the
// findings of property detectors: they are evidence, and an oracle does not compare them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "verify/execute/death.h"
#include "verify/program/program.h"

namespace verify {

// Properties in the order of their rank: a finding is named after the first property in this order that it breaks.
enum class PropertyId : std::uint8_t {
#define PROPERTY(name, title, sentence) k##name,
#include "verify/execute/properties.inc"
#undef PROPERTY
};
#define PROPERTY(name, title, sentence) +1
inline constexpr std::size_t kProperties = 0
#include "verify/execute/properties.inc"
    ;
#undef PROPERTY

// One breach of a property, as its detector saw it.
struct Violation {
  PropertyId property = PropertyId::kP3;
  std::size_t step = 0;  // of the program
  std::string where;     // "g0.n3 argument 'in'", "b1+16"
  std::string expected;
  std::string observed;
};

// How one command ended.
struct StepStatus {
  int code = 0;                  // hipError_t of the command
  int update_result = -1;        // hipGraphExecUpdateResult of an update, else -1
  std::string seen;              // other answers of the command, by symbolic names; empty for most
  std::uint32_t repetition = 0;  // of a repeated command that failed: the number of the failed repetition, from 1
  bool operator==(const StepStatus&) const = default;
};

// The cost of one command, where costs were asked for (P10): counts, never times.
struct StepCost {
  std::uint64_t calls = 0;        // calls of HIP by the subject's side
  std::uint64_t allocations = 0;  // heap allocations by the thread that calls
  std::uint64_t bytes = 0;        // bytes of these allocations
  std::uint64_t steps = 0;        // nodes and edges that the model visits; 0 elsewhere
  std::uint64_t instantiations = 0;
};

struct BytesSeen {
  std::size_t step = 0;  // the step of the read, or the program's length for bytes at the end
  Id buffer = 0;
  std::vector<std::byte> bytes;
};

// Nodes by index of insertion.
struct TopologySeen {
  Id graph = 0;
  std::vector<int> types;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  // sorted
  bool operator==(const TopologySeen&) const = default;
};

// The runtime's own report of faults and races; the races are white box, only where the runtime is a model.
struct RuntimeNotes {
  std::string fault;  // the first illegal access, or empty
  std::uint64_t races = 0;
  std::string first_race;
};

// One kind of resource that a runtime still holds after a program's commands (P8), where the runtime can report it.
struct Held {
  std::string what;  // "graphs", "bytes of memory"
  std::uint64_t count = 0;
};

// Counts of the steps of command buffers, by what each step says that it did: `launched` (nothing had to be changed),
// `set`, `updated`, `recorded`, `refused`; `setter calls`: of the steps that set; `refused: WHY` and `failed: WHY`, by
// reason: a step that failed gave an error, which a program may want (`fail`). A program has at most kMaxReasons of
// each; further ones are `other reasons`.
using StepCounts = std::map<std::string, std::uint64_t>;
inline constexpr std::size_t kMaxReasons = 16;

struct Observation {
  std::vector<StepStatus> statuses;      // one for each step
  std::vector<Held> held;                // where it was asked for
  std::vector<StepCost> costs;           // one for each step, or none
  std::vector<std::uint16_t> signature;  // what the runtime did, where it was asked for (Platform::signature())
  std::vector<BytesSeen> reads;
  std::vector<TopologySeen> topology;
  std::map<std::uint32_t, std::uint64_t> host_tags;  // how often each host function ran

  std::vector<Violation> violations;
  std::array<std::uint64_t, kProperties> exercised{};
  RuntimeNotes notes;
  std::uint64_t calls = 0;  // HIP calls that the subject's side made
  std::uint64_t patches = 0, fallbacks = 0;
  StepCounts steps;  // of a library's command buffers, and of the project's own
  // Commands whose patch was in place, or whose launch was a library's step in place, without an injected failure, in
  // order.
  std::vector<std::size_t> patched_in_place;
  std::uint64_t failures_fired = 0;  // injected failures that came true
  bool spoils_process = false;       // the runtime may keep state that the next program would meet
  std::string unsupported;           // the function that the runtime lacks, or empty
  std::string harness_error;         // the executor could not go on; nothing can be concluded
  // How the subject's process ended when it did not reach the program's end, and the step that it was in. Statuses end
  // before that step.
  std::optional<Death> death;
  std::size_t death_step = 0;
};

}  // namespace verify
