// P8 no leak, no use after free: every handle, allocation and byte is released exactly once, and many repetitions of a
// cycle hold no more than few do.
//
// The executor checks after tear-down that everything is released; this is the other half. It counts the live handles
// and allocations of the model; of the software gfx942 the memory in its memory pools, reservations, handles of memory
// and locks; the device's memory in use, as the runtime itself reports it; and the heap, the resident memory, the file
// descriptors and the threads of the process, where growth has to be larger than some noise in each round. It does not
// count objects that a runtime keeps and reuses (streams of its own, signals): a run of many cycles comes before the
// runs that are compared.
#include <fmt/format.h>

#include <algorithm>

#include "verify/execute/resources.h"
#include "verify/program/state.h"
#include "verify/properties/cycles.h"

namespace verify {

namespace {

constexpr std::uint64_t kMostSteps = 4096;           // of a cycled program, repetitions counted
constexpr std::uint64_t kMostNodes = 1 << 18;        // that its launches run
constexpr std::uint64_t kResidentNoise = 256 << 10;  // bytes a round

// The sum of the capacities of all live buffers.
std::uint64_t room_of(const State& state) {
  std::uint64_t bytes = 0;
  for (const auto& [id, buffer] : state.buffers()) bytes += buffer.alive ? buffer.capacity : 0;
  return bytes;
}

// How many times in a row the command is valid. A second launch must not race with the first, so the command is checked
// again after each time. A move that hands places on gives a larger place to another buffer each time: it may be
// repeated if the places stop growing after a few times.
std::uint32_t times_in_a_row(State state, const Command& command, std::uint32_t times) {
  std::uint32_t stood = 0;
  std::uint64_t room = 0;
  const bool moves = std::holds_alternative<MoveBuffers>(command);
  for (; stood < times; ++stood) {
    if (state.check(command) || state.may_be_refused(command)) break;
    if (stood != 0 && !state.may_stand_again(command)) break;
    state.apply(command);
    if (stood == 2 && !moves) return times;  // the command means the same each time
    if (stood + 1 == kRoundsOfCommands.few) room = room_of(state);
    if (stood >= kRoundsOfCommands.few && room_of(state) != room) break;
  }
  return stood;
}

// Growth of a count of the process that may be noise: a runtime's own threads allocate at any time.
std::uint64_t noise_of(const std::string& what, const Rounds& rounds) {
  const std::uint64_t more = rounds.many - rounds.few;
  if (what == kHeapBytes) return more * rounds.heap;
  if (what == kResidentBytes) return more * kResidentNoise;
  return what == kThreads || what == kFileDescriptors ? more / 2 : 0;
}

std::uint64_t nodes_run_by(const State& state, const Command& command) {
  const auto* launch = std::get_if<Launch>(&command);
  return launch == nullptr ? 0 : state.exec(launch->exec)->graph.instances;
}

bool gives_work(const Command& command) {
  return std::holds_alternative<Launch>(command) || std::holds_alternative<Enqueue>(command);
}

}  // namespace

std::optional<Program> cycled(const Program& program, std::uint32_t times, bool works) {
  if (program.steps.size() > kMostSteps) return {};
  Program longer;
  longer.setting = program.setting;
  State state;
  std::uint64_t steps = 0, nodes = 0;
  bool any = false;
  for (const Step& step : program.steps) {
    if (arms_failure(step.command)) continue;
    Step changed = step;
    const bool may = step.repeat == 1 && (works || !gives_work(step.command)) && state.captures().empty() &&
                     state.may_stand_again(step.command);
    // A command is repeated both with few and with many cycles, or never: so it has to be valid kRoundsOfCommands.many
    // times.
    if (may && times_in_a_row(state, step.command, kRoundsOfCommands.many) == kRoundsOfCommands.many) {
      changed.repeat = times;
      any = true;
    }
    for (std::uint32_t k = 0; k < repeats_that_matter(changed); ++k) {
      if (state.check(changed.command)) return {};  // it needs the places from before an earlier repetition
      state.apply(changed.command);
    }
    steps += changed.repeat;
    nodes += changed.repeat * nodes_run_by(state, changed.command);
    longer.steps.push_back(std::move(changed));
  }
  if (!any || steps > kMostSteps || nodes > kMostNodes || validate(longer)) return {};
  return longer;
}

std::vector<Growth> grown(std::span<const Held> few, std::span<const Held> many, std::span<const Held> few_again,
                          const Rounds& rounds) {
  const auto count_in = [](std::span<const Held> counts, const std::string& what) -> std::optional<std::uint64_t> {
    const auto found = std::ranges::find(counts, what, &Held::what);
    return found == counts.end() ? std::nullopt : std::optional(found->count);
  };
  std::vector<Growth> growths;
  for (const Held& held : many) {
    const std::optional<std::uint64_t> then = count_in(few, held.what), again = count_in(few_again, held.what);
    if (!then || !again) continue;
    if (held.count <= *then || (*again > held.count && *again - held.count >= held.count - *then)) continue;
    if (held.count - *then <= noise_of(held.what, rounds)) continue;
    growths.push_back({held.what, *then, held.count});
  }
  return growths;
}

std::string described(std::span<const Growth> growths) {
  std::string text;
  for (const Growth& growth : growths)
    text += fmt::format("{}{} {} and not {}", text.empty() ? "" : ", ", growth.after, growth.what, growth.before);
  return text;
}

bool in_pieces(std::span<const Growth> growths, const Rounds& rounds) {
  return std::ranges::all_of(growths, [&](const Growth& growth) {
    if (growth.what == kAllocations) return growth.after - growth.before < rounds.many - rounds.few;
    return growth.what == kBytesOfMemory || growth.what == kBytesOfTheDevice || growth.what == kResidentBytes;
  });
}

}  // namespace verify
