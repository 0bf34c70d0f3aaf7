// How a command declares itself: its word, its meaning, and its fields. Everything that treats commands alike reads
// these declarations: the parser, the printer, the shrinker, features, coverage and the language's reference page.
//
// Each command has `static constexpr auto spec()`, which returns describe_command<C>(word, meaning, field...). A field
// names its place in the command by a member pointer and says how it is written. Fields stand in the order in which
// they are printed. Fields with kByKey come after the other fields and are read as key=value, in any order.
//
// A declaration also says how the generator draws the command, and whether a release is known to do it wrongly. Both
// are required.
//
// A new type of field needs an overload of parse_field or parse_key (parse.cpp), and one in FieldPrinter (text.cpp),
// FieldSimplifier (simplify.cpp), FieldFeatures (features.cpp), MeetingsOfField (meetings.cpp), EventsOfField
// (verify/quirks/describe.cpp) and Syntax (reference.cpp); the build fails without them. A command that is drawn by its
// fields also needs one in FieldDrawer (verify/generate/draw_fields.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "verify/language/node_params.h"

namespace verify {

// Whether T is one of the listed types. Overloads are written for lists of types, not for all other types: a new
// command is in no list, so the build fails until somebody adds it to one.
template <class T, class... Listed>
concept OneOf = (std::is_same_v<T, Listed> || ...);

// ---- coverage: an operation that meets an object in some state (verify/program/coverage.h)

// Facts that an operation leaves behind on the object that it meets, for the coverage of later operations.
enum class Leaves : std::uint8_t {
  kNothing,
  kGraphChanged,  // a node or an edge of the graph is different from before
  kCopied,        // another graph took a copy of it as a child
  kInstantiated,  // the executable graph was made from its graph as it is now
  kLaunched,
  kNodesSet,
  kPatched,
  kUpdated,
  kRecorded,
  kWaitedFor,     // an event, by a stream
  kBehindAnEvent  // a stream
};

// How coverage counts the object that a field names.
struct Meets {
  std::string_view operation = {};  // "launch on"; empty: coverage does not follow the object
  Leaves leaves = Leaves::kNothing;
  bool is_made = false;  // the command makes the object of that name, or may make it
};
constexpr Meets meets(std::string_view operation, Leaves leaves) {
  return {operation, leaves};
}
// The operation is the command's word, or "add" and the type of the node that it adds.
inline constexpr std::string_view kByWord = "(word)";
constexpr Meets met_by_word(Leaves leaves) {
  return {kByWord, leaves};
}
// The command makes the object, or finishes it.
constexpr Meets only_leaves(Leaves leaves) {
  return {{}, leaves, true};
}
inline constexpr Meets kIsNew = {{}, Leaves::kNothing, true};
inline constexpr Meets kNotCovered = {};  // user objects, pools, nodes: coverage counts no states of them

// ---- fields that are read by their place

// "b0".
template <class At>
struct NameField {
  static constexpr bool kByKey = false;
  At at;
  char letter;
  Meets met;
  bool null_stream_is_simpler = false;
};
// "g0", or the end of the line for none.
template <class At>
struct OptionalNameField {
  static constexpr bool kByKey = false;
  At at;
  char letter;
  Meets met;
};
// "p0", or `word` for none.
template <class At>
struct NameOrWordField {
  static constexpr bool kByKey = false;
  At at;
  char letter;
  std::string_view word;
};
// "e0", "g0", "s0" or "v0", with the letters in `letters`; "device" too, where `device` is true.
template <class TargetAt, class At>
struct TargetField {
  static constexpr bool kByKey = false;
  TargetAt target;
  At at;
  std::string_view letters;
  bool device;
  std::string_view operation;  // "patch": met as "patch graph", "patch exec"
  Leaves on_graph = Leaves::kNothing;
  Leaves on_exec = Leaves::kNothing;
};
// "g0.n1", or "e0.n1".
template <class At, class NodeAt>
struct NodeNameField {
  static constexpr bool kByKey = false;
  At at;
  NodeAt node;
  char letter;
  Meets met;
};
// "g0.n1" or "e0.n1": the letter decides the target.
template <class TargetAt, class At, class NodeAt, class ParamsAt>
struct NodeOfTargetField {
  static constexpr bool kByKey = false;
  TargetAt target;
  At at;
  NodeAt node;
  ParamsAt params;  // the operation is "set exec" or "set graph" and the type of the node
};
// "n0,n1", or "none".
template <class At>
struct NodesField {
  static constexpr bool kByKey = false;
  At at;
};

enum class Simpler : std::uint8_t { kNo, kLess, kSmallSize };  // kSmallSize: 64 or 256 bytes

// A number from `least` to `max`. `what` names it in an error; `too_small` is the error below `least`.
template <class At>
struct NumberField {
  static constexpr bool kByKey = false;
  At at;
  std::string_view name;  // in the reference: "BYTES"
  std::string_view expected;
  std::string_view what;
  std::uint64_t least;
  std::uint64_t max;
  std::string_view too_small;
  Simpler simpler;
  bool is_device = false;  // the programs that are generated have two devices at most
};
// One of `words`: words[i] stands for the value i.
template <class At, class Words>
struct ChoiceField {
  static constexpr bool kByKey = false;
  At at;
  Words words;
  std::string_view expected;
  std::string_view error;
  std::string_view feature;  // as in ChoiceKey
};

// "hipGraphLaunch".
template <class At>
struct FunctionField {
  static constexpr bool kByKey = false;
  At at;
};
// "hipGraphClone null-original": a function and one of its cases of invalid arguments (verify/errors).
template <class FunctionAt, class CaseAt>
struct ErrorCaseField {
  static constexpr bool kByKey = false;
  FunctionAt function;
  CaseAt error_case;
};
// "b0 b1=@b0": the buffers of a move.
template <class At>
struct MovesField {
  static constexpr bool kByKey = false;
  At at;
};
// "release_threshold=4096" sets an attribute of a pool, "used" asks for it.
template <class At, class ValueAt>
struct PoolAttributeField {
  static constexpr bool kByKey = false;
  At at;
  ValueAt value;
};

// ---- fields that are read by their key

// "pool=p0"; absent for none.
template <class At>
struct NameKey {
  static constexpr bool kByKey = true;
  std::string_view key;
  At at;
  char letter;
  std::string_view feature;  // counted where the key is given
};
// "device=1". Not printed where the value is `fallback`.
template <class At>
struct NumberKey {
  static constexpr bool kByKey = true;
  std::string_view key;
  At at;
  std::uint64_t fallback;
  std::uint64_t least;
  std::uint64_t max;
  std::string_view feature;  // counted where the value is not the fallback; empty: not counted
  bool is_device = false;    // as in NumberField
};
// "symbol=1"; absent for none.
template <class At>
struct OptionalNumberKey {
  static constexpr bool kByKey = true;
  std::string_view key;
  At at;
  std::string_view what;
  std::uint64_t max;
  std::string_view feature;
};
// "variable=NAME@CODE_OBJECT"; absent for none. No program that is generated has code objects.
template <class At>
struct VariableKey {
  static constexpr bool kByKey = true;
  std::string_view key;
  At at;
};
// "priority=-1"; 0 is not printed.
template <class At>
struct PriorityKey {
  static constexpr bool kByKey = true;
  std::string_view key;
  At at;
  std::string_view feature;
};
// "timing".
template <class At>
struct FlagKey {
  static constexpr bool kByKey = true;
  std::string_view key;
  At at;
  std::string_view feature;
  std::string_view attribute = {};  // of the command's events that the flag sets (verify/quirks/attributes.inc)
};
// "memory=pinned": one of `words`; words[i] stands for the value i. The first word is the fallback, which is not
// printed. An empty word cannot be written.
template <class At, class Words>
struct ChoiceKey {
  static constexpr bool kByKey = true;
  std::string_view key;
  At at;
  Words words;
  std::string_view noun;          // "a mode": "a mode is global, thread or relaxed"
  std::string_view feature;       // ends in a space: the word is appended; else one feature for all words; may be empty
  bool fallback_feature = false;  // the fallback is counted as well
  std::string_view attribute = {};  // of the command's events that the word sets (verify/quirks/attributes.inc)
};
// "flags=auto_free,upload": bits and their words.
template <class At, class Words>
struct FlagsKey {
  static constexpr bool kByKey = true;
  std::string_view key;
  At at;
  Words words;
};
// "after=n0,n1".
template <class At>
struct NodesKey {
  static constexpr bool kByKey = true;
  std::string_view key;
  At at;
  bool required;
};
// "into=g0 after=n0,n1": the graph that is captured into, and nodes of it.
template <class IntoAt, class AfterAt>
struct IntoGraphKey {
  static constexpr bool kByKey = true;
  IntoAt into;
  AfterAt after;
};
// "seed=7", or "at=16 hex=00ff".
template <class SeedAt, class OffsetAt, class DataAt>
struct ContentsKey {
  static constexpr bool kByKey = true;
  SeedAt seed;
  OffsetAt offset;
  DataAt data;
};
// "priority=1 cooperative=1": at least one of a kernel node's attributes.
template <class At>
struct NodeAttributesKey {
  static constexpr bool kByKey = true;
  At at;
};
// The parameters of a node: words by place, then keys (verify/commands/nodes/node_types.h). With `word_is_command` the
// command's word is the node's type; else the type is a word of its own.
template <class At>
struct ParamsField {
  static constexpr bool kByKey = true;
  At at;
  bool word_is_command;
  bool may_be_empty;  // an empty node is a simpler one
};

namespace field {

template <class TargetAt, class At>
constexpr TargetField<TargetAt, At> target(TargetAt target_at, At at, std::string_view letters,
                                           std::string_view operation, Leaves on_graph = Leaves::kNothing,
                                           Leaves on_exec = Leaves::kNothing) {
  return {target_at, at, letters, false, operation, on_graph, on_exec};
}
template <class TargetAt, class At>
constexpr TargetField<TargetAt, At> target_or_device(TargetAt target_at, At at, std::string_view letters,
                                                     std::string_view operation) {
  return {target_at, at, letters, true, operation};
}
// A number of bytes.
template <class At>
constexpr NumberField<At> size(At at, std::uint64_t least, std::uint64_t max, Simpler simpler) {
  return {at, "BYTES", "a size in bytes", "a size in bytes", least, max, "a buffer has at least one byte", simpler};
}
template <class At>
constexpr NumberField<At> number_of_call(At at) {
  return {at, "N",        "which call fails, from 1", "the number of a call",
          1,  kMaxRepeat, "calls are counted from 1", Simpler::kLess};
}
template <class At>
constexpr NumberField<At> device_number(At at, std::string_view what) {
  return {at, "DEVICE", what, what, 0, kMaxDevices - 1, "", Simpler::kNo, true};
}
// The device of the object that a command makes; `feature` is counted where it is not device 0.
template <class At>
constexpr NumberKey<At> device_key(At at, std::string_view feature) {
  return {"device", at, 0, 0, kMaxDevices - 1, feature, true};
}
// The host thread that makes the call.
template <class At>
constexpr NumberKey<At> thread_key(At at) {
  return {"thread", at, 0, 0, kMaxThread, "helper thread"};
}
template <class At>
constexpr NumberKey<At> fan_key(At at) {
  return {"fan", at, 1, 1, kMaxFan, "fan"};
}
template <class At>
constexpr OptionalNumberKey<At> symbol_key(At at) {
  return {"symbol", at, "the number of a variable", kSymbols - 1, "memory symbol"};
}
template <class At>
constexpr ParamsField<At> params_of_own_type(At at) {
  return {at, true, true};
}
template <class At>
constexpr ParamsField<At> params(At at) {
  return {at, false, false};
}

}  // namespace field

// ---- the words of a command

struct FixedWord {
  std::string_view word;
};
// One of two words, by a flag of the command.
template <class At>
struct WordByFlag {
  At at;
  std::string_view when_true;
  std::string_view when_false;
  std::string_view attribute = {};  // as in FlagKey
};
// The type of the node that the command adds.
template <class At>
struct WordOfNode {
  At at;
};

// ---- how a command is drawn

// The generator draws a topic at a time (verify/generate), in the programs and at the places where it makes sense.
enum class Topic : std::uint8_t {
  kBytes,        // contents of buffers: in every program
  kQueries,      // questions about graphs and executable graphs, and calls that change neither
  kAttributes,   // attributes of kernel nodes
  kObjects,      // user objects
  kPools,        // memory pools
  kGraphMemory,  // the memory that a device keeps for graphs
  kCaptures,     // questions while a stream captures
  kForbidden     // calls that captures forbid, while a stream captures
};

// How often a command is drawn, or that a generator of its own draws it.
struct Drawn {
  bool by_fields;
  Topic topic;
  unsigned weight;   // among the commands of the topic
  bool ever = true;  // some generator draws the command
};
// The command is drawn from its fields: names of existing objects, values in their range.
consteval Drawn drawn(Topic topic, unsigned weight) {
  return {true, topic, weight};
}
// verify/generate has a function that draws the command, because most of the values that its fields may take are no use
// or are not valid.
inline constexpr Drawn kDrawnByHand = {false, Topic::kBytes, 0};
// No generator draws the command: only programs that a person wrote have it, and it is no feature of generated
// programs.
inline constexpr Drawn kNotDrawn = {false, Topic::kBytes, 0, false};

// Whether a release is known to do the command wrongly, and if so, who describes the command as events for the triggers
// of findings (verify/quirks/event.h): its fields, or describe_events() in verify/commands/<family>/describe.cpp, which
// is declared behind the command.
enum class Known : std::uint8_t { kNoDeviation, kDescribedByFields, kDescribedByHand };
using enum Known;
template <class C>
inline constexpr Known kKnown = C::spec().known;

class EventEmitter;  // verify/quirks/event_emitter.h

// For a command that the shrinker replaces by no other command.
struct NotReplaced {};

// A command's declaration. `Replacement` turns it into a simpler command of another type, for the shrinker.
template <class Words, class Replacement, class... Fields>
struct CommandSpec {
  Words words;
  std::string_view meaning;  // Markdown, for the reference page
  Drawn drawn;
  Known known;
  Replacement replacement;
  std::tuple<Fields...> fields;
  bool is_counted = true;  // declarations and reads do not count as commands of a shrunk program

  [[nodiscard]] constexpr CommandSpec uncounted() const {
    CommandSpec changed = *this;
    changed.is_counted = false;
    return changed;
  }
  template <class Simplify>
  [[nodiscard]] constexpr CommandSpec<Words, Simplify, Fields...> replaced_by(Simplify simplify) const {
    return {words, meaning, drawn, known, simplify, fields, is_counted};
  }
};

template <class Words, class... Fields>
constexpr CommandSpec<Words, NotReplaced, Fields...> describe_command(Words words, std::string_view meaning,
                                                                      Drawn drawn, Known known, Fields... fields) {
  return {words, meaning, drawn, known, {}, {fields...}};
}
template <class... Fields>
constexpr CommandSpec<FixedWord, NotReplaced, Fields...> describe_command(const char* word, std::string_view meaning,
                                                                          Drawn drawn, Known known, Fields... fields) {
  return {{word}, meaning, drawn, known, {}, {fields...}};
}

}  // namespace verify
