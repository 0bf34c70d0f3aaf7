// Printing of programs, by the fields that commands declare. Parsing is in parse.cpp.
#include "verify/program/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "verify/commands/nodes/node_types.h"
#include "verify/program/each_command.h"

namespace verify {

namespace {

using Out = std::back_insert_iterator<std::string>;

template <class Words, class Value>
std::string_view word_for(const Words& words, Value value) {
  return words[static_cast<std::size_t>(value)];
}

char target_letter(Target target) {
  return kTargetLetters[static_cast<std::size_t>(target)];
}

void print_nodes(Out out, std::string_view before, const std::vector<Id>& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) fmt::format_to(out, "{}n{}", i == 0 ? before : ",", nodes[i]);
}

// Each type of field has an overload, which prints a space and the field, or nothing where it has its usual value.
template <class C>
struct FieldPrinter {
  std::string& text;
  const C& c;

  [[nodiscard]] Out out() const { return std::back_inserter(text); }

  template <class At>
  void operator()(const NameField<At>& f) const {
    fmt::format_to(out(), " {}{}", f.letter, value_at(f.at, c));
  }
  template <class At>
  void operator()(const OptionalNameField<At>& f) const {
    if (value_at(f.at, c)) fmt::format_to(out(), " {}{}", f.letter, *value_at(f.at, c));
  }
  template <class At>
  void operator()(const NameOrWordField<At>& f) const {
    if (value_at(f.at, c)) {
      fmt::format_to(out(), " {}{}", f.letter, *value_at(f.at, c));
    } else {
      fmt::format_to(out(), " {}", f.word);
    }
  }
  template <class TargetAt, class At>
  void operator()(const TargetField<TargetAt, At>& f) const {
    const Target target = value_at(f.target, c);
    if (target == Target::kDevice) {
      fmt::format_to(out(), " device");
    } else {
      fmt::format_to(out(), " {}{}", target_letter(target), value_at(f.at, c));
    }
  }
  template <class At, class NodeAt>
  void operator()(const NodeNameField<At, NodeAt>& f) const {
    fmt::format_to(out(), " {}{}.n{}", f.letter, value_at(f.at, c), value_at(f.node, c));
  }
  template <class TargetAt, class At, class NodeAt, class ParamsAt>
  void operator()(const NodeOfTargetField<TargetAt, At, NodeAt, ParamsAt>& f) const {
    fmt::format_to(out(), " {}{}.n{}", target_letter(value_at(f.target, c)), value_at(f.at, c), value_at(f.node, c));
  }
  template <class At>
  void operator()(const NodesField<At>& f) const {
    print_nodes(out(), " ", value_at(f.at, c));
    if (value_at(f.at, c).empty()) fmt::format_to(out(), " none");
  }
  template <class At>
  void operator()(const NumberField<At>& f) const {
    fmt::format_to(out(), " {}", value_at(f.at, c));
  }
  template <class At, class Words>
  void operator()(const ChoiceField<At, Words>& f) const {
    fmt::format_to(out(), " {}", word_for(f.words, value_at(f.at, c)));
  }
  template <class At>
  void operator()(const FunctionField<At>& f) const {
    fmt::format_to(out(), " {}", value_at(f.at, c));
  }
  template <class FunctionAt, class CaseAt>
  void operator()(const ErrorCaseField<FunctionAt, CaseAt>& f) const {
    fmt::format_to(out(), " {} {}", value_at(f.function, c), value_at(f.error_case, c));
  }
  template <class At>
  void operator()(const MovesField<At>& f) const {
    for (const BufferMove& move : value_at(f.at, c)) {
      fmt::format_to(out(), " b{}", move.buffer);
      if (move.onto) fmt::format_to(out(), "=@b{}", *move.onto);
    }
  }
  template <class At, class ValueAt>
  void operator()(const PoolAttributeField<At, ValueAt>& f) const {
    fmt::format_to(out(), " {}", word_for(kPoolAttributeWords, value_at(f.at, c)));
    if (value_at(f.value, c)) fmt::format_to(out(), "={}", *value_at(f.value, c));
  }
  template <class At>
  void operator()(const NameKey<At>& f) const {
    if (value_at(f.at, c)) fmt::format_to(out(), " {}={}{}", f.key, f.letter, *value_at(f.at, c));
  }
  template <class At>
  void operator()(const NumberKey<At>& f) const {
    if (value_at(f.at, c) != f.fallback) fmt::format_to(out(), " {}={}", f.key, value_at(f.at, c));
  }
  template <class At>
  void operator()(const OptionalNumberKey<At>& f) const {
    if (value_at(f.at, c)) fmt::format_to(out(), " {}={}", f.key, *value_at(f.at, c));
  }
  template <class At>
  void operator()(const PriorityKey<At>& f) const {
    if (value_at(f.at, c) != 0) fmt::format_to(out(), " {}={}", f.key, value_at(f.at, c));
  }
  template <class At>
  void operator()(const FlagKey<At>& f) const {
    if (value_at(f.at, c)) fmt::format_to(out(), " {}", f.key);
  }
  template <class At, class Words>
  void operator()(const ChoiceKey<At, Words>& f) const {
    const auto value = static_cast<std::size_t>(value_at(f.at, c));
    if (value != 0) fmt::format_to(out(), " {}={}", f.key, f.words[value]);
  }
  template <class At, class Words>
  void operator()(const FlagsKey<At, Words>& f) const {
    std::string separator = fmt::format(" {}=", f.key);
    for (const auto& [flag, word] : f.words) {
      if ((value_at(f.at, c) & flag) == 0) continue;
      fmt::format_to(out(), "{}{}", separator, word);
      separator = ",";
    }
  }
  template <class At>
  void operator()(const NodesKey<At>& f) const {
    print_nodes(out(), fmt::format(" {}=", f.key), value_at(f.at, c));
  }
  template <class IntoAt, class AfterAt>
  void operator()(const IntoGraphKey<IntoAt, AfterAt>& f) const {
    if (value_at(f.into, c)) fmt::format_to(out(), " into=g{}", *value_at(f.into, c));
    print_nodes(out(), " after=", value_at(f.after, c));
  }
  template <class SeedAt, class OffsetAt, class DataAt>
  void operator()(const ContentsKey<SeedAt, OffsetAt, DataAt>& f) const {
    const std::vector<std::uint8_t>& data = value_at(f.data, c);
    if (data.empty()) {
      fmt::format_to(out(), " seed={}", value_at(f.seed, c));
    } else {
      fmt::format_to(out(), " at={} hex={:02x}", value_at(f.offset, c), fmt::join(data, ""));
    }
  }
  template <class At>
  void operator()(const NodeAttributesKey<At>& f) const {
    const NodeAttributes& attributes = value_at(f.at, c);
    if (attributes.priority) fmt::format_to(out(), " priority={}", *attributes.priority);
    if (attributes.cooperative) fmt::format_to(out(), " cooperative={}", *attributes.cooperative ? 1 : 0);
  }
  template <class At>
  void operator()(const ParamsField<At>& f) const {
    const NodeParams& params = value_at(f.at, c);
    if (!f.word_is_command) fmt::format_to(out(), " {}", node_word(params));
    print_node_params(text, params);
  }
};

template <class C>
std::string_view word_of(const FixedWord& words, const C&) {
  return words.word;
}
template <class C, class At>
std::string_view word_of(const WordByFlag<At>& words, const C& command) {
  return value_at(words.at, command) ? words.when_true : words.when_false;
}
template <class C, class At>
std::string_view word_of(const WordOfNode<At>& words, const C& command) {
  return node_word(value_at(words.at, command));
}

}  // namespace

std::string print_ref(const BufferRef& ref) {
  return fmt::format("b{}{:+}", ref.buffer, ref.offset);
}

std::string_view command_word(const Command& command) {
  return std::visit(
      []<class C>(const C& c) {
        if constexpr (kIsDeclared<C>) {
          return word_of(C::spec().words, c);
        } else {
          return describe(c.verb).words;
        }
      },
      command);
}

std::string print_command(const Command& command) {
  return std::visit(
      [&command]<class C>(const C& c) {
        if constexpr (kIsDeclared<C>) {
          std::string text(command_word(command));
          for_each_field<C>(FieldPrinter<C>{text, c});
          return text;
        } else {
          return print_action(c);
        }
      },
      command);
}

std::string print_program(const Program& program) {
  std::string text = fmt::format("hgcheck-program {}\nplacement {}\n", kTextVersion,
                                 program.placement == Placement::kArena ? "arena" : "native");
  for (const Step& step : program.steps) {
    if (step.repeat != 1) fmt::format_to(std::back_inserter(text), "repeat {} ", step.repeat);
    text += print_command(step.command);
    text += '\n';
  }
  return text;
}

std::uint64_t counted_commands(const Program& program) {
  std::uint64_t count = 0;
  for (const Step& step : program.steps) {
    count += std::visit(
        []<class C>(const C&) {
          if constexpr (kIsDeclared<C>) {
            return C::spec().is_counted ? 1U : 0U;
          } else {
            return 1U;
          }
        },
        step.command);
  }
  return count;
}

std::string ParseError::text(std::string_view file) const {
  return fmt::format("{}:{}:{}: {}", file, line, column, message);
}

}  // namespace verify
