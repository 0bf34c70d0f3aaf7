// Printing of programs, and the small facts about commands that printing needs. Parsing is in parse.cpp.
#include "verify/program/text.h"

#include <fmt/format.h>

#include <iterator>

namespace verify {

namespace {

using Out = std::back_insert_iterator<std::string>;

std::string_view kind_name(CopyKind kind) {
  switch (kind) {
    case CopyKind::kHostToHost:
      return "h2h";
    case CopyKind::kHostToDevice:
      return "h2d";
    case CopyKind::kDeviceToHost:
      return "d2h";
    case CopyKind::kDeviceToDevice:
      return "d2d";
    case CopyKind::kDefault:
      break;
  }
  return "default";
}

std::string_view memory_name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kPinned:
      return "pinned";
    case MemoryKind::kPageable:
      return "pageable";
    case MemoryKind::kDevice:
      break;
  }
  return "device";
}

char target_letter(Target target) {
  switch (target) {
    case Target::kGraph:
      return 'g';
    case Target::kExec:
      return 'e';
    case Target::kStream:
      return 's';
    case Target::kEvent:
      return 'v';
    case Target::kDevice:
      break;
  }
  return '?';
}

void print_argument(Out out, const FieldSpec& field, const ArgumentValue& value) {
  switch (value.kind) {
    case ArgumentValue::Kind::kNumber:
      fmt::format_to(out, " {}={}", field.name, value.number);
      break;
    case ArgumentValue::Kind::kPointer:
      fmt::format_to(out, " {}={}", field.name, print_ref(value.ref));
      break;
    case ArgumentValue::Kind::kAddressBits:
      fmt::format_to(out, " {}=addr({})", field.name, print_ref(value.ref));
      break;
  }
}

void print_position(Out out, const char* key, const Position& p) {
  if (!(p == Position{})) fmt::format_to(out, " {}={},{},{}", key, p.x, p.y, p.z);
}

// The parameters of a node as they stand after its name; one overload a node type.
struct ParamsPrinter {
  Out out;

  void operator()(const KernelParams& p) const {
    fmt::format_to(out, " {}", p.kernel->name);
    for (std::size_t i = 0; i < p.arguments.size(); ++i) print_argument(out, p.kernel->fields[i], p.arguments[i]);
    if (p.grid != 1) fmt::format_to(out, " grid={}", p.grid);
    if (p.block != 64) fmt::format_to(out, " block={}", p.block);
    if (p.style == ArgumentStyle::kExtra) fmt::format_to(out, " style=extra");
    if (p.opaque) fmt::format_to(out, " opaque");
  }
  void operator()(const CopyParams& p) const {
    fmt::format_to(out, " dst={} src={}", print_ref(p.dst.ref), print_ref(p.src.ref));
    if (p.linear) {
      fmt::format_to(out, " bytes={}", p.width);
    } else {
      fmt::format_to(out, " width={} height={} depth={} dpitch={} spitch={} drows={} srows={}", p.width, p.height,
                     p.depth, p.dst.pitch, p.src.pitch, p.dst.rows, p.src.rows);
      print_position(out, "dpos", p.dst.position);
      print_position(out, "spos", p.src.position);
    }
    fmt::format_to(out, " kind={}", kind_name(p.kind));
  }
  void operator()(const MemsetParams& p) const {
    fmt::format_to(out, " dst={} value={} element={} width={}", print_ref(p.dst), p.value, p.element, p.width);
    if (p.height != 1) fmt::format_to(out, " height={}", p.height);
    if (p.pitch != 0) fmt::format_to(out, " pitch={}", p.pitch);
  }
  void operator()(const HostParams& p) const {
    fmt::format_to(out, " tag={}", p.tag);
    if (p.memory) fmt::format_to(out, " mem={} bytes={}", print_ref(*p.memory), p.bytes);
  }
  void operator()(const EmptyParams&) const {}
  void operator()(const ChildParams& p) const {
    fmt::format_to(out, " g{}", p.graph);
    if (p.nest != 1) fmt::format_to(out, " nest={}", p.nest);
  }
};

// One overload a command.
struct CommandPrinter {
  Out out;

  void operator()(const DeclareBuffer& c) const {
    fmt::format_to(out, "buffer b{} {}", c.buffer, c.bytes);
    if (c.memory != MemoryKind::kDevice) fmt::format_to(out, " memory={}", memory_name(c.memory));
  }
  void operator()(const DeclareGraph& c) const { fmt::format_to(out, "graph g{}", c.graph); }
  void operator()(const DeclareStream& c) const {
    fmt::format_to(out, "stream s{}{}", c.stream, c.non_blocking ? " nonblocking" : "");
  }
  void operator()(const DeclareEvent& c) const { fmt::format_to(out, "event v{}", c.event); }
  void operator()(const AddNode& c) const {
    fmt::format_to(out, "{} g{}.n{}", node_word(c.params), c.graph, c.node);
    std::visit(ParamsPrinter{out}, c.params);
    if (c.fan != 1) fmt::format_to(out, " fan={}", c.fan);
    for (std::size_t i = 0; i < c.after.size(); ++i) fmt::format_to(out, "{}n{}", i == 0 ? " after=" : ",", c.after[i]);
  }
  void operator()(const Instantiate& c) const { fmt::format_to(out, "instantiate e{} g{}", c.exec, c.graph); }
  void operator()(const Launch& c) const { fmt::format_to(out, "launch e{} s{}", c.exec, c.stream); }
  void operator()(const MoveBuffers& c) const {
    fmt::format_to(out, "move");
    for (const BufferMove& move : c.moves) {
      fmt::format_to(out, " b{}", move.buffer);
      if (move.onto) fmt::format_to(out, "=@b{}", *move.onto);
    }
  }
  void operator()(const Patch& c) const { fmt::format_to(out, "patch {}{}", target_letter(c.target), c.id); }
  void operator()(const SetNode& c) const {
    fmt::format_to(out, "set {}{}.n{} {}", target_letter(c.target), c.id, c.node, node_word(c.params));
    std::visit(ParamsPrinter{out}, c.params);
  }
  void operator()(const Update& c) const { fmt::format_to(out, "update e{} g{}", c.exec, c.graph); }
  void operator()(const Synchronize& c) const {
    if (c.target == Target::kDevice) {
      fmt::format_to(out, "sync device");
    } else {
      fmt::format_to(out, "sync {}{}", target_letter(c.target), c.id);
    }
  }
  void operator()(const RecordEvent& c) const { fmt::format_to(out, "record v{} s{}", c.event, c.stream); }
  void operator()(const WaitEvent& c) const { fmt::format_to(out, "wait s{} v{}", c.stream, c.event); }
  void operator()(const Read& c) const { fmt::format_to(out, "read b{}", c.buffer); }
  void operator()(const Write& c) const { fmt::format_to(out, "write b{} seed={}", c.buffer, c.seed); }
  void operator()(const Free& c) const { fmt::format_to(out, "free b{}", c.buffer); }
  void operator()(const Destroy& c) const { fmt::format_to(out, "destroy {}{}", target_letter(c.target), c.id); }
  void operator()(const Fail& c) const { fmt::format_to(out, "fail {} {}", c.nth, c.function); }
};

struct WordOf {
  std::string_view operator()(const DeclareBuffer&) const { return "buffer"; }
  std::string_view operator()(const DeclareGraph&) const { return "graph"; }
  std::string_view operator()(const DeclareStream&) const { return "stream"; }
  std::string_view operator()(const DeclareEvent&) const { return "event"; }
  std::string_view operator()(const AddNode& c) const { return node_word(c.params); }
  std::string_view operator()(const Instantiate&) const { return "instantiate"; }
  std::string_view operator()(const Launch&) const { return "launch"; }
  std::string_view operator()(const MoveBuffers&) const { return "move"; }
  std::string_view operator()(const Patch&) const { return "patch"; }
  std::string_view operator()(const SetNode&) const { return "set"; }
  std::string_view operator()(const Update&) const { return "update"; }
  std::string_view operator()(const Synchronize&) const { return "sync"; }
  std::string_view operator()(const RecordEvent&) const { return "record"; }
  std::string_view operator()(const WaitEvent&) const { return "wait"; }
  std::string_view operator()(const Read&) const { return "read"; }
  std::string_view operator()(const Write&) const { return "write"; }
  std::string_view operator()(const Free&) const { return "free"; }
  std::string_view operator()(const Destroy&) const { return "destroy"; }
  std::string_view operator()(const Fail&) const { return "fail"; }
};

bool is_counted(const Command& command) {
  return !(std::holds_alternative<DeclareBuffer>(command) || std::holds_alternative<DeclareGraph>(command) ||
           std::holds_alternative<DeclareStream>(command) || std::holds_alternative<DeclareEvent>(command) ||
           std::holds_alternative<Read>(command));
}

}  // namespace

std::string print_ref(const BufferRef& ref) {
  return fmt::format("b{}{:+}", ref.buffer, ref.offset);
}

std::string_view node_word(const NodeParams& params) {
  if (const auto* copy = std::get_if<CopyParams>(&params)) return copy->linear ? "memcpy" : "memcpy3d";
  static constexpr std::string_view kWords[] = {"kernel", "memcpy", "memset", "host", "empty", "child"};
  return kWords[params.index()];
}

std::string_view command_word(const Command& command) {
  return std::visit(WordOf{}, command);
}

std::string print_command(const Command& command) {
  std::string text;
  std::visit(CommandPrinter{std::back_inserter(text)}, command);
  return text;
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
  for (const Step& step : program.steps) count += is_counted(step.command) ? 1 : 0;
  return count;
}

std::string ParseError::text(std::string_view file) const {
  return fmt::format("{}:{}:{}: {}", file, line, column, message);
}

}  // namespace verify
