// Printing of programs, by the fields that commands declare. Parsing is in parse.cpp.
#include "verify/program/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <utility>

#include "verify/commands/nodes/node_types.h"
#include "verify/program/blocks.h"
#include "verify/program/each_command.h"
#include "verify/program/threads.h"

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

  void operator()(const FieldOf<NameField> auto& f) const {
    fmt::format_to(out(), " {}{}", f.letter, value_at(f.at, c));
  }
  void operator()(const FieldOf<OptionalNameField> auto& f) const {
    if (value_at(f.at, c)) fmt::format_to(out(), " {}{}", f.letter, *value_at(f.at, c));
  }
  void operator()(const FieldOf<NameOrWordField> auto& f) const {
    if (value_at(f.at, c)) {
      fmt::format_to(out(), " {}{}", f.letter, *value_at(f.at, c));
    } else {
      fmt::format_to(out(), " {}", f.word);
    }
  }
  void operator()(const FieldOf<TargetField> auto& f) const {
    const Target target = value_at(f.target, c);
    if (target == Target::kDevice) {
      fmt::format_to(out(), " device");
    } else {
      fmt::format_to(out(), " {}{}", target_letter(target), value_at(f.at, c));
    }
  }
  void operator()(const FieldOf<NodeNameField> auto& f) const {
    fmt::format_to(out(), " {}{}.n{}", f.letter, value_at(f.at, c), value_at(f.node, c));
  }
  void operator()(const FieldOf<NodeOfTargetField> auto& f) const {
    fmt::format_to(out(), " {}{}.n{}", target_letter(value_at(f.target, c)), value_at(f.at, c), value_at(f.node, c));
  }
  void operator()(const FieldOf<NodesField> auto& f) const {
    print_nodes(out(), " ", value_at(f.at, c));
    if (value_at(f.at, c).empty()) fmt::format_to(out(), " none");
  }
  void operator()(const FieldOf<NumberField> auto& f) const { fmt::format_to(out(), " {}", value_at(f.at, c)); }
  void operator()(const FieldOf<ChoiceField> auto& f) const {
    fmt::format_to(out(), " {}", word_for(f.words, value_at(f.at, c)));
  }
  void operator()(const FieldOf<FunctionField> auto& f) const { fmt::format_to(out(), " {}", value_at(f.at, c)); }
  void operator()(const FieldOf<ErrorCaseField> auto& f) const {
    fmt::format_to(out(), " {} {}", value_at(f.function, c), value_at(f.error_case, c));
  }
  void operator()(const FieldOf<MovesField> auto& f) const {
    for (const BufferMove& move : value_at(f.at, c)) {
      fmt::format_to(out(), " b{}", move.buffer);
      if (move.onto) fmt::format_to(out(), "=@b{}", *move.onto);
    }
  }
  void operator()(const FieldOf<PoolAttributeField> auto& f) const {
    fmt::format_to(out(), " {}", word_for(kPoolAttributeWords, value_at(f.at, c)));
    if (value_at(f.value, c)) fmt::format_to(out(), "={}", *value_at(f.value, c));
  }
  void operator()(const FieldOf<NameKey> auto& f) const {
    if (value_at(f.at, c)) fmt::format_to(out(), " {}={}{}", f.key, f.letter, *value_at(f.at, c));
  }
  void operator()(const FieldOf<NumberKey> auto& f) const {
    if (value_at(f.at, c) != f.fallback) fmt::format_to(out(), " {}={}", f.key, value_at(f.at, c));
  }
  void operator()(const FieldOf<OptionalNumberKey> auto& f) const {
    if (value_at(f.at, c)) fmt::format_to(out(), " {}={}", f.key, *value_at(f.at, c));
  }
  void operator()(const FieldOf<VariableKey> auto& f) const {
    const std::optional<ForeignVariable>& variable = value_at(f.at, c);
    if (variable) fmt::format_to(out(), " {}={}@{}", f.key, variable->name, variable->object->id);
  }
  void operator()(const FieldOf<PriorityKey> auto& f) const {
    if (value_at(f.at, c) != 0) fmt::format_to(out(), " {}={}", f.key, value_at(f.at, c));
  }
  void operator()(const FieldOf<FlagKey> auto& f) const {
    if (value_at(f.at, c)) fmt::format_to(out(), " {}", f.key);
  }
  void operator()(const FieldOf<ChoiceKey> auto& f) const {
    const auto value = static_cast<std::size_t>(value_at(f.at, c));
    if (value != 0) fmt::format_to(out(), " {}={}", f.key, f.words[value]);
  }
  void operator()(const FieldOf<FlagsKey> auto& f) const {
    std::string separator = fmt::format(" {}=", f.key);
    for (const auto& [flag, word] : f.words) {
      if ((value_at(f.at, c) & flag) == 0) continue;
      fmt::format_to(out(), "{}{}", separator, word);
      separator = ",";
    }
  }
  void operator()(const FieldOf<NodesKey> auto& f) const {
    print_nodes(out(), fmt::format(" {}=", f.key), value_at(f.at, c));
  }
  void operator()(const FieldOf<IntoGraphKey> auto& f) const {
    if (value_at(f.into, c)) fmt::format_to(out(), " into=g{}", *value_at(f.into, c));
    print_nodes(out(), " after=", value_at(f.after, c));
  }
  void operator()(const FieldOf<ContentsKey> auto& f) const {
    const std::vector<std::uint8_t>& data = value_at(f.data, c);
    if (data.empty()) {
      fmt::format_to(out(), " seed={}", value_at(f.seed, c));
    } else {
      fmt::format_to(out(), " at={} hex={:02x}", value_at(f.offset, c), fmt::join(data, ""));
    }
  }
  void operator()(const FieldOf<NodeAttributesKey> auto& f) const {
    const NodeAttributes& attributes = value_at(f.at, c);
    if (attributes.priority) fmt::format_to(out(), " priority={}", *attributes.priority);
    if (attributes.cooperative) fmt::format_to(out(), " cooperative={}", *attributes.cooperative ? 1 : 0);
    if (attributes.window) fmt::format_to(out(), " window={}", *attributes.window);
  }
  void operator()(const FieldOf<ParamsField> auto& f) const {
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
                                 program.setting.placement == Placement::kArena ? "arena" : "native");
  for (const auto& [name, value] : program.setting.environment) text += fmt::format("environment {}={}\n", name, value);
  const Program written = written_form(program);
  InBlock last;
  const auto enter = [&](const InBlock& in) {
    const auto [block, rounds, round, thread] = std::exchange(last, in);
    if (in.block != block && block != 0) text += "end\n";
    if (in.block != block && in.block != 0)
      text += in.thread != 0 ? "threads\n" : fmt::format("repeat {}\n", in.rounds);
    if (in.thread != 0 && (in.block != block || in.thread != thread)) text += fmt::format("thread {}\n", in.thread);
  };
  for (const Step& step : written.steps) {
    enter(step.in);
    if (step.in.block != 0) text += "  ";
    if (step.repeat != 1) fmt::format_to(std::back_inserter(text), "repeat {} ", step.repeat);
    Command command = step.command;
    if (Id* const thread = thread_of(command); thread != nullptr && step.in.thread != 0) *thread = 0;
    text += print_command(command);
    text += '\n';
  }
  enter({});
  return text;
}

std::uint64_t counted_commands(const Program& program) {
  std::uint64_t count = 0;
  for (const Step& step : program.steps) {
    if (step.in.round != 0) continue;
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

}  // namespace verify
