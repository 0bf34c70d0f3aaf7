// P8's measure: the handles and memory that a runtime holds after few rounds of a program's cycles, and after many.
//
// A cycle is a command that makes nothing new, repeated in its place, or a group: the end of the program, from some
// step on, with commands that give back all that it makes. After the program's last command the runtime has to hold the
// same handles, allocations and bytes after few and after many rounds, and the process no more than some noise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verify/execute/observation.h"
#include "verify/program/program.h"

namespace verify {

struct Rounds {
  std::uint32_t few = 2, many = 0;
  // Bytes of the heap that a round may keep in the process: names and results that the executor notes, small caches.
  std::uint64_t heap = 0;
};
inline constexpr Rounds kRoundsOfCommands{2, 64, 3 << 10}, kRoundsOfGroups{2, 16, 320 << 10};
// The same where commands that give work repeat: AMD's 7.2 keeps 4 to 60 KB for each launch that waits behind another.
inline constexpr std::uint64_t kHeapOfWaitingWork = 64 << 10;

// `program` with each command repeated `times` in a row where that is valid and means the same each time: launches and
// enqueued work only with `works`. Injected failures are left out. No value where no command can be repeated, or where
// the program would be too long.
[[nodiscard]] std::optional<Program> cycled(const Program& program, std::uint32_t times, bool works = true);

// Where the groups of `program` begin: behind its first buffers and streams, and behind its first instantiation.
[[nodiscard]] std::vector<std::size_t> groups_of(const Program& program);

// `program` with its steps from `begin` on in a block that repeats `times`, and that waits for the devices and gives
// back what it made at its end. Steps that a later round could not repeat are left out, as are injected failures. No
// value where none is left, or where the program would be too long.
[[nodiscard]] std::optional<Program> grouped(const Program& program, std::size_t begin, std::uint32_t times);

// A count that was larger after many rounds than after few.
struct Growth {
  std::string what;
  std::uint64_t before = 0, after = 0;
};

// The counts that are larger in `many` than in the earlier `few`. Counts that grow as much again in the later
// `few_again` are left out: a pool may grow now and then, whatever runs. Growth of the process is left out, too, where
// it is no more than the noise of each round, and so is a count that one of the three lacks: a run that records a
// graph's definition again counts handles alone, and whether it does may depend on the number of cycles (after an even
// number of moves a buffer may be back at its old address).
[[nodiscard]] std::vector<Growth> grown(std::span<const Held> few, std::span<const Held> many,
                                        std::span<const Held> few_again, const Rounds& rounds = kRoundsOfCommands);
[[nodiscard]] std::string described(std::span<const Growth> growths);

// Whether only memory grew, and by fewer allocations than there were rounds more: what a quirk that "grows" explains.
[[nodiscard]] bool in_pieces(std::span<const Growth> growths, const Rounds& rounds);

}  // namespace verify
