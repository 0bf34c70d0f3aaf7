// A program in the making: its steps, the state after them, the operations that all parts of the generator of programs
// share, and the life of its buffers. The lowest layer of the generator; above it, each on the one before: NodesDraft,
// StreamsDraft, StreamMemoryDraft, VirtualMemoryDraft, GraphMemoryDraft, LaunchesDraft, ThreadsDraft, BlocksDraft, and
// ProgramGenerator, which chooses. Internal to verify/generate.
#pragma once

#include "verify/generate/choices.h"
#include "verify/generate/generator.h"
#include "verify/generate/params.h"
#include "verify/program/names.h"
#include "verify/program/state.h"

namespace verify {

class Draft {
 protected:
  static constexpr int kAttempts = 6;  // draws before an action is given up
  static constexpr std::size_t kMaxBuffers = 8;
  static constexpr std::size_t kMaxGraphs = 5;
  static constexpr std::size_t kMaxExecs = 4;
  static constexpr std::uint64_t kMaxInstances = 400;  // nodes of a graph, fans and children counted

  Draft(Choices& choices, const GeneratorOptions& options)
      : choices_(choices), options_(options), swarm_(draw_swarm(choices)) {
    swarm_.devices = swarm_.devices && options.several_devices;
  }
  virtual ~Draft() = default;

  // Appends a command as often as may_stand() allows, at most `repeat` times; false: not even once.
  bool take(const Command& command, std::uint32_t repeat = 1);
  [[nodiscard]] bool may_stand(const Command& command) const;
  // A command of the topic, drawn by its fields.
  void by_fields(Topic topic);
  [[nodiscard]] Id pick(const std::vector<Id>& ids) { return ids[choices_.below(ids.size())]; }
  // Buffers that a node of `graph` may use: alive, and not known to the graph at an old address.
  [[nodiscard]] std::vector<Id> usable_buffers(const GraphState& graph) const;
  void declare_buffer();
  void move();
  void free_buffer();
  // The live objects of one of State's maps. Of the buffers, only buffers that the program itself places.
  template <class Map>
  [[nodiscard]] std::vector<Id> alive(const Map& map) const {
    std::vector<Id> ids;
    for (const auto& [id, object] : map) {
      if constexpr (std::is_same_v<typename Map::mapped_type, BufferState>) {
        if (object.runtime_places()) continue;  // such memory is named only where it is usable
      }
      if (object.alive) ids.push_back(id);
    }
    return ids;
  }

  Choices& choices_;
  const GeneratorOptions& options_;
  Swarm swarm_;
  State state_;
  Program program_;
  NextNames next_;
  Id thread_ = 0;  // whose commands are drawn; 0: in no block of threads

 private:
  void make_symbol(DeclareBuffer& command, std::optional<Id> module) const;
  void rotate(std::vector<Id> buffers, MoveBuffers& command, std::uint64_t length, bool open);
};

}  // namespace verify
