#include "verify/generate/draw_fields.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "verify/program/each_command.h"

namespace verify {

namespace {

template <class Map>
std::vector<Id> alive(const Map& objects) {
  std::vector<Id> ids;
  for (const auto& [id, object] : objects) {
    if (object.alive) ids.push_back(id);
  }
  return ids;
}

// The choices and the state from which the fields of one command are drawn.
struct Source {
  Choices& choices;
  const State& state;
  NextNames names;
  Id devices;

  [[nodiscard]] std::optional<Id> object(char letter) const {
    const std::vector<Id> ids = live_objects(state, letter);
    return ids.empty() ? std::nullopt : std::optional<Id>(ids[choices.below(ids.size())]);
  }
  // A number: an end of the range, a likely size of a buffer, or any number.
  [[nodiscard]] std::uint64_t number(std::uint64_t least, std::uint64_t max) const {
    static constexpr std::array<std::uint64_t, 5> kLikely = {0, 1, 64, 256, 4096};
    if (choices.percent(10)) return max;
    const std::uint64_t drawn = choices.percent(20) ? choices.below(1 << 16) : kLikely[choices.below(kLikely.size())];
    return std::clamp(drawn, least, max);
  }
  [[nodiscard]] Id device() const { return static_cast<Id>(choices.below(devices)); }
};

// Draws the field of a command; false where there is no object that it could name. One overload for each type of field.
template <class C>
struct FieldDrawer {
  C& c;
  Source& from;

  template <class At>
  [[nodiscard]] auto& value(At at) const {
    return value_at(at, c);
  }
  template <class At, class Value>
  void put(At at, Value drawn) const {
    value(at) = static_cast<std::remove_cvref_t<decltype(value(at))>>(drawn);
  }

  bool operator()(const FieldOf<NameField> auto& f) const {
    if (f.met.is_made) {
      put(f.at, from.names.of(f.letter));
      return live_objects(from.state, f.letter).size() < kMostDrawnObjects;
    }
    const std::optional<Id> id = from.object(f.letter);
    if (id) put(f.at, *id);
    return id.has_value();
  }
  bool operator()(const FieldOf<OptionalNameField> auto& f) const {
    if (from.choices.percent(50)) value(f.at) = from.object(f.letter);
    return true;
  }
  bool operator()(const FieldOf<NameOrWordField> auto& f) const {
    if (from.choices.percent(75)) value(f.at) = from.object(f.letter);
    return true;
  }
  bool operator()(const FieldOf<NameKey> auto& f) const {
    if (from.choices.percent(40)) value(f.at) = from.object(f.letter);
    return true;
  }
  bool operator()(const FieldOf<TargetField> auto& f) const {
    const std::size_t drawn = from.choices.below(f.letters.size() + (f.device ? 1 : 0));
    if (drawn == f.letters.size()) {
      put(f.target, Target::kDevice);
      return true;
    }
    const std::optional<Id> id = from.object(f.letters[drawn]);
    if (id) put(f.at, *id);
    put(f.target, kTargetLetters.find(f.letters[drawn]));
    return id.has_value();
  }
  bool operator()(const FieldOf<NodeNameField> auto& f) const {
    const std::optional<Id> id = from.object(f.letter);
    if (!id) return false;
    const GraphState& graph = f.letter == 'e' ? from.state.exec(*id)->graph : *from.state.graph(*id);
    if (graph.nodes.empty()) return false;
    put(f.at, *id);
    put(f.node, graph.nodes[from.choices.below(graph.nodes.size())].id);
    return true;
  }
  bool operator()(const FieldOf<NumberField> auto& f) const {
    put(f.at, f.is_device ? from.device() : from.number(f.least, f.max));
    return true;
  }
  bool operator()(const FieldOf<NumberKey> auto& f) const {
    if (f.is_device) {
      put(f.at, from.device());
    } else if (from.choices.percent(15)) {
      put(f.at, from.choices.between(f.least, f.max));
    }
    return true;
  }
  bool operator()(const FieldOf<OptionalNumberKey> auto& f) const {
    if (from.choices.percent(40)) value(f.at) = static_cast<std::uint32_t>(from.choices.between(0, f.max));
    return true;
  }
  bool operator()(const FieldOf<PriorityKey> auto& f) const {
    if (from.choices.percent(30)) put(f.at, static_cast<std::int32_t>(from.choices.below(5)) - 2);
    return true;
  }
  bool operator()(const FieldOf<FlagKey> auto& f) const {
    put(f.at, from.choices.percent(30));
    return true;
  }
  bool operator()(const FieldOf<ChoiceField> auto& f) const {
    put(f.at, from.choices.below(f.words.size()));
    return true;
  }
  bool operator()(const FieldOf<ChoiceKey> auto& f) const {
    if (from.choices.percent(50)) put(f.at, from.choices.below(f.words.size()));
    return true;
  }
  // One flag alone more often than several: known deviations of several hide what each of them does.
  bool operator()(const FieldOf<FlagsKey> auto& f) const {
    if (from.choices.percent(60)) {
      value(f.at) = f.words[from.choices.below(f.words.size())].first;
      return true;
    }
    for (const auto& [bit, word] : f.words) {
      if (from.choices.percent(25)) value(f.at) |= bit;
    }
    return true;
  }
  bool operator()(const FieldOf<PoolAttributeField> auto& f) const {
    const auto drawn = static_cast<PoolAttribute>(from.choices.below(kPoolAttributeWords.size()));
    put(f.at, drawn);
    if (!from.choices.percent(60)) return true;
    value(f.value) = drawn == PoolAttribute::kThreshold ? from.choices.below(2) * 4096
                     : is_kept(drawn)                   ? from.choices.below(2)
                                                        : 0;
    return true;
  }
  // Draws the seed of a pattern: only recorded programs have explicit bytes.
  bool operator()(const FieldOf<ContentsKey> auto& f) const {
    put(f.seed, from.choices.below(1000));
    return true;
  }
  bool operator()(const FieldOf<NodeAttributesKey> auto& f) const {
    const std::uint64_t draw = from.choices.below(100);
    if (draw < 50) {
      value(f.at).priority = static_cast<std::int32_t>(from.choices.below(2 * kMaxNodePriority + 1)) - kMaxNodePriority;
    }
    if (draw >= 40 && draw < 85) value(f.at).cooperative = from.choices.percent(60);
    if (draw >= 75) value(f.at).window = static_cast<std::uint32_t>(from.choices.below(101));
    return true;
  }
};

template <class C>
bool draw_word(const FixedWord&, C&, Source&) {
  return true;
}
template <class At, class C>
bool draw_word(const WordByFlag<At>& words, C& c, Source& from) {
  value_at(words.at, c) = from.choices.percent(50);
  return true;
}

template <class C>
std::optional<Command> draw_fields(Source& from) {
  C c;
  constexpr auto spec = C::spec();
  const bool drawn =
      draw_word(spec.words, c, from) &&
      std::apply([&](const auto&... field) { return (FieldDrawer<C>{c, from}(field) && ...); }, spec.fields);
  return drawn ? std::optional<Command>(std::move(c)) : std::nullopt;
}

struct Row {
  Topic topic;
  unsigned weight;
  std::optional<Command> (*draw)(Source& from);
};

// The commands that are drawn by their fields, in the order of Command.
const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> made;
    for_each_declared([&]<class C>(std::type_identity<C>) {
      constexpr Drawn drawn = C::spec().drawn;
      if constexpr (drawn.by_fields) made.push_back({drawn.topic, drawn.weight, &draw_fields<C>});
    });
    return made;
  }();
  return all;
}

const Row& pick_row(Choices& choices, Topic topic) {
  std::uint64_t total = 0;
  for (const Row& row : rows()) total += row.topic == topic ? row.weight : 0;
  std::uint64_t draw = choices.below(total);
  const Row* picked = nullptr;
  for (const Row& row : rows()) {
    if (row.topic != topic) continue;
    picked = &row;
    if (draw < row.weight) break;
    draw -= row.weight;
  }
  assert(picked != nullptr);  // each topic has a command
  return *picked;
}

}  // namespace

std::vector<Id> live_objects(const State& state, char letter) {
  switch (letter) {
    case 'b':
      return alive(state.buffers());
    case 'g':
      return alive(state.graphs());
    case 'e':
      return alive(state.execs());
    case 's':
      return state.live_streams();
    case 'v':
      return state.live_events();
    case 'p':
      return alive(state.pools());
    case 'm':
      return state.live_modules();
    case 'r':
      return alive(state.ranges());
    case 'h':
      return alive(state.memories());
    default: {
      assert(letter == 'u');
      std::vector<Id> ids;
      for (const auto& [id, references] : state.user_objects()) ids.push_back(id);
      return ids;
    }
  }
}

std::optional<Command> draw_by_fields(Choices& choices, const State& state, NextNames names, Topic topic, Id devices) {
  Source from{choices, state, names, devices};
  for (int attempt = 0; attempt < kFieldsAttempts; ++attempt) {
    // Draws the same command several times: one that few objects fit would be rare if the first draw that does not fit
    // led to another command.
    constexpr int kDrawsOfOne = 6;
    const Row& row = pick_row(choices, topic);
    for (int draw = 0; draw < kDrawsOfOne; ++draw) {
      std::optional<Command> command = row.draw(from);
      if (command && !state.check(*command)) return command;
    }
  }
  return {};
}

}  // namespace verify
