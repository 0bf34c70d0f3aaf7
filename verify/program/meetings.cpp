#include "verify/program/meetings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <optional>
#include <set>

#include "verify/commands/nodes/node_types.h"
#include "verify/program/each_command.h"
#include "verify/program/state.h"
#include "verify/program/text.h"

namespace verify {

namespace {

Object object_of(char letter) {
  switch (letter) {
    case 'g':
      return Object::kGraph;
    case 'e':
      return Object::kExec;
    case 's':
      return Object::kStream;
    case 'v':
      return Object::kEvent;
    case 'r':
      return Object::kRange;
    case 'h':
      return Object::kPhysical;
    default:
      assert(letter == 'b');
      return Object::kBuffer;
  }
}

void put_words(const FixedWord& words, std::vector<std::string>& all) {
  all.emplace_back(words.word);
}
template <class At>
void put_words(const WordByFlag<At>& words, std::vector<std::string>& all) {
  all.emplace_back(words.when_true);
  all.emplace_back(words.when_false);
}
template <class At>
void put_words(const WordOfNode<At>&, std::vector<std::string>& all) {
  for (const NodeWord& row : node_words()) all.push_back(fmt::format("add {}", row.word));
}

// Lists the meetings of a command by its fields, or, without a command, every meeting that its fields can stand for.
// One overload a type of field.
template <class C>
struct MeetingsOfField {
  const C* c;                             // null: every meeting
  const std::vector<std::string>& words;  // all words of C, or the word of the command
  std::vector<Meeting>& out;

  template <class At>
  [[nodiscard]] const auto* value(At at) const {
    return c == nullptr ? nullptr : &std::invoke(at, *c);
  }
  void met(const Meets& met, char letter, const Id* id) const {
    if (met.operation.empty() && met.leaves == Leaves::kNothing) return;
    const Id object = id == nullptr ? 0 : *id;
    if (met.operation != kByWord) {
      out.push_back({std::string(met.operation), object_of(letter), object, met.leaves});
      return;
    }
    for (const std::string& word : words) out.push_back({word, object_of(letter), object, met.leaves});
  }

  void operator()(const FieldOf<NameField, NodeNameField> auto& f) const { met(f.met, f.letter, value(f.at)); }
  void operator()(const FieldOf<OptionalNameField> auto& f) const {
    const std::optional<Id>* const id = value(f.at);
    if (id == nullptr || id->has_value()) met(f.met, f.letter, id == nullptr ? nullptr : &**id);
  }
  void operator()(const FieldOf<TargetField> auto& f) const {
    const Target* const given = value(f.target);
    for (std::size_t i = 0; i < kTargetLetters.size(); ++i) {
      if (f.letters.find(kTargetLetters[i]) == std::string_view::npos) continue;
      const auto target = static_cast<Target>(i);
      if (given != nullptr && *given != target) continue;
      const Leaves leaves = target == Target::kGraph  ? f.on_graph
                            : target == Target::kExec ? f.on_exec
                                                      : Leaves::kNothing;
      met({fmt::format("{} {}", f.operation, kTargetWords[i]), leaves}, kTargetLetters[i], value(f.at));
    }
  }
  void operator()(const FieldOf<NodeOfTargetField> auto& f) const {
    const Target* const given = value(f.target);
    for (const NodeWord& row : node_words()) {
      if (c != nullptr && node_word(*value(f.params)) != row.word) continue;
      if (row.set_in_graph && (given == nullptr || *given == Target::kGraph)) {
        met({fmt::format("set graph {}", row.word), Leaves::kGraphChanged}, 'g', value(f.at));
      }
      if (row.set_in_exec && (given == nullptr || *given == Target::kExec)) {
        met({fmt::format("set exec {}", row.word), Leaves::kNodesSet}, 'e', value(f.at));
      }
    }
  }
  void operator()(const FieldOf<MovesField> auto& f) const {
    if (c == nullptr) return met(kMove, 'b', nullptr);
    for (const BufferMove& move : *value(f.at)) met(kMove, 'b', &move.buffer);
  }
  void operator()(const FieldOf<ParamsField> auto& f) const {
    if (c == nullptr) {
      if (f.word_is_command) met(kAddAsChild, 'g', nullptr);
      return met(kNameInNode, 'b', nullptr);
    }
    const NodeParams& params = *value(f.at);
    const auto* const child = std::get_if<ChildParams>(&params);
    if (child != nullptr && f.word_is_command) met(kAddAsChild, 'g', &child->graph);
    std::set<Id> seen;
    for_each_ref(params, [&](const BufferRef& ref) {
      if (seen.insert(ref.buffer).second) met(kNameInNode, 'b', &ref.buffer);
    });
  }

  // These fields name no object that coverage follows.
  void operator()(
      const FieldOf<NameOrWordField, NodesField, NumberField, ChoiceField, FunctionField, ErrorCaseField,
                    PoolAttributeField, NameKey, NumberKey, OptionalNumberKey, VariableKey, PriorityKey, FlagKey,
                    ChoiceKey, FlagsKey, NodesKey, IntoGraphKey, ContentsKey, NodeAttributesKey> auto&) const {}

 private:
  static constexpr Meets kMove = meets("move", Leaves::kNothing);
  static constexpr Meets kAddAsChild = meets("add as a child", Leaves::kCopied);
  static constexpr Meets kNameInNode = meets("name in a node", Leaves::kNothing);
};

template <class C>
void put_meetings(const C* command, const std::vector<std::string>& words, std::vector<Meeting>& out) {
  for_each_field<C>(MeetingsOfField<C>{command, words, out});
}

}  // namespace

std::vector<Meeting> meetings_of(const Command& command) {
  std::vector<Meeting> meetings;
  std::visit(
      [&]<class C>(const C& c) {
        if constexpr (kIsDeclared<C>) {
          const std::string word(command_word(command));
          put_meetings(&c, {std::is_same_v<C, AddNode> ? "add " + word : word}, meetings);
        }
      },
      command);
  return meetings;
}

// Lists each operation once, in the order of their objects.
std::vector<Meeting> operations() {
  std::vector<Meeting> all;
  for_each_declared([&]<class C>(std::type_identity<C>) {
    std::vector<std::string> words;
    put_words(C::spec().words, words);
    put_meetings<C>(nullptr, words, all);
  });
  std::vector<Meeting> once;
  for (const Object object : {Object::kGraph, Object::kExec, Object::kStream, Object::kEvent, Object::kBuffer,
                              Object::kRange, Object::kPhysical}) {
    for (const Meeting& row : all) {
      const auto same = [&](const Meeting& other) { return other.operation == row.operation; };
      if (row.object != object || row.operation.empty() || std::ranges::any_of(once, same)) continue;
      once.push_back(row);
    }
  }
  return once;
}

}  // namespace verify
