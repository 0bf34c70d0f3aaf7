// The words are for a person: a node of a graph that was recorded again since may have no name any more.
#include "verify/run/race_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "verify/program/text.h"

namespace verify {

namespace {

// The step of the operation; beyond every step where the program had ended.
std::size_t step_of(const Run& run, const RaceSeen::Party& party) {
  const auto after = std::ranges::lower_bound(run.operations, party.operation);
  return static_cast<std::size_t>(after - run.operations.begin());
}

// Where the buffers were at the later of the two operations.
std::string place_of_bytes(const Run& run, const RaceSeen& race) {
  const auto behind = run.buffers_at.upper_bound(std::max(step_of(run, race.a), step_of(run, race.b)));
  const hip::AddressTable none;
  const hip::AddressTable& bases = behind == run.buffers_at.begin() ? none : std::prev(behind)->second;
  for (Id id = 0; id < bases.size(); ++id) {
    const hip::DeviceAddress base = bases[id];
    const std::uint64_t bytes = id < run.context.buffer_bytes.size() ? run.context.buffer_bytes[id] : 0;
    if (base == 0 || race.begin < base || race.end > base + bytes) continue;
    return fmt::format("b{}+{} to b{}+{}", id, race.begin - base, id, race.end - base);
  }
  return fmt::format("bytes {:#x} to {:#x}", race.begin, race.end);
}

// `only`: the one object that counts; none: all of them.
template <class Objects>
std::string name_in(const Objects& objects, char letter, hipGraphNode_t node, std::optional<Id> only = {}) {
  for (const auto& [id, object] : objects) {
    if (id != only.value_or(id)) continue;
    const auto found = std::ranges::find(object.handles.nodes, node);
    if (found == object.handles.nodes.end()) continue;
    const auto index = static_cast<hip::NodeIndex>(found - object.handles.nodes.begin());
    for (const NodePlace& place : object.places) {
      if (index >= place.first && index < place.first + place.fan) return fmt::format("{}{}.n{}", letter, id, place.id);
    }
  }
  return {};
}

std::string words_of(const Run& run, const Program& program, const RaceSeen::Party& party) {
  const std::size_t step = step_of(run, party);
  std::string words = party.wrote ? "written by " : "read by ";
  if (party.node != nullptr) {
    // Executable graphs of one graph share its nodes' handles.
    const auto* launch = step < program.steps.size() ? std::get_if<Launch>(&program.steps[step].command) : nullptr;
    std::string name =
        name_in(run.execs, 'e', party.node, launch != nullptr ? std::optional(launch->exec) : std::nullopt);
    if (name.empty()) name = name_in(run.graphs, 'g', party.node);
    words += name.empty() ? "a node in " : name + " in ";
  }
  if (step >= program.steps.size()) return words + "work at the program's end";
  const Step& command = program.steps[step];
  if (command.line != 0) words += fmt::format("line {} ", command.line);
  return words + fmt::format("'{}'", print_command(command.command));
}

}  // namespace

void note_buffers(Run& run) {
  if (run.platform.operations() == 0) return;
  hip::AddressTable now = run.memory.addresses();
  for (Id id = 0; id < now.size(); ++id) {
    // A freed buffer keeps its last address.
    if (!run.memory.alive(id) && !run.graph_memory.has(id) && !run.stream_memory.has(id) && !run.mapped_memory.has(id))
      now[id] = 0;
  }
  if (run.buffers_at.empty() || run.buffers_at.rbegin()->second != now) run.buffers_at[run.step] = std::move(now);
}

std::string race_in_words(const Run& run, const Program& program, const RaceSeen& race) {
  return fmt::format("{}: {}, {}", place_of_bytes(run, race), words_of(run, program, race.a),
                     words_of(run, program, race.b));
}

}  // namespace verify
