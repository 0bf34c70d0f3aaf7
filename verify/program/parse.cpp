// The parser of the text form. A command's line is read by the fields that the command declares
// (verify/commands/fields.h): first the fields with a place, then the fields with a key. Each type of field has an
// overload of parse_field. A Line remembers the first error and its column, so the overloads need no error handling.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "verify/commands/nodes/node_types.h"
#include "verify/errors/error_cases.h"
#include "verify/language/line.h"
#include "verify/program/block_lines.h"
#include "verify/program/blocks.h"
#include "verify/program/each_command.h"
#include "verify/program/text.h"

namespace verify {

namespace {

// The words that can be written, as a sentence lists them: "a, b or c".
template <class Words>
std::string listed(const Words& words) {
  std::vector<std::string_view> written;
  std::ranges::copy_if(words, std::back_inserter(written), [](std::string_view w) { return !w.empty(); });
  const std::string_view last = written.back();
  written.pop_back();
  return fmt::format("{} or {}", fmt::join(written, ", "), last);
}

// The index of `word` in `words`, or nothing.
template <class Words>
std::optional<std::size_t> number_of(const Words& words, std::string_view word) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end() || word.empty()) return std::nullopt;
  return static_cast<std::size_t>(found - words.begin());
}

// "g0.n3", or "e0.n3": the letter gives the kind of object.
struct NodeName {
  Target target = Target::kGraph;
  Id id = 0;
  Id node = 0;
};

NodeName parse_node_name(Line& line, Token token) {
  NodeName name;
  const std::size_t dot = token.text.find('.');
  if (dot == std::string_view::npos || token.text.empty() || (token.text[0] != 'g' && token.text[0] != 'e')) {
    line.fail(token.column, fmt::format("expected a node like g0.n0, found '{}'", token.text));
    return name;
  }
  name.target = token.text[0] == 'g' ? Target::kGraph : Target::kExec;
  name.id = parse_id(line, token.part(0, dot), token.text[0]);
  name.node = parse_id(line, token.part(dot + 1), 'n');
  return name;
}

Target target_of(char letter) {
  return static_cast<Target>(std::min(kTargetLetters.find(letter), kTargetLetters.size()));
}

// ---- fields with a place

void parse_field(Line& line, const FieldOf<NameField> auto& field, auto& command) {
  value_at(field.at, command) = next_id(line, field.letter);
}
void parse_field(Line& line, const FieldOf<OptionalNameField> auto& field, auto& command) {
  if (line.peek().text.starts_with(field.letter)) value_at(field.at, command) = next_id(line, field.letter);
}
void parse_field(Line& line, const FieldOf<NameOrWordField> auto& field, auto& command) {
  if (line.peek().text == field.word) {
    static_cast<void>(line.word(field.word));
  } else {
    value_at(field.at, command) = next_id(line, field.letter);
  }
}
void parse_field(Line& line, const FieldOf<TargetField> auto& field, auto& command) {
  const Token token = line.word("a name");
  Target& target = value_at(field.target, command);
  target = Target::kDevice;
  if (field.device && token.text == "device") return;
  if (token.text.empty() || field.letters.find(token.text[0]) == std::string_view::npos) {
    line.fail(token.column,
              fmt::format("expected a name that begins with one of '{}', found '{}'", field.letters, token.text));
    return;
  }
  target = target_of(token.text[0]);
  value_at(field.at, command) = parse_id(line, token, token.text[0]);
}
void parse_field(Line& line, const FieldOf<NodeNameField> auto& field, auto& command) {
  const Token token = line.word(fmt::format("a node like {}0.n0", field.letter));
  const NodeName name = parse_node_name(line, token);
  if (name.target != target_of(field.letter)) {
    line.fail(token.column, fmt::format("expected a node like {}0.n0", field.letter));
  }
  value_at(field.at, command) = name.id;
  value_at(field.node, command) = name.node;
}
void parse_field(Line& line, const FieldOf<NodeOfTargetField> auto& field, auto& command) {
  const NodeName name = parse_node_name(line, line.word("a node like e0.n0 or g0.n0"));
  value_at(field.target, command) = name.target;
  value_at(field.at, command) = name.id;
  value_at(field.node, command) = name.node;
}
void parse_field(Line& line, const FieldOf<NodesField> auto& field, auto& command) {
  const Token nodes = line.word("nodes like n0,n1, or none");
  if (nodes.text != "none") parse_nodes(line, nodes, value_at(field.at, command));
}
void parse_field(Line& line, const FieldOf<NumberField> auto& field, auto& command) {
  const Token token = line.word(field.expected);
  const std::uint64_t value = parse_number(line, token, field.max, field.what);
  if (value < field.least) line.fail(token.column, std::string(field.too_small));
  auto& place = value_at(field.at, command);
  place = static_cast<std::remove_reference_t<decltype(place)>>(value);
}
void parse_field(Line& line, const FieldOf<ChoiceField> auto& field, auto& command) {
  const Token token = line.word(field.expected);
  const std::optional<std::size_t> number = number_of(field.words, token.text);
  if (!number) line.fail(token.column, std::string(field.error));
  auto& place = value_at(field.at, command);
  place = static_cast<std::remove_reference_t<decltype(place)>>(number.value_or(0));
}
void parse_field(Line& line, const FieldOf<FunctionField> auto& field, auto& command) {
  const Token token = line.word("the name of a HIP function");
  if (!token.text.starts_with("hip")) {
    line.fail(token.column, fmt::format("'{}' is not a HIP function", token.text));
  }
  value_at(field.at, command) = std::string(token.text);
}
void parse_field(Line& line, const FieldOf<ErrorCaseField> auto& field, auto& command) {
  const Token function = line.word("the name of a HIP function");
  const Token error_case = line.word("a case of it");
  if (find_error_case(function.text, error_case.text) == nullptr) {
    line.fail(error_case.column, fmt::format("'{}' has no case '{}'", function.text, error_case.text));
  }
  value_at(field.function, command) = std::string(function.text);
  value_at(field.error_case, command) = std::string(error_case.text);
}
void parse_field(Line& line, const FieldOf<MovesField> auto& field, auto& command) {
  do {
    const Token token = line.word("a buffer, as in 'move b0' or 'move b0=@b1 b1=@b0'");
    const std::size_t equals = token.text.find('=');
    BufferMove move;
    move.buffer = parse_id(line, token.part(0, equals), 'b');
    if (equals != std::string_view::npos) {
      const Token onto = token.part(equals + 1);
      if (!onto.text.starts_with("@")) {
        line.fail(onto.column, "expected @ and a buffer: b0=@b1 moves b0 to where b1 is");
      } else {
        move.onto = parse_id(line, onto.part(1), 'b');
      }
    }
    value_at(field.at, command).push_back(move);
  } while (!line.at_end() && !line.failed());
}
void parse_field(Line& line, const FieldOf<PoolAttributeField> auto& field, auto& command) {
  const Token token = line.word("an attribute");
  const std::size_t equals = token.text.find('=');
  const std::optional<std::size_t> number = number_of(kPoolAttributeWords, token.text.substr(0, equals));
  if (!number) {
    line.fail(token.column, fmt::format("a pool's attributes are {}", fmt::join(kPoolAttributeWords, ", ")));
    return;
  }
  value_at(field.at, command) = static_cast<PoolAttribute>(*number);
  if (equals == std::string_view::npos) return;
  value_at(field.value, command) = parse_number(line, token.part(equals + 1), kAnyNumber, "a value");
}
void parse_place(Line& line, const auto& field, std::string_view, auto& command) {
  if constexpr (!kReadByKey<decltype(field)>) parse_field(line, field, command);
}
// The part of the parameters that has a place; parse_key reads the others.
void parse_place(Line& line, const FieldOf<ParamsField> auto& field, std::string_view command_word, auto& command) {
  if (field.word_is_command) {
    value_at(field.at, command) = parse_node_places(line, command_word);
    return;
  }
  const Token word = line.word("the type of a node");
  // A free node exists neither as eager work nor in a setter.
  if (!is_node_word(word.text) || word.text == "free") {
    line.fail(word.column, fmt::format("'{}' is not a node type", word.text));
    value_at(field.at, command) = EmptyParams{};
    return;
  }
  value_at(field.at, command) = parse_node_places(line, word.text);
}

// ---- fields with a key

void parse_key(Attributes& keys, const FieldOf<ParamsField> auto& field, auto& command) {
  parse_node_keys(keys, value_at(field.at, command));
}
void parse_key(Attributes& keys, const FieldOf<NameKey> auto& field, auto& command) {
  Token token;
  if (keys.take(field.key, token)) value_at(field.at, command) = parse_id(keys.line(), token, field.letter);
}
void parse_key(Attributes& keys, const FieldOf<NumberKey> auto& field, auto& command) {
  Token token;
  if (!keys.take(field.key, token)) return;
  const std::uint64_t value = parse_number(keys.line(), token, field.max, field.key);
  if (value < field.least) keys.line().fail(token.column, fmt::format("{} is at least {}", field.key, field.least));
  auto& place = value_at(field.at, command);
  place = static_cast<std::remove_reference_t<decltype(place)>>(value);
}
void parse_key(Attributes& keys, const FieldOf<OptionalNumberKey> auto& field, auto& command) {
  Token token;
  if (!keys.take(field.key, token)) return;
  value_at(field.at, command) = static_cast<std::uint32_t>(parse_number(keys.line(), token, field.max, field.what));
}
void parse_key(Attributes& keys, const FieldOf<VariableKey> auto& field, auto& command) {
  Token token;
  if (!keys.take(field.key, token)) return;
  const std::size_t at = token.text.rfind('@');
  const CodeObject* const object = at == std::string_view::npos ? nullptr : find_code_object(token.text.substr(at + 1));
  if (object == nullptr || at == 0)
    return keys.line().fail(token.column, fmt::format("'{}' is no variable of a known code object", token.text));
  value_at(field.at, command) = ForeignVariable{object, std::string(token.text.substr(0, at))};
}
void parse_key(Attributes& keys, const FieldOf<PriorityKey> auto& field, auto& command) {
  Token token;
  if (keys.take(field.key, token)) value_at(field.at, command) = parse_priority(keys.line(), token);
}
void parse_key(Attributes& keys, const FieldOf<FlagKey> auto& field, auto& command) {
  value_at(field.at, command) = keys.flag(field.key);
}
void parse_key(Attributes& keys, const FieldOf<ChoiceKey> auto& field, auto& command) {
  Token token;
  if (!keys.take(field.key, token)) return;
  const std::optional<std::size_t> number = number_of(field.words, token.text);
  if (!number) keys.line().fail(token.column, fmt::format("{} is {}", field.noun, listed(field.words)));
  auto& place = value_at(field.at, command);
  place = static_cast<std::remove_reference_t<decltype(place)>>(number.value_or(0));
}
void parse_key(Attributes& keys, const FieldOf<FlagsKey> auto& field, auto& command) {
  Token token;
  if (!keys.take(field.key, token)) return;
  auto& flags = value_at(field.at, command);
  for (std::string_view rest = token.text; !keys.line().failed();) {
    const std::size_t comma = rest.find(',');
    const auto before = flags;
    for (const auto& [flag, word] : field.words) flags |= word == rest.substr(0, comma) ? flag : 0;
    if (flags == before) {
      std::vector<std::string_view> words;
      for (const auto& [flag, word] : field.words) words.push_back(word);
      keys.line().fail(token.column, fmt::format("{} are {} and {}, each once", field.key,
                                                 fmt::join(words.begin(), words.end() - 1, ", "), words.back()));
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
}
void parse_key(Attributes& keys, const FieldOf<NodesKey> auto& field, auto& command) {
  Token token;
  if (keys.take(field.key, token)) {
    parse_nodes(keys.line(), token, value_at(field.at, command));
  } else if (field.required) {
    keys.missing(field.key);
  }
}
void parse_key(Attributes& keys, const FieldOf<IntoGraphKey> auto& field, auto& command) {
  Token token;
  std::optional<Id>& into = value_at(field.into, command);
  if (keys.take("into", token)) into = parse_id(keys.line(), token, 'g');
  if (!keys.take("after", token)) return;
  if (!into) keys.line().fail(token.column, "'after' names nodes of the graph that is captured 'into'");
  parse_nodes(keys.line(), token, value_at(field.after, command));
}
void parse_key(Attributes& keys, const FieldOf<ContentsKey> auto& field, auto& command) {
  Token hex;
  if (keys.take("hex", hex)) {
    value_at(field.offset, command) = keys.required_number("at", kMaxBufferBytes);
    value_at(field.data, command) = parse_hex(keys.line(), hex);
  } else {
    value_at(field.seed, command) = keys.required_number("seed", kAnyNumber);
  }
}
void parse_key(Attributes& keys, const FieldOf<NodeAttributesKey> auto& field, auto& command) {
  NodeAttributes& attributes = value_at(field.at, command);
  Token token;
  if (keys.take("priority", token)) attributes.priority = parse_priority(keys.line(), token);
  if (keys.take("cooperative", token)) {
    attributes.cooperative = parse_number(keys.line(), token, 1, "cooperative") != 0;
  }
  if (keys.take("window", token)) {
    attributes.window = static_cast<std::uint32_t>(parse_number(keys.line(), token, 100, "a percentage"));
  }
  if (attributes == NodeAttributes{}) keys.missing("priority");
}

// ---- commands

// Whether `word` is a word of the command C. Several commands may have it (find_command).
bool has_word(const FixedWord& words, std::string_view word) {
  return words.word == word;
}
template <class At>
bool has_word(const WordByFlag<At>& words, std::string_view word) {
  return words.when_true == word || words.when_false == word;
}
template <class At>
bool has_word(const WordOfNode<At>&, std::string_view word) {
  return is_node_word(word);
}

template <class C>
void take_word(const FixedWord&, std::string_view, C&) {}
template <class C, class At>
void take_word(const WordByFlag<At>& words, std::string_view word, C& command) {
  value_at(words.at, command) = words.when_true == word;
}
// The node's type is read with its parameters.
template <class C, class At>
void take_word(const WordOfNode<At>&, std::string_view, C&) {}

template <class C>
Command parse_declared(Line& line, std::string_view word) {
  C command;
  take_word(C::spec().words, word, command);
  for_each_field<C>([&](const auto& field) { parse_place(line, field, word, command); });
  if constexpr (has_keys<C>()) {
    Attributes keys(line);
    for_each_field<C>([&]<class Field>(const Field& field) {
      if constexpr (kReadByKey<Field>) parse_key(keys, field, command);
    });
    keys.end();
  }
  return command;
}

struct CommandRow {
  bool (*has)(std::string_view word);
  std::string letters;  // the first name begins with one of these; empty: with any letter
  Command (*parse)(Line& line, std::string_view word);
};

const std::vector<CommandRow>& command_rows() {
  static const std::vector<CommandRow> rows = [] {
    std::vector<CommandRow> made;
    for_each_declared([&made]<class C>(std::type_identity<C>) {
      made.push_back({[](std::string_view word) { return has_word(C::spec().words, word); }, first_letters<C>(),
                      parse_declared<C>});
    });
    return made;
  }();
  return rows;
}

// The command that a line begins with. Where several commands have the word, the first letter of the next word decides.
// Where that letter fits none of these commands, the first one reads the line, and its error gives the expected word.
const CommandRow* find_command(std::string_view word, std::string_view next) {
  const CommandRow* found = nullptr;
  for (const CommandRow& row : command_rows()) {
    if (!row.has(word)) continue;
    if (!next.empty() && row.letters.find(next[0]) != std::string_view::npos) return &row;
    if (found == nullptr) found = &row;
  }
  return found;
}

// "cache acquire 0 device=1 flags=0 priority=0": the second word selects the action.
Command parse_system_action(Line& line, const Token& first) {
  const Token second = line.word("what the system does");
  const std::optional<SystemVerb> verb = verb_of(first.text, second.text);
  if (!verb) {
    line.fail(second.column,
              fmt::format("there is no action '{} {}'; docs/commands.md lists them", first.text, second.text));
    return SystemAction{};
  }
  std::vector<std::string_view> fields;
  while (!line.at_end() && !line.failed()) fields.push_back(line.word("a field").text);
  std::string error;
  const std::optional<SystemAction> action = parse_action(*verb, fields, &error);
  if (!action) line.fail(second.column, error);
  return action.value_or(SystemAction{});
}

// Reads the line of a step, or a line that begins or ends a block.
void parse_step(Line& line, BlockLines& blocks, Program& program) {
  Step step;
  step.line = line.number();
  Token word = line.word("a command");
  if (blocks.parse(line, word)) return;
  if (word.text == "repeat") {
    const Token count = line.word("how often");
    step.repeat = static_cast<std::uint32_t>(parse_number(line, count, kMaxRepeat, "a repeat count"));
    if (step.repeat == 0) line.fail(count.column, "a command is repeated at least once");
    if (line.at_end()) return blocks.begin_rounds(line, step.repeat, count);
    word = line.word("the command to repeat");
  }
  if (is_system_word(word.text)) {
    step.command = parse_system_action(line, word);
  } else if (const CommandRow* row = find_command(word.text, line.peek().text)) {
    step.command = row->parse(line, word.text);
  } else {
    line.fail(word.column, fmt::format("there is no command '{}' (docs/commands.md lists them)", word.text));
  }
  line.end();
  blocks.place(line, step);
  program.steps.push_back(std::move(step));
}

// "environment NAME=VALUE", before the first command.
void parse_environment(Line& line, Program& program) {
  const Token word = line.word("environment");
  const Token written = line.word("a variable like AMD_SERIALIZE_KERNEL=3");
  std::string error;
  const auto variable = parse_variable(written.text, &error);
  if (!variable) {
    line.fail(written.column, error);
  } else if (program.setting.environment.size() == kMaxVariables) {
    line.fail(written.column, fmt::format("a program has at most {} variables", kMaxVariables));
  } else if (!program.setting.environment.insert(*variable).second) {
    line.fail(written.column, fmt::format("{} has a value already", variable->first));
  }
  if (!program.steps.empty()) line.fail(word.column, "environment stands before the first command");
  line.end();
}

// The lines before the first command: the version, the placement, variables.
bool parse_header(Line& line, bool& version_seen, Program& program) {
  const Token word = line.peek();
  if (!version_seen) {
    static_cast<void>(line.word("a version line"));
    if (word.text != "hgcheck-program") line.fail(word.column, "a program begins with the line 'hgcheck-program 1'");
    const Token version = line.word("the version: 1");
    if (parse_number(line, version, 0xffffffffU, "a version") != kTextVersion) {
      line.fail(version.column,
                fmt::format("this is version '{}', and this hgcheck reads version {}", version.text, kTextVersion));
    }
    line.end();
    version_seen = true;
    return true;
  }
  if (word.text == "environment") {
    parse_environment(line, program);
    return true;
  }
  if (word.text != "placement") return false;
  static_cast<void>(line.word("placement"));
  const Token placement = line.word("arena or native");
  if (placement.text == "native") {
    program.setting.placement = Placement::kNative;
  } else if (placement.text != "arena") {
    line.fail(placement.column, "placement is arena or native");
  }
  if (!program.steps.empty()) line.fail(word.column, "placement stands before the first command");
  line.end();
  return true;
}

}  // namespace

std::variant<Program, ParseError> parse_program(std::string_view text) {
  Program program;
  BlockLines blocks;
  bool version_seen = false;
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    Line line(text.substr(0, newline), ++number);
    text = newline == std::string_view::npos ? std::string_view{} : text.substr(newline + 1);
    if (line.blank()) continue;
    if (!parse_header(line, version_seen, program)) parse_step(line, blocks, program);
    if (line.failed()) return line.error();
    if (program.steps.size() > kMaxCommands) {
      return ParseError{number, 1, fmt::format("a program has at most {} commands", kMaxCommands)};
    }
  }
  if (!version_seen) return ParseError{1, 1, "a program begins with the line 'hgcheck-program 1'"};
  if (std::optional<ParseError> error = blocks.unfinished()) return *std::move(error);
  std::size_t too_many = 0;
  if (std::optional<Program> all = all_rounds(program, &too_many)) return *std::move(all);
  return ParseError{blocks.line_of(program.steps[too_many]), 1,
                    fmt::format("all rounds of the blocks together have more than {} commands, or name objects past {}",
                                kMaxCommands, kMaxId)};
}

}  // namespace verify
