#include "verify/program/coverage.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <map>
#include <optional>
#include <set>

#include "verify/program/coverage_tables.h"
#include "verify/program/state.h"

namespace verify {

namespace {

// The places of an operation's first pair and first triple.
struct First {
  std::size_t pair = 0, triple = 0, states = 0;
};

// All pairs, in the order of operations, and of each pair the triples.
struct Layout {
  std::vector<CoveragePair> pairs;
  std::vector<CoverageTriple> triples;
  std::map<std::string, First, std::less<>> first;

  Layout() {
    for (const Meeting& operation : operations()) {
      First& at = first[operation.operation];
      at.pair = pairs.size();
      for (const StateRow& row : kStates) {
        if (row.object != operation.object) continue;
        pairs.push_back(
            {operation.operation, std::string(row.state.name), why_not(operation.operation, row.state.name)});
      }
      at.states = pairs.size() - at.pair;
    }
    for (const Meeting& operation : operations()) add_triples(first[operation.operation]);
  }

  void add_triples(First& at) {
    at.triple = triples.size();
    for (std::size_t state = 0; state < at.states; ++state) {
      const CoveragePair& pair = pairs[at.pair + state];
      for (std::size_t before = 0; before < at.states; ++before) {
        const std::string& name = pairs[at.pair + before].state;
        triples.push_back({&pair, name, !pair.why_not.empty() || excluded(name, pair.state)});
      }
    }
  }
};

const Layout& layout() {
  static const Layout made;
  return made;
}

// Facts that State does not remember, because no precondition needs them.
struct GraphNotes {
  std::uint64_t changes = 0;
  bool copied = false;
};
// The memory that a view shows, page by page, and where the mapping of each page begins; no value where nothing is.
using Shown = std::vector<std::optional<std::pair<Id, std::uint32_t>>>;
struct ExecNotes {
  std::uint64_t changes_then = 0;  // GraphNotes::changes of its graph when it was instantiated
  bool launched = false, set = false, patched = false, updated = false;
  std::map<Id, Shown> shown = {};  // by view, at the last launch
};
struct StreamNotes {
  bool non_blocking = false, waited = false;
};
struct EventNotes {
  std::uint32_t recorded = 0;
  bool waited = false;
};

class Tracker {
 public:
  Tracker(std::span<std::uint64_t> counts, std::vector<std::uint32_t>* triples) : counts_(counts), triples_(triples) {}

  void take(const Command& command) {
    const std::vector<Meeting> meetings = meetings_of(command);
    std::vector<std::pair<Named, Mask>> now;
    for (const Meeting& met : meetings) {
      if (met.operation.empty()) continue;
      now.emplace_back(Named{met.object, met.id}, states(met.object, met.id));
      count(met.operation, now.back().second, before_[now.back().first]);
    }
    for (const auto& [object, mask] : now) before_[object] = mask;
    state_.apply(command);
    for (const Meeting& met : meetings) leave(met.leaves, met.id);
    if (const auto* declared = std::get_if<DeclareStream>(&command)) {
      streams_[declared->stream].non_blocking = declared->non_blocking;
    } else if (const auto* unmapped = std::get_if<UnmapMemory>(&command)) {
      unmapped_.insert(unmapped->range);
    }
  }

 private:
  using Mask = std::uint32_t;
  using Named = std::pair<Object, Id>;

  void count(std::string_view operation, Mask mask, Mask before) {
    const auto found = layout().first.find(operation);
    assert(found != layout().first.end());
    const First& first = found->second;
    for (std::size_t state = 0; mask >> state != 0; ++state) {
      if ((mask >> state & 1U) == 0) continue;
      ++counts_[first.pair + state];
      if (triples_ != nullptr) note(first.triple + state * first.states, before);
    }
  }
  void note(std::size_t first, Mask before) {
    for (; before != 0; before &= before - 1) {
      triples_->push_back(static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(std::countr_zero(before)));
    }
  }
  static Mask bits(std::initializer_list<bool> states) {
    Mask mask = 0;
    unsigned bit = 0;
    for (const bool state : states) mask |= Mask{state} << bit++;
    return mask;
  }

  [[nodiscard]] std::size_t executables(Id graph, bool running) const {
    std::size_t count = 0;
    for (const auto& [id, exec] : state_.execs()) {
      if (exec.alive && exec.origin == graph && (!running || state_.exec_running(id))) ++count;
    }
    return count;
  }

  // ---- the states of each object, in the order of kStates

  [[nodiscard]] Mask graph(Id id) const {
    const GraphState& graph = *state_.graph(id);
    const auto notes = graphs_.find(id);
    bool children = false, changed = false;
    std::uint64_t nodes = 0;
    for (const NodeState& node : graph.nodes) {
      nodes += node.fan;
      children = children || node.child != nullptr;
    }
    for (const auto& [exec_id, exec] : state_.execs()) {
      const auto known = execs_.find(exec_id);
      changed = changed || (exec.alive && exec.origin == id && known != execs_.end() && notes != graphs_.end() &&
                            known->second.changes_then != notes->second.changes);
    }
    return bits({graph.nodes.empty(), children, nodes >= kWide, !state_.current(graph), executables(id, false) != 0,
                 executables(id, true) != 0, changed, notes != graphs_.end() && notes->second.copied, graph.cloned,
                 !graph.removed.empty(), graph.has_memory});
  }
  [[nodiscard]] Mask exec(Id id) const {
    const ExecState& exec = *state_.exec(id);
    const auto found = execs_.find(id);
    const ExecNotes notes = found == execs_.end() ? ExecNotes{} : found->second;
    const auto origin = graphs_.find(exec.origin);
    const bool running = state_.exec_running(id);
    bool disabled = false;
    for (const NodeState& node : exec.graph.nodes) disabled = disabled || !node.enabled;
    return bits({!notes.launched, running, notes.launched && !running, !state_.current(exec.graph),
                 exec.graph.nodes.empty(), notes.set, notes.patched, notes.updated, !state_.graph(exec.origin)->alive,
                 origin != graphs_.end() && origin->second.changes != notes.changes_then,
                 executables(exec.origin, false) > 1, disabled, !exec.gone.empty(), state_.unfreed_memory(exec.graph),
                 shows_other_memory(exec.graph, notes.shown)});
  }
  [[nodiscard]] Mask stream(Id id) const {
    const auto found = streams_.find(id);
    const StreamNotes notes = found == streams_.end() ? StreamNotes{} : found->second;
    const bool busy = state_.stream_busy(id);
    const CaptureState* capture = state_.capture_of(id);
    return bits({id == kNullStream, id != kNullStream && !notes.non_blocking, notes.non_blocking, busy, !busy,
                 notes.waited, capture != nullptr && capture->valid, capture != nullptr && !capture->valid,
                 state_.device_of_stream(id) != 0});
  }
  [[nodiscard]] Mask event(Id id) const {
    const auto found = events_.find(id);
    const EventNotes notes = found == events_.end() ? EventNotes{} : found->second;
    return bits({notes.recorded == 0, notes.recorded != 0, notes.recorded > 1, notes.waited, state_.event_captured(id),
                 state_.device_of_event(id) != 0});
  }
  [[nodiscard]] Mask buffer(Id id) const {
    const BufferState& buffer = *state_.buffer(id);
    const bool named = named_by_graph(id);
    return bits({buffer.memory == MemoryKind::kDevice, buffer.memory == MemoryKind::kPinned,
                 buffer.memory == MemoryKind::kPageable, buffer.version == 0, buffer.version != 0, named,
                 state_.buffer_in_use(id), buffer.graph.has_value(), buffer.symbol.has_value(), buffer.of_stream,
                 buffer.device != 0, buffer.view.has_value(), buffer.view && shows_shared(id)});
  }
  [[nodiscard]] Mask range(Id id) const {
    const RangeState& range = state_.ranges().at(id);
    bool named = false, busy = false, viewed = false, shared = false, released = false;
    for (const auto& [buffer, state] : state_.buffers()) {
      if (!state.view || state.view->range != id || !state.alive) continue;
      viewed = true;
      named = named || named_by_graph(buffer);
      busy = busy || state_.buffer_in_use(buffer);
    }
    for (const auto& [page, mapping] : range.mappings) {
      shared = shared || times_mapped(mapping.memory) > 1;
      released = released || !state_.memories().at(mapping.memory).alive;
    }
    return bits({range.mappings.empty(), !range.mappings.empty(), unmapped_.contains(id), viewed, named, busy, shared,
                 released, !state_.captures().empty(), range.device != 0});
  }
  [[nodiscard]] Mask physical(Id id) const {
    const std::size_t times = times_mapped(id);
    bool named = false;
    for (const auto& [buffer, state] : state_.buffers()) {
      named = named || (state.view && state.alive && shows(buffer, id) && named_by_graph(buffer));
    }
    const PhysicalState& memory = state_.memories().at(id);
    return bits({times == 0, times > 0, times > 1, named, memory.handles > 1, memory.device != 0});
  }

  // ---- what the states of mapped memory need

  [[nodiscard]] bool named_by_graph(Id buffer) const {
    const auto names = [buffer](const auto& entry) {
      if constexpr (requires { entry.second.graph; }) {
        return entry.second.alive && entry.second.graph.addresses.contains(buffer);
      } else {
        return entry.second.alive && entry.second.addresses.contains(buffer);
      }
    };
    return std::ranges::any_of(state_.graphs(), names) || std::ranges::any_of(state_.execs(), names);
  }
  [[nodiscard]] std::size_t times_mapped(Id memory) const {
    std::size_t times = 0;
    for (const auto& [id, range] : state_.ranges()) {
      for (const auto& [page, mapping] : range.mappings) times += mapping.memory == memory ? 1 : 0;
    }
    return times;
  }
  [[nodiscard]] Shown shown(const BufferState& buffer) const {
    Shown pages;
    if (!state_.ranges().at(buffer.view->range).alive) return pages;
    for (std::uint32_t i = 0; i < pages_of(buffer.bytes); ++i) {
      const auto [mapping, first] = state_.parts().memory.mapped.at(buffer.view->range, buffer.view->page + i);
      pages.push_back(mapping == nullptr ? std::nullopt : std::optional(std::pair(mapping->memory, first)));
    }
    return pages;
  }
  [[nodiscard]] std::map<Id, Shown> shown(const GraphState& graph) const {
    std::map<Id, Shown> all;
    if (state_.ranges().empty()) return all;
    for (const auto& [id, version] : graph.addresses) {
      if (const BufferState* buffer = state_.buffer(id); buffer != nullptr && buffer->view) all[id] = shown(*buffer);
    }
    return all;
  }
  [[nodiscard]] bool shows_other_memory(const GraphState& graph, const std::map<Id, Shown>& before) const {
    return std::ranges::any_of(before, [&](const auto& entry) {
      const auto& [view, pages] = entry;
      return graph.addresses.contains(view) && pages != shown(*state_.buffer(view));
    });
  }
  [[nodiscard]] bool shows(Id view, Id memory) const {
    return std::ranges::any_of(shown(*state_.buffer(view)),
                               [memory](const auto& page) { return page && page->first == memory; });
  }
  [[nodiscard]] bool shows_shared(Id view) const {
    return std::ranges::any_of(shown(*state_.buffer(view)),
                               [this](const auto& page) { return page && times_mapped(page->first) > 1; });
  }

  [[nodiscard]] Mask states(Object object, Id id) const {
    switch (object) {
      case Object::kGraph:
        return graph(id);
      case Object::kExec:
        return exec(id);
      case Object::kStream:
        return stream(id);
      case Object::kEvent:
        return event(id);
      case Object::kBuffer:
        return buffer(id);
      case Object::kRange:
        return range(id);
      case Object::kPhysical:
        return physical(id);
    }
    return 0;
  }
  void leave(Leaves leaves, Id id) {
    switch (leaves) {
      case Leaves::kNothing:
        break;
      case Leaves::kGraphChanged:
        ++graphs_[id].changes;
        break;
      case Leaves::kCopied:
        graphs_[id].copied = true;
        break;
      case Leaves::kInstantiated:
        execs_[id].changes_then = graphs_[state_.exec(id)->origin].changes;
        break;
      case Leaves::kLaunched:
        execs_[id].launched = true;
        execs_[id].shown = shown(state_.exec(id)->graph);
        break;
      case Leaves::kNodesSet:
        execs_[id].set = true;
        break;
      case Leaves::kPatched:
        execs_[id].patched = true;
        break;
      case Leaves::kUpdated:
        execs_[id].updated = true;
        break;
      case Leaves::kRecorded:
        ++events_[id].recorded;
        break;
      case Leaves::kWaitedFor:
        events_[id].waited = true;
        break;
      case Leaves::kBehindAnEvent:
        streams_[id].waited = true;
        break;
    }
  }

  static constexpr std::uint64_t kWide = 16;  // with this many nodes 7.2.4 spreads a graph over several streams

  std::span<std::uint64_t> counts_;
  std::vector<std::uint32_t>* triples_;
  State state_;
  std::map<Named, Mask> before_;  // 0: the object was not met yet
  std::map<Id, GraphNotes> graphs_;
  std::map<Id, ExecNotes> execs_;
  std::map<Id, StreamNotes> streams_;
  std::map<Id, EventNotes> events_;
  std::set<Id> unmapped_;  // ranges
};

}  // namespace

std::span<const CoveragePair> coverage_pairs() {
  return layout().pairs;
}

std::span<const CoverageTriple> coverage_triples() {
  return layout().triples;
}

std::string name_of(const CoverageTriple& triple) {
  return triple.pair->operation + " with " + triple.pair->state + ", after " + std::string(triple.before);
}

std::span<const StateMeaning> object_states() {
  return kMeanings;
}

void count_pairs(const Program& program, std::span<std::uint64_t> counts, std::vector<std::uint32_t>* triples) {
  assert(counts.size() == coverage_pairs().size());
  Tracker tracker(counts, triples);
  for (const Step& step : program.steps) {
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) tracker.take(step.command);
  }
}

}  // namespace verify
