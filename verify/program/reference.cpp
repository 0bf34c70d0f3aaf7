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

  template <class At>
  void operator()(const NameField<At>& f) {
    put(next(f.letter));
  }
  template <class At>
  void operator()(const OptionalNameField<At>& f) {
    put_optional(next(f.letter));
  }
  template <class At>
  void operator()(const NameOrWordField<At>& f) {
    put(fmt::format("{}|{}", next(f.letter), f.word));
  }
  template <class TargetAt, class At>
  void operator()(const TargetField<TargetAt, At>& f) {
    std::vector<std::string> names;
    for (const char letter : f.letters) names.push_back(next(letter));
    if (f.device) names.emplace_back("device");
    put(fmt::format("{}", fmt::join(names, "|")));
  }
  template <class At, class NodeAt>
  void operator()(const NodeNameField<At, NodeAt>& f) {
    put(fmt::format("{}.{}", next(f.letter), next('n')));
  }
  template <class TargetAt, class At, class NodeAt, class ParamsAt>
  void operator()(const NodeOfTargetField<TargetAt, At, NodeAt, ParamsAt>&) {
    put("g0.n0|e0.n0");
  }
  template <class At>
  void operator()(const NodesField<At>&) {
    put("n0,n1|none");
  }
  template <class At>
  void operator()(const NumberField<At>& f) {
    put(std::string(f.name));
  }
  template <class At, class Words>
  void operator()(const ChoiceField<At, Words>& f) {
    put(listed(f.words));
  }
  template <class At>
  void operator()(const FunctionField<At>&) {
    put("FUNCTION");
  }
  template <class FunctionAt, class CaseAt>
  void operator()(const ErrorCaseField<FunctionAt, CaseAt>&) {
    put("FUNCTION CASE");
  }
  template <class At>
  void operator()(const MovesField<At>&) {
    put("b0[=@b1]...");
  }
  template <class At, class ValueAt>
  void operator()(const PoolAttributeField<At, ValueAt>&) {
    put(fmt::format("{}[=VALUE]", listed(kPoolAttributeWords)));
  }
  template <class At>
  void operator()(const NameKey<At>& f) {
    put_optional(fmt::format("{}={}", f.key, next(f.letter)));
  }
  template <class At>
  void operator()(const NumberKey<At>& f) {
    put_optional(fmt::format("{}={}..{}", f.key, f.least, f.max));
  }
  template <class At>
  void operator()(const OptionalNumberKey<At>& f) {
    put_optional(fmt::format("{}=0..{}", f.key, f.max));
  }
  template <class At>
  void operator()(const PriorityKey<At>& f) {
    put_optional(fmt::format("{}=-1", f.key));
  }
  template <class At>
  void operator()(const FlagKey<At>& f) {
    put_optional(std::string(f.key));
  }
  template <class At, class Words>
  void operator()(const ChoiceKey<At, Words>& f) {
    put_optional(fmt::format("{}={}", f.key, listed(f.words)));
  }
  template <class At, class Words>
  void operator()(const FlagsKey<At, Words>& f) {
    std::vector<std::string_view> words;
    for (const auto& [flag, word] : f.words) words.push_back(word);
    put_optional(fmt::format("{}={}", f.key, fmt::join(words, ",")));
  }
  template <class At>
  void operator()(const NodesKey<At>& f) {
    const std::string nodes = fmt::format("{}={},{}", f.key, next('n'), next('n'));
    f.required ? put(nodes) : put_optional(nodes);
  }
  template <class IntoAt, class AfterAt>
  void operator()(const IntoGraphKey<IntoAt, AfterAt>&) {
    put_optional("into=g0 [after=n0,n1]");
  }
  template <class SeedAt, class OffsetAt, class DataAt>
  void operator()(const ContentsKey<SeedAt, OffsetAt, DataAt>&) {
    put("seed=N|at=OFFSET hex=00ff");
  }
  template <class At>
  void operator()(const NodeAttributesKey<At>&) {
    put("[priority=-1] [cooperative=0|1] (one at least)");
  }
  template <class At>
  void operator()(const ParamsField<At>& f) {
    put(f.word_is_command ? "PARAMETERS" : "TYPE PARAMETERS");
  }

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
      "times.\n\n"
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
