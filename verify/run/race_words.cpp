// The words are for a person: a buffer that has moved since, or a node of a graph that was recorded again since, may
// have no name any more.
#include "verify/run/race_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "verify/program/text.h"

namespace verify {

namespace {

std::string place_of_bytes(const Run& run, const RaceSeen& race) {
  for (Id id = 0; id < run.memory.size(); ++id) {
    const hip::DeviceAddress base = run.memory.address(id);
    const std::uint64_t bytes = id < run.context.buffer_bytes.size() ? run.context.buffer_bytes[id] : 0;
    if (base == 0 || race.begin < base || race.end > base + bytes) continue;
    return fmt::format("b{}+{} to b{}+{}", id, race.begin - base, id, race.end - base);
  }
  return fmt::format("bytes {:#x} to {:#x}", race.begin, race.end);
}

template <class Objects>
std::string name_in(const Objects& objects, char letter, hipGraphNode_t node) {
  for (const auto& [id, object] : objects) {
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
  std::string words = party.wrote ? "written by " : "read by ";
  if (party.node != nullptr) {
    std::string name = name_in(run.execs, 'e', party.node);
    if (name.empty()) name = name_in(run.graphs, 'g', party.node);
    words += name.empty() ? "a node in " : name + " in ";
  }
  const auto after = std::ranges::lower_bound(run.operations, party.operation);
  const auto step = static_cast<std::size_t>(after - run.operations.begin());
  if (step >= program.steps.size()) return words + "work at the program's end";
  const Step& command = program.steps[step];
  if (command.line != 0) words += fmt::format("line {} ", command.line);
  return words + fmt::format("'{}'", print_command(command.command));
}

}  // namespace

std::string race_in_words(const Run& run, const Program& program, const RaceSeen& race) {
  return fmt::format("{}: {}, {}", place_of_bytes(run, race), words_of(run, program, race.a),
                     words_of(run, program, race.b));
}

}  // namespace verify
