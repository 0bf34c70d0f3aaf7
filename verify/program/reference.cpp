#include "verify/program/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "verify/commands/nodes/node_types.h"
#include "verify/program/each_command.h"
#include "verify/program/page_item.h"

namespace verify {

namespace {

// Prints the syntax of a command. Names count up from 0 for each letter, so that `clone g0 g1` names two graphs.
class Syntax {
 public:
  explicit Syntax(std::string word) : text_(std::move(word)) {}

  [[nodiscard]] const std::string& text() const { return text_; }

  void operator()(const FieldOf<NameField> auto& f) { put(next(f.letter)); }
  void operator()(const FieldOf<OptionalNameField> auto& f) { put_optional(next(f.letter)); }
  void operator()(const FieldOf<NameOrWordField> auto& f) { put(fmt::format("{}|{}", next(f.letter), f.word)); }
  void operator()(const FieldOf<TargetField> auto& f) {
    std::vector<std::string> names;
    for (const char letter : f.letters) names.push_back(next(letter));
    if (f.device) names.emplace_back("device");
    put(fmt::format("{}", fmt::join(names, "|")));
  }
  void operator()(const FieldOf<NodeNameField> auto& f) { put(fmt::format("{}.{}", next(f.letter), next('n'))); }
  void operator()(const FieldOf<NodeOfTargetField> auto&) { put("g0.n0|e0.n0"); }
  void operator()(const FieldOf<NodesField> auto&) { put("n0,n1|none"); }
  void operator()(const FieldOf<NumberField> auto& f) { put(std::string(f.name)); }
  void operator()(const FieldOf<ChoiceField> auto& f) { put(listed(f.words)); }
  void operator()(const FieldOf<FunctionField> auto&) { put("FUNCTION"); }
  void operator()(const FieldOf<ErrorCaseField> auto&) { put("FUNCTION CASE"); }
  void operator()(const FieldOf<MovesField> auto&) { put("b0[=@b1]..."); }
  void operator()(const FieldOf<PoolAttributeField> auto&) {
    put(fmt::format("{}[=VALUE]", listed(kPoolAttributeWords)));
  }
  void operator()(const FieldOf<NameKey> auto& f) { put_optional(fmt::format("{}={}", f.key, next(f.letter))); }
  void operator()(const FieldOf<NumberKey> auto& f) { put_optional(fmt::format("{}={}..{}", f.key, f.least, f.max)); }
  void operator()(const FieldOf<OptionalNumberKey> auto& f) { put_optional(fmt::format("{}=0..{}", f.key, f.max)); }
  void operator()(const FieldOf<VariableKey> auto& f) { put_optional(fmt::format("{}=NAME@CODE_OBJECT", f.key)); }
  void operator()(const FieldOf<PriorityKey> auto& f) { put_optional(fmt::format("{}=-1", f.key)); }
  void operator()(const FieldOf<FlagKey> auto& f) { put_optional(std::string(f.key)); }
  void operator()(const FieldOf<ChoiceKey> auto& f) { put_optional(fmt::format("{}={}", f.key, listed(f.words))); }
  void operator()(const FieldOf<FlagsKey> auto& f) {
    std::vector<std::string_view> words;
    for (const auto& [flag, word] : f.words) words.push_back(word);
    put_optional(fmt::format("{}={}", f.key, fmt::join(words, ",")));
  }
  void operator()(const FieldOf<NodesKey> auto& f) {
    const std::string nodes = fmt::format("{}={},{}", f.key, next('n'), next('n'));
    f.required ? put(nodes) : put_optional(nodes);
  }
  void operator()(const FieldOf<IntoGraphKey> auto&) { put_optional("into=g0 [after=n0,n1]"); }
  void operator()(const FieldOf<ContentsKey> auto&) { put("seed=N|at=OFFSET hex=00ff"); }
  void operator()(const FieldOf<NodeAttributesKey> auto&) {
    put("[priority=-1] [cooperative=0|1] [window=0..100] (one at least)");
  }
  void operator()(const FieldOf<ParamsField> auto& f) { put(f.word_is_command ? "PARAMETERS" : "TYPE PARAMETERS"); }

 private:
  void put(const std::string& field) { text_ += " " + field; }
  void put_optional(const std::string& field) { put("[" + field + "]"); }
  std::string next(char letter) { return fmt::format("{}{}", letter, used_[letter]++); }
  template <class Words>
  static std::string listed(const Words& words) {
    std::vector<std::string_view> written;
    std::ranges::copy_if(words, std::back_inserter(written), [](std::string_view word) { return !word.empty(); });
    return fmt::format("{}", fmt::join(written, "|"));
  }

  std::string text_;
  std::map<char, int> used_;
};

std::string first_word(const FixedWord& words) {
  return std::string(words.word);
}
template <class At>
std::string first_word(const WordByFlag<At>& words) {
  return fmt::format("{}|{}", words.when_true, words.when_false);
}
template <class At>
std::string first_word(const WordOfNode<At>&) {
  return "TYPE";
}

std::string item(std::string_view syntax, std::string_view meaning) {
  return page_item(fmt::format("`{}`: {}", syntax, meaning));
}

std::string syntax_of(const VerbOfAction& verb) {
  std::string text(verb.words);
  for (const FieldOfAction& field : verb.fields) {
    text += " ";
    if (!field.name.empty()) text += fmt::format("{}=", field.name);
    text += field.function ? "FUNCTION" : fmt::format("{}..{}", field.lowest, field.highest);
  }
  return text;
}

}  // namespace

std::string print_reference() {
  std::string page =
      "# Commands of the program language\n\n"
      "Made by `build/bin/hgcheck-reference` from the declarations of the commands (verify/commands);\n"
      "[program-language.md](program-language.md) explains the language. Brackets hold fields that may be left out, "
      "`|` "
      "stands\nbetween choices, `0..3` is a range; any other value is an example. `repeat N COMMAND` runs any command "
      "N "
      "times; the\nlines between `repeat N` and `end` run N times as a block, and `threads` begins a block of "
      "threads.\n\n"
      "## Commands\n\n";
  for_each_declared([&page]<class C>(std::type_identity<C>) {
    constexpr auto spec = C::spec();
    Syntax syntax(first_word(spec.words));
    for_each_field<C>([&syntax](const auto& field) { syntax(field); });
    page += item(syntax.text(), spec.meaning);
  });
  page += "\n## Types of nodes\n\n";
  for (const NodeWord& node : node_words()) {
    page +=
        item(node.syntax.empty() ? std::string(node.word) : fmt::format("{} {}", node.word, node.syntax), node.meaning);
  }
  page += "\n## Actions on the systems\n\n";
  for (std::size_t i = 0; i < kSystemVerbs; ++i) {
    const VerbOfAction& verb = describe(static_cast<SystemVerb>(i));
    page += item(syntax_of(verb), verb.meaning);
  }
  return page;
}

}  // namespace verify
