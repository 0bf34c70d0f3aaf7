#include "verify/program/names.h"

#include <algorithm>
#include <cassert>

#include "verify/program/each_command.h"

namespace verify {

namespace {

// The names in a field. Each type of field has an overload.
template <class C>
struct NamesOfField {
  C& c;
  const VisitName& visit;

  void optional(std::optional<Id>& id, char letter) const {
    if (id) visit(letter, *id, false);
  }
  void target(Target target, Id& id) const {
    if (target != Target::kDevice) visit(kTargetLetters[static_cast<std::size_t>(target)], id, false);
  }
  void operator()(const FieldOf<NameField> auto& f) const { visit(f.letter, value_at(f.at, c), f.met.is_made); }
  void operator()(const FieldOf<OptionalNameField, NameOrWordField, NameKey> auto& f) const {
    optional(value_at(f.at, c), f.letter);
  }
  void operator()(const FieldOf<TargetField> auto& f) const { target(value_at(f.target, c), value_at(f.at, c)); }
  void operator()(const FieldOf<NodeNameField> auto& f) const { visit(f.letter, value_at(f.at, c), false); }
  void operator()(const FieldOf<NodeOfTargetField> auto& f) const { target(value_at(f.target, c), value_at(f.at, c)); }
  void operator()(const FieldOf<MovesField> auto& f) const {
    for (BufferMove& move : value_at(f.at, c)) {
      visit('b', move.buffer, false);
      optional(move.onto, 'b');
    }
  }
  void operator()(const FieldOf<IntoGraphKey> auto& f) const { optional(value_at(f.into, c), 'g'); }
  void operator()(const FieldOf<ParamsField> auto& f) const { for_each_name(value_at(f.at, c), visit); }
  void operator()(const FieldOf<NodesField, NumberField, ChoiceField, FunctionField, ErrorCaseField, PoolAttributeField,
                                NumberKey, OptionalNumberKey, VariableKey, PriorityKey, FlagKey, ChoiceKey, FlagsKey,
                                NodesKey, ContentsKey, NodeAttributesKey> auto&) const {}
};

}  // namespace

void for_each_name(Command& command, const VisitName& visit) {
  std::visit(
      [&visit]<class C>(C& c) {
        if constexpr (kIsDeclared<C>) for_each_field<C>(NamesOfField<C>{c, visit});
      },
      command);
}

Id& NextNames::of(char letter) {
  switch (letter) {
    case 'b':
      return buffer;
    case 'g':
      return graph;
    case 'e':
      return exec;
    case 's':
      return stream;
    case 'v':
      return event;
    case 'p':
      return pool;
    case 'm':
      return module;
    case 'r':
      return range;
    case 'h':
      return memory;
    default:
      assert(letter == 'u');
      return object;
  }
}

void NextNames::use(const Command& command) {
  Command names = command;
  for_each_name(names, [this](char letter, const Id& id, bool is_made) {
    if (is_made) of(letter) = std::max(of(letter), id + 1);
  });
}

}  // namespace verify
