// The events of commands (verify/quirks/event_emitter.h): whoever the declaration of a command names describes it.
#include "verify/program/each_command.h"
#include "verify/quirks/event_emitter.h"

namespace verify {

namespace {

consteval Op op_of(const FixedWord& words) {
  return words.word;
}
template <class At>
consteval Op op_of(const WordByFlag<At>& words) {
  return words.when_true;
}

constexpr std::string_view kLetters = "gesvb";  // of the objects that events are about

// The object that the events of a command are about, by the letter of its name. No letter: they are about the device.
struct Named {
  char letter = 0;
  Id id = 0;
  std::optional<Id> node = {};
};

// Reads the fields of a command. Its object is the first one that it names and does not make. A stream is the object of
// a command that names nothing else. One overload a type of field.
template <class C>
struct EventsOfField {
  EventEmitter& out;
  const C& c;
  Named& object;

  void names(const Named& named) const {
    if (kLetters.find(named.letter) == std::string_view::npos) return;
    if (named.letter == 's') out.stream(named.id);
    if (object.letter == 0 || object.letter == 's') object = named;
  }
  void flag(std::string_view attribute, bool value) const {
    if (!attribute.empty()) out.set(find_attribute(attribute).value(), value);
  }

  void operator()(const FieldOf<NameField> auto& f) const {
    if (!f.met.is_made) names({f.letter, value_at(f.at, c)});
  }
  void operator()(const FieldOf<OptionalNameField> auto& f) const {
    if (const std::optional<Id>& id = value_at(f.at, c)) names({f.letter, *id});
  }
  void operator()(const FieldOf<TargetField> auto& f) const {
    const Target target = value_at(f.target, c);
    if (target != Target::kDevice) names({kTargetLetters[static_cast<std::size_t>(target)], value_at(f.at, c)});
  }
  void operator()(const FieldOf<NodeNameField> auto& f) const {
    names({f.letter, value_at(f.at, c), value_at(f.node, c)});
  }
  void operator()(const FixedWord&) const {}
  void operator()(const FieldOf<WordByFlag> auto& words) const { flag(words.attribute, value_at(words.at, c)); }
  void operator()(const FieldOf<FlagKey> auto& f) const { flag(f.attribute, value_at(f.at, c)); }
  void operator()(const FieldOf<ChoiceKey> auto& f) const {
    if (!f.attribute.empty()) out.set(find_attribute(f.attribute).value(), static_cast<int>(value_at(f.at, c)));
  }
  void operator()(const FieldOf<NodeAttributesKey> auto& f) const { out.attributes(value_at(f.at, c)); }

  // No trigger is about these fields.
  void operator()(
      const FieldOf<NameOrWordField, NodesField, NumberField, ChoiceField, FunctionField, ErrorCaseField, MovesField,
                    PoolAttributeField, NameKey, NumberKey, OptionalNumberKey, VariableKey, PriorityKey, NodesKey,
                    IntoGraphKey, FlagsKey, ContentsKey, ParamsField, NodeOfTargetField> auto&) const {}
};

bool emit(EventEmitter& out, const Named& object) {
  if (object.letter == 0) return out.about_object(Target::kDevice, 0);
  if (object.letter == 'b') return out.about_buffer(object.id);
  const auto target = static_cast<Target>(kTargetLetters.find(object.letter));
  if (target == Target::kStream || target == Target::kEvent) return out.about_object(target, object.id);
  const GraphState* graph = out.target(target, object.id);
  if (!object.node) return out.whole(*graph);
  const NodeState* node = graph->find(*object.node);
  out.set(k_memory_moved, names_moved_memory(out.state, *graph, node->params));
  out.about(*graph);
  return out.node(node->params, nullptr, node, 0);
}

template <class C>
bool describe(EventEmitter& out, const C& c) {
  if constexpr (kKnown<C> == kDescribedByHand) {
    return describe_events(out, c);
  } else if constexpr (kKnown<C> == kDescribedByFields) {
    constexpr auto spec = C::spec();
    out.set_op(op_of(spec.words));
    Named object;
    const EventsOfField<C> read{out, c, object};
    read(spec.words);
    for_each_field<C>(read);
    return emit(out, object);
  } else {
    static_assert(kKnown<C> == kNoDeviation);
    return false;
  }
}

}  // namespace

bool any_event(const State& state, const Command& command, Handling handling, Id thread,
               const std::function<bool(const Event&)>& visit) {
  EventEmitter out(state, command, handling, visit);
  out.set(k_thread, thread);
  return std::visit([&out](const auto& c) { return describe(out, c); }, command);
}

}  // namespace verify
