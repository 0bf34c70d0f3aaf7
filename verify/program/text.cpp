// Printing of programs, and the small facts about commands that printing needs. Parsing is in parse.cpp.
#include "verify/program/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
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
    case MemoryKind::kManaged:
      return "managed";
    case MemoryKind::kRegistered:
      return "registered";
    case MemoryKind::kDevice:
      break;
  }
  return "device";
}

std::string_view mode_name(CaptureMode mode) {
  static constexpr std::string_view kNames[] = {"global", "thread", "relaxed"};
  return kNames[static_cast<std::size_t>(mode)];
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

void print_shape(Out out, const char* key, std::uint32_t usual, const std::array<std::uint32_t, 3>& shape) {
  if (shape[1] != 1 || shape[2] != 1) {
    fmt::format_to(out, " {}={},{},{}", key, shape[0], shape[1], shape[2]);
  } else if (shape[0] != usual) {
    fmt::format_to(out, " {}={}", key, shape[0]);
  }
}

void print_device(Out out, Id device) {
  if (device != 0) fmt::format_to(out, " device={}", device);
}

// The parameters of a node as they stand after its name; one overload a node type.
struct ParamsPrinter {
  Out out;

  void operator()(const KernelParams& p) const {
    fmt::format_to(out, " {}", p.kernel->name);
    for (std::size_t i = 0; i < p.arguments.size(); ++i) print_argument(out, p.kernel->fields[i], p.arguments[i]);
    print_shape(out, "grid", 1, {p.grid, p.grid_y, p.grid_z});
    print_shape(out, "block", 64, {p.block, p.block_y, p.block_z});
    if (p.style == ArgumentStyle::kExtra) fmt::format_to(out, " style=extra");
    if (p.opaque) fmt::format_to(out, " opaque");
    if (p.shared_bytes != 0) fmt::format_to(out, " shared={}", p.shared_bytes);
    print_device(out, p.device);
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
    if (p.symbol != CopySymbol::kNone) {
      fmt::format_to(out, " symbol={}", p.symbol == CopySymbol::kDestination ? "dst" : "src");
    }
    if (p.peer != PeerCopy::kNone) fmt::format_to(out, " peer={}", p.peer == PeerCopy::kAsync ? "async" : "wait");
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
  void operator()(const EventRecordParams& p) const { fmt::format_to(out, " v{}", p.event); }
  void operator()(const EventWaitParams& p) const { fmt::format_to(out, " v{}", p.event); }
  void operator()(const MemoryAllocParams& p) const { fmt::format_to(out, " b{} {}", p.buffer, p.bytes); }
  void operator()(const MemoryFreeParams& p) const { fmt::format_to(out, " b{}", p.buffer); }
};

// One overload a command.
struct CommandPrinter {
  Out out;

  void operator()(const DeclareBuffer& c) const {
    fmt::format_to(out, "buffer b{} {}", c.buffer, c.bytes);
    if (c.memory != MemoryKind::kDevice) fmt::format_to(out, " memory={}", memory_name(c.memory));
    if (c.symbol) fmt::format_to(out, " symbol={}", *c.symbol);
    print_device(out, c.device);
  }
  void operator()(const DeclareGraph& c) const { fmt::format_to(out, "graph g{}", c.graph); }
  void operator()(const DeclareStream& c) const {
    fmt::format_to(out, "stream s{}{}", c.stream, c.non_blocking ? " nonblocking" : "");
    if (c.priority != 0) fmt::format_to(out, " priority={}", c.priority);
    if (c.per_thread) fmt::format_to(out, " per_thread");
    print_device(out, c.device);
  }
  void operator()(const DeclareEvent& c) const {
    fmt::format_to(out, "event v{}{}{}", c.event, c.timing ? " timing" : "", c.blocking ? " blocking" : "");
    if (c.release != EventRelease::kDefault)
      fmt::format_to(out, " release={}", c.release == EventRelease::kDevice ? "device" : "system");
    print_device(out, c.device);
  }
  void print_form(NodeForm form) const {
    if (form != NodeForm::kTyped) fmt::format_to(out, " form={}", form == NodeForm::kGeneric ? "generic" : "driver");
  }
  void operator()(const AddNode& c) const {
    fmt::format_to(out, "{} g{}.n{}", node_word(c.params), c.graph, c.node);
    std::visit(ParamsPrinter{out}, c.params);
    if (c.fan != 1) fmt::format_to(out, " fan={}", c.fan);
    print_form(c.form);
    for (std::size_t i = 0; i < c.after.size(); ++i) fmt::format_to(out, "{}n{}", i == 0 ? " after=" : ",", c.after[i]);
  }
  void operator()(const Instantiate& c) const {
    fmt::format_to(out, "instantiate e{} g{}", c.exec, c.graph);
    if (c.form != InstantiateForm::kPlain) {
      fmt::format_to(out, " form={}", c.form == InstantiateForm::kFlags ? "flags" : "params");
    }
    const char* separator = " flags=";
    for (const auto& [flag, word] : instantiate_flags()) {
      if ((c.flags & flag) == 0) continue;
      fmt::format_to(out, "{}{}", separator, word);
      separator = ",";
    }
  }
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
    print_form(c.form);
  }
  void operator()(const Update& c) const { fmt::format_to(out, "update e{} g{}", c.exec, c.graph); }
  void operator()(const Synchronize& c) const {
    if (c.target == Target::kDevice) {
      fmt::format_to(out, "sync device");
    } else {
      fmt::format_to(out, "sync {}{}", target_letter(c.target), c.id);
    }
    print_thread(c.thread);
  }
  void operator()(const RecordEvent& c) const { fmt::format_to(out, "record v{} s{}", c.event, c.stream); }
  void operator()(const WaitEvent& c) const { fmt::format_to(out, "wait s{} v{}", c.stream, c.event); }
  void operator()(const Read& c) const { fmt::format_to(out, "read b{}", c.buffer); }
  void operator()(const Write& c) const {
    if (c.data.empty()) {
      fmt::format_to(out, "write b{} seed={}", c.buffer, c.seed);
    } else {
      fmt::format_to(out, "write b{} at={} hex={:02x}", c.buffer, c.offset, fmt::join(c.data, ""));
    }
  }
  void operator()(const Free& c) const { fmt::format_to(out, "free b{}", c.buffer); }
  void operator()(const FreeAsync& c) const { fmt::format_to(out, "free_async b{} s{}", c.buffer, c.stream); }
  void operator()(const MallocAsync& c) const {
    fmt::format_to(out, "malloc_async b{} {} s{}", c.buffer, c.bytes, c.stream);
    if (c.pool) fmt::format_to(out, " pool=p{}", *c.pool);
  }
  void operator()(const DeclarePool& c) const {
    fmt::format_to(out, "pool p{}{}", c.pool, c.of_device ? " default" : "");
  }
  void operator()(const AskPool& c) const {
    fmt::format_to(out, "pool_attribute p{} {}", c.pool, pool_attributes()[static_cast<std::size_t>(c.attribute)]);
    if (c.value) fmt::format_to(out, "={}", *c.value);
  }
  void operator()(const TrimPool& c) const { fmt::format_to(out, "pool_trim p{} {}", c.pool, c.bytes); }
  void operator()(const AccessPool& c) const { fmt::format_to(out, "pool_access p{}", c.pool); }
  void operator()(const UsePool& c) const {
    if (c.pool) {
      fmt::format_to(out, "pool_use p{}", *c.pool);
    } else {
      fmt::format_to(out, "pool_use default");
    }
  }
  void operator()(const DestroyPool& c) const { fmt::format_to(out, "destroy p{}", c.pool); }
  void operator()(const Destroy& c) const { fmt::format_to(out, "destroy {}{}", target_letter(c.target), c.id); }
  void operator()(const Fail& c) const { fmt::format_to(out, "fail {} {}", c.nth, c.function); }
  void operator()(const BadCall& c) const { fmt::format_to(out, "bad {} {}", c.function, c.error_case); }
  void operator()(const CloneGraph& c) const { fmt::format_to(out, "clone g{} g{}", c.graph, c.from); }
  void operator()(const FindInClone& c) const { fmt::format_to(out, "find g{} g{}.n{}", c.clone, c.graph, c.node); }
  void operator()(const ChangeEdges& c) const {
    fmt::format_to(out, "{} g{}.n{}", c.add ? "edge" : "unedge", c.graph, c.node);
    for (std::size_t i = 0; i < c.after.size(); ++i) fmt::format_to(out, "{}n{}", i == 0 ? " after=" : ",", c.after[i]);
    if (c.cycle) fmt::format_to(out, " cycle");
  }
  void operator()(const RemoveNode& c) const { fmt::format_to(out, "remove g{}.n{}", c.graph, c.node); }
  void operator()(const EnableNode& c) const {
    fmt::format_to(out, "{} e{}.n{}", c.enabled ? "enable" : "disable", c.exec, c.node);
  }
  void operator()(const Upload& c) const { fmt::format_to(out, "upload e{} s{}", c.exec, c.stream); }
  void operator()(const SetAttributes& c) const {
    fmt::format_to(out, "attribute g{}.n{}", c.graph, c.node);
    if (c.attributes.priority) fmt::format_to(out, " priority={}", *c.attributes.priority);
    if (c.attributes.cooperative) fmt::format_to(out, " cooperative={}", *c.attributes.cooperative ? 1 : 0);
  }
  void operator()(const CopyAttributes& c) const {
    fmt::format_to(out, "copy_attributes g{}.n{} g{}.n{}", c.graph, c.node, c.from, c.source);
  }
  void operator()(const PeerAccess& c) const {
    fmt::format_to(out, "peer {} {} {}", peer_words()[static_cast<std::size_t>(c.verb)], c.device, c.peer);
  }
  void operator()(const DeclareUserObject& c) const { fmt::format_to(out, "userobject u{}", c.object); }
  void operator()(const RetainUserObject& c) const {
    fmt::format_to(out, "retain u{} g{}{}", c.object, c.graph, c.move ? " move" : "");
  }
  void operator()(const ReleaseUserObject& c) const {
    fmt::format_to(out, "release u{}", c.object);
    if (c.graph) fmt::format_to(out, " g{}", *c.graph);
  }
  void operator()(const PrintDot& c) const { fmt::format_to(out, "dot g{}", c.graph); }
  void operator()(const Inspect& c) const { fmt::format_to(out, "inspect {}{}", target_letter(c.target), c.id); }
  void operator()(const Enqueue& c) const {
    fmt::format_to(out, "on s{} {}", c.stream, node_word(c.params));
    std::visit(ParamsPrinter{out}, c.params);
    print_thread(c.thread);
  }
  void operator()(const Query& c) const {
    fmt::format_to(out, "query {}{}", target_letter(c.target), c.id);
    print_thread(c.thread);
  }
  void operator()(const Elapsed& c) const { fmt::format_to(out, "elapsed v{} v{}", c.from, c.to); }
  void operator()(const BeginCapture& c) const {
    fmt::format_to(out, "capture s{}", c.stream);
    if (c.mode != CaptureMode::kGlobal) fmt::format_to(out, " mode={}", mode_name(c.mode));
    if (c.into) fmt::format_to(out, " into=g{}", *c.into);
    print_nodes(" after=", c.after);
    print_thread(c.thread);
  }
  void operator()(const EndCapture& c) const {
    fmt::format_to(out, "endcapture s{} g{}", c.stream, c.graph);
    print_thread(c.thread);
  }
  void operator()(const CaptureInfo& c) const { fmt::format_to(out, "capture_info s{}", c.stream); }
  void operator()(const CaptureAfter& c) const {
    fmt::format_to(out, "capture_after s{}", c.stream);
    print_nodes(" ", c.nodes);
    if (c.nodes.empty()) fmt::format_to(out, " none");
    if (c.add) fmt::format_to(out, " add");
  }
  void operator()(const ExchangeCaptureMode& c) const {
    fmt::format_to(out, "capture_mode {}", mode_name(c.mode));
    print_thread(c.thread);
  }
  void operator()(const UnsafeCall& c) const {
    fmt::format_to(out, "unsafe");
    print_thread(c.thread);
  }

  void print_thread(Id thread) const {
    if (thread != 0) fmt::format_to(out, " thread={}", thread);
  }
  void print_nodes(std::string_view before, const std::vector<Id>& nodes) const {
    for (std::size_t i = 0; i < nodes.size(); ++i) fmt::format_to(out, "{}n{}", i == 0 ? before : ",", nodes[i]);
  }
  void operator()(const SystemAction& c) const { fmt::format_to(out, "{}", print_action(c)); }
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
  std::string_view operator()(const FreeAsync&) const { return "free_async"; }
  std::string_view operator()(const MallocAsync&) const { return "malloc_async"; }
  std::string_view operator()(const DeclarePool&) const { return "pool"; }
  std::string_view operator()(const AskPool&) const { return "pool_attribute"; }
  std::string_view operator()(const TrimPool&) const { return "pool_trim"; }
  std::string_view operator()(const AccessPool&) const { return "pool_access"; }
  std::string_view operator()(const UsePool&) const { return "pool_use"; }
  std::string_view operator()(const DestroyPool&) const { return "destroy"; }
  std::string_view operator()(const Destroy&) const { return "destroy"; }
  std::string_view operator()(const Fail&) const { return "fail"; }
  std::string_view operator()(const BadCall&) const { return "bad"; }
  std::string_view operator()(const CloneGraph&) const { return "clone"; }
  std::string_view operator()(const FindInClone&) const { return "find"; }
  std::string_view operator()(const ChangeEdges& c) const { return c.add ? "edge" : "unedge"; }
  std::string_view operator()(const RemoveNode&) const { return "remove"; }
  std::string_view operator()(const EnableNode& c) const { return c.enabled ? "enable" : "disable"; }
  std::string_view operator()(const Upload&) const { return "upload"; }
  std::string_view operator()(const Inspect&) const { return "inspect"; }
  std::string_view operator()(const SetAttributes&) const { return "attribute"; }
  std::string_view operator()(const CopyAttributes&) const { return "copy_attributes"; }
  std::string_view operator()(const PeerAccess&) const { return "peer"; }
  std::string_view operator()(const Enqueue&) const { return "on"; }
  std::string_view operator()(const Query&) const { return "query"; }
  std::string_view operator()(const Elapsed&) const { return "elapsed"; }
  std::string_view operator()(const BeginCapture&) const { return "capture"; }
  std::string_view operator()(const EndCapture&) const { return "endcapture"; }
  std::string_view operator()(const CaptureInfo&) const { return "capture_info"; }
  std::string_view operator()(const CaptureAfter&) const { return "capture_after"; }
  std::string_view operator()(const ExchangeCaptureMode&) const { return "capture_mode"; }
  std::string_view operator()(const UnsafeCall&) const { return "unsafe"; }
  std::string_view operator()(const DeclareUserObject&) const { return "userobject"; }
  std::string_view operator()(const RetainUserObject&) const { return "retain"; }
  std::string_view operator()(const ReleaseUserObject&) const { return "release"; }
  std::string_view operator()(const PrintDot&) const { return "dot"; }
  std::string_view operator()(const SystemAction& c) const { return describe(c.verb).words; }
};

bool is_counted(const Command& command) {
  return !(std::holds_alternative<DeclareBuffer>(command) || std::holds_alternative<DeclareGraph>(command) ||
           std::holds_alternative<DeclareStream>(command) || std::holds_alternative<DeclareEvent>(command) ||
           std::holds_alternative<DeclarePool>(command) || std::holds_alternative<Read>(command));
}

}  // namespace

std::string print_ref(const BufferRef& ref) {
  return fmt::format("b{}{:+}", ref.buffer, ref.offset);
}

std::string_view node_word(const NodeParams& params) {
  if (const auto* copy = std::get_if<CopyParams>(&params)) return copy->linear ? "memcpy" : "memcpy3d";
  static constexpr std::string_view kWords[] = {"kernel", "memcpy",      "memset",    "host",  "empty",
                                                "child",  "eventrecord", "eventwait", "alloc", "free"};
  static_assert(std::size(kWords) == std::variant_size_v<NodeParams>);
  return kWords[params.index()];
}

std::span<const std::pair<std::uint32_t, std::string_view>> instantiate_flags() {
  static constexpr std::pair<std::uint32_t, std::string_view> kFlags[] = {
      {kAutoFreeOnLaunch, "auto_free"}, {kUploadAtOnce, "upload"}, {kUseNodePriority, "priority"}};
  return kFlags;
}

std::span<const std::string_view> pool_attributes() {
  static constexpr std::string_view kWords[] = {
      "follow_events", "opportunistic", "internal_dependencies", "release_threshold", "reserved", "reserved_high",
      "used",          "used_high"};
  return kWords;
}

std::span<const std::string_view> peer_words() {
  static constexpr std::string_view kWords[] = {"can", "enable", "disable"};
  return kWords;
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
