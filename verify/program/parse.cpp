// The parser of the text form. One function a command; each reads tokens from a Line, which remembers the first error
// and its column, so that the functions need no error handling of their own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>
#include <vector>

#include "verify/errors/error_cases.h"
#include "verify/program/text.h"

namespace verify {

namespace {

struct Token {
  std::string_view text;
  std::uint32_t column = 1;
};

// The tokens of one line, read from left to right. After the first failure every read returns a default.
class Line {
 public:
  Line(std::string_view text, std::uint32_t number) : number_(number) {
    const std::size_t comment = text.find('#');
    if (comment != std::string_view::npos) text = text.substr(0, comment);
    std::size_t at = 0;
    while (at < text.size()) {
      if (is_space(text[at])) {
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < text.size() && !is_space(text[end])) ++end;
      tokens_.push_back({text.substr(at, end - at), static_cast<std::uint32_t>(at + 1)});
      at = end;
    }
    end_column_ = static_cast<std::uint32_t>(text.size() + 1);
  }

  [[nodiscard]] bool blank() const { return tokens_.empty(); }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const ParseError& error() const { return error_; }
  [[nodiscard]] bool at_end() const { return next_ == tokens_.size(); }
  [[nodiscard]] std::uint32_t number() const { return number_; }

  void fail(std::uint32_t column, std::string message) {
    if (failed_) return;
    failed_ = true;
    error_ = {number_, column, std::move(message)};
  }

  Token word(std::string_view expected) {
    if (at_end()) {
      fail(end_column_, fmt::format("expected {} before the end of the line", expected));
      return {"", end_column_};
    }
    return tokens_[next_++];
  }
  [[nodiscard]] Token peek() const { return at_end() ? Token{"", end_column_} : tokens_[next_]; }

  void end() {
    if (!failed_ && !at_end()) {
      fail(tokens_[next_].column, fmt::format("'{}' is not part of this command", tokens_[next_].text));
    }
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  std::uint32_t number_ = 0;
  std::uint32_t end_column_ = 1;
  bool failed_ = false;
  ParseError error_;
};

std::uint64_t parse_number(Line& line, Token token, std::uint64_t max, std::string_view what) {
  std::uint64_t value = 0;
  std::string_view digits = token.text;
  int base = 10;
  if (digits.starts_with("0x")) {
    digits.remove_prefix(2);
    base = 16;
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    line.fail(token.column, fmt::format("expected {}, found '{}'", what, token.text));
    return 0;
  }
  if (error == std::errc::result_out_of_range || value > max) {
    line.fail(token.column, fmt::format("{} is at most {}", what, max));
    return 0;
  }
  return value;
}

// "g0": a letter and a number.
Id parse_id(Line& line, Token token, char letter) {
  if (token.text.empty() || token.text[0] != letter) {
    line.fail(token.column, fmt::format("expected a name like {}0, found '{}'", letter, token.text));
    return 0;
  }
  return static_cast<Id>(parse_number(line, {token.text.substr(1), token.column + 1}, kMaxId,
                                      fmt::format("the number of a name like {}0", letter)));
}

Id id_of(Line& line, char letter) {
  return parse_id(line, line.word(fmt::format("a name like {}0", letter)), letter);
}

// "b0", "b0+256", "b0-8"
BufferRef parse_ref(Line& line, Token token) {
  const std::size_t sign = token.text.find_first_of("+-");
  BufferRef ref;
  ref.buffer = parse_id(line, {token.text.substr(0, sign), token.column}, 'b');
  if (sign == std::string_view::npos) return ref;
  const Token digits{token.text.substr(sign + 1), token.column + static_cast<std::uint32_t>(sign) + 1};
  const std::uint64_t value = parse_number(line, digits, kMaxBufferBytes, "an offset in bytes");
  ref.offset = token.text[sign] == '-' ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return ref;
}

// The key=value part of a line: every pair is taken once; what is left over is an error that names it.
class Attributes {
 public:
  explicit Attributes(Line& line) : line_(line) {
    while (!line.at_end() && !line.failed()) {
      const Token token = line.word("an attribute");
      const std::size_t equals = token.text.find('=');
      const std::string_view key = token.text.substr(0, equals);
      Token value{"", token.column};
      if (equals != std::string_view::npos) {
        value = {token.text.substr(equals + 1), token.column + static_cast<std::uint32_t>(equals) + 1};
      }
      if (!entries_.emplace(std::string(key), Entry{value, token.column, equals != std::string_view::npos}).second) {
        line.fail(token.column, fmt::format("'{}' is given twice", key));
      }
    }
  }

  bool take(std::string_view key, Token& value) {
    const auto found = entries_.find(std::string(key));
    if (found == entries_.end()) return false;
    if (!found->second.has_value) line_.fail(found->second.column, fmt::format("'{}' needs a value: {}=...", key, key));
    value = found->second.value;
    entries_.erase(found);
    return true;
  }
  bool flag(std::string_view key) {
    const auto found = entries_.find(std::string(key));
    if (found == entries_.end()) return false;
    if (found->second.has_value) line_.fail(found->second.column, fmt::format("'{}' takes no value", key));
    entries_.erase(found);
    return true;
  }
  std::uint64_t number(std::string_view key, std::uint64_t fallback, std::uint64_t max) {
    Token value;
    return take(key, value) ? parse_number(line_, value, max, key) : fallback;
  }
  std::uint64_t required_number(std::string_view key, std::uint64_t max) {
    Token value;
    if (take(key, value)) return parse_number(line_, value, max, key);
    missing(key);
    return 0;
  }
  BufferRef required_ref(std::string_view key) {
    Token value;
    if (take(key, value)) return parse_ref(line_, value);
    missing(key);
    return {};
  }
  void missing(std::string_view key) { line_.fail(line_.peek().column, fmt::format("'{}=' is missing", key)); }

  void end() {
    if (line_.failed() || entries_.empty()) return;
    const auto first = std::min_element(entries_.begin(), entries_.end(),
                                        [](const auto& a, const auto& b) { return a.second.column < b.second.column; });
    line_.fail(first->second.column, fmt::format("'{}' is not an attribute of this command", first->first));
  }
  [[nodiscard]] Line& line() { return line_; }

 private:
  struct Entry {
    Token value;
    std::uint32_t column = 0;
    bool has_value = false;
  };
  Line& line_;
  std::map<std::string, Entry> entries_;
};

constexpr std::uint64_t kAnyNumber = ~std::uint64_t{0};
constexpr std::uint64_t kMaxGrid = 65535, kMaxForeignGrid = 0x7fffffff, kMaxBlock = 1024;

ArgumentValue parse_pointer_or_number(Line& line, const FieldSpec& field, Token token) {
  ArgumentValue value;
  if (token.text.starts_with("addr(")) {
    if (field.kind == FieldKind::kPointer) {
      line.fail(token.column,
                fmt::format("'{}' is a pointer: write {}=b0+0 (addr() is for scalars)", field.name, field.name));
    } else if (!token.text.ends_with(")")) {
      line.fail(token.column + static_cast<std::uint32_t>(token.text.size()), "expected ')' after addr(");
    } else {
      value.kind = ArgumentValue::Kind::kAddressBits;
      value.ref = parse_ref(line, {token.text.substr(5, token.text.size() - 6), token.column + 5});
    }
    return value;
  }
  if (field.kind == FieldKind::kPointer || (field.kind == FieldKind::kEither && token.text.starts_with("b"))) {
    value.kind = ArgumentValue::Kind::kPointer;
    value.ref = parse_ref(line, token);
    return value;
  }
  const std::uint64_t max = field.size == 8 ? kAnyNumber : (std::uint64_t{1} << (8 * field.size)) - 1;
  value.number = parse_number(line, token, max, fmt::format("'{}' ({} bytes)", field.name, field.size));
  return value;
}

Id parse_device(Attributes& attributes) {
  return static_cast<Id>(attributes.number("device", 0, kMaxDevices - 1));
}

// "4", or "4,2,1" of a foreign kernel.
void parse_shape(Attributes& attributes, std::string_view key, std::uint64_t max, std::array<std::uint32_t*, 3> shape) {
  Token token;
  if (!attributes.take(key, token)) return;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::string_view part = token.text.substr(0, token.text.find(','));
    *shape[i] = static_cast<std::uint32_t>(parse_number(attributes.line(), {part, token.column}, max, key));
    if (part.size() == token.text.size()) return;
    token = {token.text.substr(part.size() + 1), token.column + static_cast<std::uint32_t>(part.size()) + 1};
  }
  attributes.line().fail(token.column, fmt::format("'{}' has at most three numbers: x,y,z", key));
}

NodeParams parse_kernel(Line& line, Token name, Attributes& attributes) {
  KernelParams params;
  params.kernel = find_kernel(name.text);
  if (params.kernel == nullptr && name.text.find('@') != std::string_view::npos) {
    line.fail(
        name.column,
        fmt::format("'{}' is a kernel of a recorded program, and its code is not there: {}.co has to stand beside "
                    "the program, and to have that kernel",
                    name.text, name.text.substr(name.text.rfind('@') + 1)));
    return EmptyParams{};
  }
  if (params.kernel == nullptr) {
    std::string known;
    for (const KernelSpec& spec : kernel_catalogue()) known += (known.empty() ? "" : ", ") + spec.name;
    line.fail(name.column, fmt::format("there is no kernel '{}'; there are {}", name.text, known));
    return EmptyParams{};
  }
  for (const FieldSpec& field : params.kernel->fields) {
    Token value;
    if (!attributes.take(field.name, value)) {
      attributes.missing(field.name);
      break;
    }
    params.arguments.push_back(parse_pointer_or_number(line, field, value));
  }
  const bool foreign = params.kernel->object != nullptr;
  parse_shape(attributes, "grid", foreign ? kMaxForeignGrid : kMaxGrid, {&params.grid, &params.grid_y, &params.grid_z});
  parse_shape(attributes, "block", kMaxBlock, {&params.block, &params.block_y, &params.block_z});
  Token style;
  if (attributes.take("style", style)) {
    if (style.text == "extra") {
      params.style = ArgumentStyle::kExtra;
    } else if (style.text != "params") {
      line.fail(style.column, "style is params or extra");
    }
  }
  params.opaque = attributes.flag("opaque");
  params.shared_bytes = static_cast<std::uint32_t>(attributes.number("shared", 0, kMaxSharedBytes));
  params.device = parse_device(attributes);
  return params;
}

PeerCopy parse_peer_copy(Line& line, Attributes& attributes) {
  Token token;
  if (!attributes.take("peer", token)) return PeerCopy::kNone;
  if (token.text != "async" && token.text != "wait") line.fail(token.column, "peer is async or wait");
  return token.text == "wait" ? PeerCopy::kBlocking : PeerCopy::kAsync;
}

CopyKind parse_kind(Line& line, Token token) {
  static const std::map<std::string_view, CopyKind> kinds = {{"h2h", CopyKind::kHostToHost},
                                                             {"h2d", CopyKind::kHostToDevice},
                                                             {"d2h", CopyKind::kDeviceToHost},
                                                             {"d2d", CopyKind::kDeviceToDevice},
                                                             {"default", CopyKind::kDefault}};
  const auto found = kinds.find(token.text);
  if (found != kinds.end()) return found->second;
  line.fail(token.column, "kind is h2h, h2d, d2h, d2d or default");
  return CopyKind::kDefault;
}

Position parse_position(Line& line, Token token) {
  std::uint64_t parts[3] = {0, 0, 0};
  std::string_view rest = token.text;
  std::uint32_t column = token.column;
  for (int i = 0; i < 3; ++i) {
    const std::size_t comma = i < 2 ? rest.find(',') : std::string_view::npos;
    if (i < 2 && comma == std::string_view::npos) {
      line.fail(column, "a position is three numbers: x,y,z");
      return {};
    }
    parts[i] = parse_number(line, {rest.substr(0, comma), column}, kMaxBufferBytes, "a position");
    column += static_cast<std::uint32_t>(comma == std::string_view::npos ? rest.size() : comma + 1);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return {parts[0], parts[1], parts[2]};
}

NodeParams parse_copy(Line& line, bool linear, Attributes& attributes) {
  CopyParams params;
  params.linear = linear;
  params.dst.ref = attributes.required_ref("dst");
  params.src.ref = attributes.required_ref("src");
  if (linear) {
    params.width = attributes.required_number("bytes", kMaxBufferBytes);
  } else {
    params.width = attributes.required_number("width", kMaxBufferBytes);
    params.height = attributes.required_number("height", kMaxBufferBytes);
    params.depth = attributes.required_number("depth", kMaxBufferBytes);
    params.dst.pitch = attributes.required_number("dpitch", kMaxBufferBytes);
    params.src.pitch = attributes.required_number("spitch", kMaxBufferBytes);
    params.dst.rows = attributes.number("drows", params.height, kMaxBufferBytes);
    params.src.rows = attributes.number("srows", params.height, kMaxBufferBytes);
    Token position;
    if (attributes.take("dpos", position)) params.dst.position = parse_position(line, position);
    if (attributes.take("spos", position)) params.src.position = parse_position(line, position);
  }
  Token kind, symbol;
  if (attributes.take("kind", kind)) params.kind = parse_kind(line, kind);
  if (attributes.take("symbol", symbol)) {
    params.symbol = symbol.text == "dst" ? CopySymbol::kDestination : CopySymbol::kSource;
    if (symbol.text != "dst" && symbol.text != "src") line.fail(symbol.column, "symbol is dst or src");
  }
  params.peer = parse_peer_copy(line, attributes);
  return params;
}

NodeParams parse_memset(Attributes& attributes) {
  MemsetParams params;
  params.dst = attributes.required_ref("dst");
  params.value = static_cast<std::uint32_t>(attributes.required_number("value", 0xffffffffU));
  params.element = static_cast<std::uint32_t>(attributes.number("element", 1, 255));
  params.width = attributes.required_number("width", kMaxBufferBytes);
  params.height = attributes.number("height", 1, kMaxBufferBytes);
  params.pitch = attributes.number("pitch", 0, kMaxBufferBytes);
  return params;
}

NodeParams parse_host(Line& line, Attributes& attributes) {
  HostParams params;
  params.tag = static_cast<std::uint32_t>(attributes.required_number("tag", 0xffffffffU));
  Token memory;
  if (attributes.take("mem", memory)) {
    params.memory = parse_ref(line, memory);
    params.bytes = static_cast<std::uint32_t>(attributes.required_number("bytes", kMaxBufferBytes));
  }
  return params;
}

// Positional parts of a node's parameters (a kernel's name, a child's graph) come first, then attributes; `rest` reads
// those that belong to the command and not to the node.
template <class Rest>
NodeParams parse_node_params(Line& line, std::string_view word, Rest rest) {
  Token positional;
  if (word == "kernel") positional = line.word("the name of a kernel");
  if (word == "child") positional = line.word("a name like g0");
  if (word == "eventrecord" || word == "eventwait") positional = line.word("a name like v0");
  if (word == "alloc" || word == "free") positional = line.word("a name like b0");
  const Token size = word == "alloc" ? line.word("a size in bytes") : Token{};
  Attributes attributes(line);
  NodeParams params = EmptyParams{};
  if (word == "kernel") params = parse_kernel(line, positional, attributes);
  if (word == "memcpy" || word == "memcpy3d") params = parse_copy(line, word == "memcpy", attributes);
  if (word == "memset") params = parse_memset(attributes);
  if (word == "host") params = parse_host(line, attributes);
  if (word == "child") {
    ChildParams child;
    child.graph = parse_id(line, positional, 'g');
    child.nest = static_cast<std::uint32_t>(attributes.number("nest", 1, kMaxNest));
    params = child;
  }
  if (word == "eventrecord") params = EventRecordParams{parse_id(line, positional, 'v')};
  if (word == "eventwait") params = EventWaitParams{parse_id(line, positional, 'v')};
  if (word == "alloc") {
    const Id buffer = parse_id(line, positional, 'b');
    params = MemoryAllocParams{buffer, parse_number(line, size, kMaxBufferBytes, "a size in bytes")};
  }
  if (word == "free") params = MemoryFreeParams{parse_id(line, positional, 'b')};
  rest(attributes);
  attributes.end();
  return params;
}

bool is_node_word(std::string_view word) {
  return word == "kernel" || word == "memcpy" || word == "memcpy3d" || word == "memset" || word == "host" ||
         word == "empty" || word == "child" || word == "eventrecord" || word == "eventwait" || word == "alloc";
}

// "g0.n3": the target's letter decides what it names.
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
  name.id = parse_id(line, {token.text.substr(0, dot), token.column}, token.text[0]);
  name.node = parse_id(line, {token.text.substr(dot + 1), token.column + static_cast<std::uint32_t>(dot) + 1}, 'n');
  return name;
}

void parse_after(Line& line, Token token, std::vector<Id>& after) {
  std::string_view rest = token.text;
  std::uint32_t column = token.column;
  while (true) {
    const std::size_t comma = rest.find(',');
    after.push_back(parse_id(line, {rest.substr(0, comma), column}, 'n'));
    if (comma == std::string_view::npos || line.failed()) return;
    column += static_cast<std::uint32_t>(comma) + 1;
    rest = rest.substr(comma + 1);
  }
}

NodeForm take_form(Attributes& attributes) {
  Token form;
  if (!attributes.take("form", form) || form.text == "plain") return NodeForm::kTyped;
  if (form.text == "generic") return NodeForm::kGeneric;
  if (form.text != "driver") attributes.line().fail(form.column, "form is plain, generic or driver");
  return NodeForm::kDriver;
}

Command parse_add_node(Line& line, Token word) {
  AddNode command;
  const Token name_token = line.word("a node like g0.n0");
  const NodeName name = parse_node_name(line, name_token);
  if (name.target != Target::kGraph)
    line.fail(name_token.column, "nodes are added to graphs: expected a node like g0.n0");
  command.graph = name.id;
  command.node = name.node;
  command.params = parse_node_params(line, word.text, [&](Attributes& attributes) {
    Token fan;
    if (attributes.take("fan", fan)) command.fan = static_cast<std::uint32_t>(parse_number(line, fan, kMaxFan, "fan"));
    if (command.fan == 0) line.fail(fan.column, "fan is at least 1");
    Token after;
    if (attributes.take("after", after)) parse_after(line, after, command.after);
    command.form = take_form(attributes);
  });
  return command;
}

Command parse_set(Line& line) {
  const NodeName name = parse_node_name(line, line.word("a node like e0.n0 or g0.n0"));
  const Token word = line.word("the type of the node");
  if (!is_node_word(word.text)) line.fail(word.column, fmt::format("'{}' is not a node type", word.text));
  SetNode command{name.target, name.id, name.node, EmptyParams{}};
  command.params =
      parse_node_params(line, word.text, [&](Attributes& attributes) { command.form = take_form(attributes); });
  return command;
}

Command parse_buffer(Line& line) {
  DeclareBuffer command;
  command.buffer = id_of(line, 'b');
  const Token size = line.word("a size in bytes");
  command.bytes = parse_number(line, size, kMaxBufferBytes, "a size in bytes");
  if (command.bytes == 0) line.fail(size.column, "a buffer has at least one byte");
  Attributes attributes(line);
  Token memory;
  if (attributes.take("memory", memory)) {
    if (memory.text == "pinned") {
      command.memory = MemoryKind::kPinned;
    } else if (memory.text == "pageable") {
      command.memory = MemoryKind::kPageable;
    } else if (memory.text == "managed") {
      command.memory = MemoryKind::kManaged;
    } else if (memory.text == "registered") {
      command.memory = MemoryKind::kRegistered;
    } else if (memory.text != "device") {
      line.fail(memory.column, "memory is device, pinned, pageable, managed or registered");
    }
  }
  Token symbol;
  if (attributes.take("symbol", symbol)) {
    command.symbol = static_cast<std::uint32_t>(parse_number(line, symbol, kSymbols - 1, "the number of a variable"));
  }
  command.device = parse_device(attributes);
  attributes.end();
  return command;
}

Command parse_move(Line& line) {
  MoveBuffers command;
  do {
    const Token token = line.word("a buffer, as in 'move b0' or 'move b0=@b1 b1=@b0'");
    const std::size_t equals = token.text.find('=');
    BufferMove move;
    move.buffer = parse_id(line, {token.text.substr(0, equals), token.column}, 'b');
    if (equals != std::string_view::npos) {
      const std::uint32_t column = token.column + static_cast<std::uint32_t>(equals) + 1;
      const std::string_view onto = token.text.substr(equals + 1);
      if (!onto.starts_with("@")) {
        line.fail(column, "expected @ and a buffer: b0=@b1 moves b0 to where b1 is");
      } else {
        move.onto = parse_id(line, {onto.substr(1), column + 1}, 'b');
      }
    }
    command.moves.push_back(move);
  } while (!line.at_end() && !line.failed());
  return command;
}

// A target by its first letter, among those that `letters` allows.
std::pair<Target, Id> parse_target(Line& line, std::string_view letters) {
  const Token token = line.word("a name");
  static const std::map<char, Target> targets = {
      {'g', Target::kGraph}, {'e', Target::kExec}, {'s', Target::kStream}, {'v', Target::kEvent}};
  if (token.text.empty() || letters.find(token.text[0]) == std::string_view::npos) {
    line.fail(token.column,
              fmt::format("expected a name that begins with one of '{}', found '{}'", letters, token.text));
    return {Target::kDevice, 0};
  }
  return {targets.at(token.text[0]), parse_id(line, token, token.text[0])};
}

// Ends the line: the attribute of commands that take no other.
Id parse_thread(Line& line) {
  Attributes attributes(line);
  const auto thread = static_cast<Id>(attributes.number("thread", 0, kMaxThread));
  attributes.end();
  return thread;
}

Command parse_synchronize(Line& line) {
  Synchronize command;
  if (line.peek().text == "device") {
    static_cast<void>(line.word("device"));
  } else {
    std::tie(command.target, command.id) = parse_target(line, "sv");
  }
  command.thread = parse_thread(line);
  return command;
}

Command parse_enqueue(Line& line) {
  Enqueue command;
  command.stream = id_of(line, 's');
  const Token word = line.word("the type of a node");
  if (!is_node_word(word.text)) line.fail(word.column, fmt::format("'{}' is not a node type", word.text));
  command.params = parse_node_params(line, word.text, [&](Attributes& attributes) {
    command.thread = static_cast<Id>(attributes.number("thread", 0, kMaxThread));
  });
  return command;
}

Command parse_query(Line& line) {
  Query command;
  std::tie(command.target, command.id) = parse_target(line, "sv");
  command.thread = parse_thread(line);
  return command;
}

CaptureMode parse_mode(Line& line, Token token) {
  static const std::map<std::string_view, CaptureMode> modes = {
      {"global", CaptureMode::kGlobal}, {"thread", CaptureMode::kThreadLocal}, {"relaxed", CaptureMode::kRelaxed}};
  const auto found = modes.find(token.text);
  if (found != modes.end()) return found->second;
  line.fail(token.column, "a mode is global, thread or relaxed");
  return CaptureMode::kGlobal;
}

Command parse_begin_capture(Line& line) {
  BeginCapture command;
  command.stream = id_of(line, 's');
  Attributes attributes(line);
  Token value;
  if (attributes.take("mode", value)) command.mode = parse_mode(line, value);
  if (attributes.take("into", value)) command.into = parse_id(line, value, 'g');
  if (attributes.take("after", value)) {
    if (!command.into) line.fail(value.column, "'after' names nodes of the graph that is captured 'into'");
    parse_after(line, value, command.after);
  }
  command.thread = static_cast<Id>(attributes.number("thread", 0, kMaxThread));
  attributes.end();
  return command;
}

Command parse_end_capture(Line& line) {
  EndCapture command;
  command.stream = id_of(line, 's');
  command.graph = id_of(line, 'g');
  command.thread = parse_thread(line);
  return command;
}

Command parse_capture_after(Line& line) {
  CaptureAfter command;
  command.stream = id_of(line, 's');
  const Token nodes = line.word("nodes like n0,n1, or none");
  if (nodes.text != "none") parse_after(line, nodes, command.nodes);
  Attributes attributes(line);
  command.add = attributes.flag("add");
  attributes.end();
  return command;
}

Command parse_capture_mode(Line& line) {
  ExchangeCaptureMode command;
  command.mode = parse_mode(line, line.word("global, thread or relaxed"));
  command.thread = parse_thread(line);
  return command;
}

Command parse_fail(Line& line) {
  Fail command;
  const Token nth = line.word("which call fails, from 1");
  command.nth = static_cast<std::uint32_t>(parse_number(line, nth, kMaxRepeat, "the number of a call"));
  if (command.nth == 0) line.fail(nth.column, "calls are counted from 1");
  const Token function = line.word("the name of a HIP function");
  if (!function.text.starts_with("hip"))
    line.fail(function.column, fmt::format("'{}' is not a HIP function", function.text));
  command.function = std::string(function.text);
  return command;
}

std::int32_t parse_priority(Line& line, Token token) {
  constexpr std::uint64_t kMaxPriority = 1000;
  const bool negative = token.text.starts_with("-");
  if (negative) token = {token.text.substr(1), token.column + 1};
  const auto value = static_cast<std::int32_t>(parse_number(line, token, kMaxPriority, "a priority"));
  return negative ? -value : value;
}

Command parse_bad(Line& line) {
  const Token function = line.word("the name of a HIP function");
  const Token error_case = line.word("a case of it");
  if (find_error_case(function.text, error_case.text) == nullptr) {
    line.fail(error_case.column, fmt::format("'{}' has no case '{}'", function.text, error_case.text));
  }
  return BadCall{std::string(function.text), std::string(error_case.text)};
}

Command parse_stream(Line& line) {
  DeclareStream command;
  command.stream = id_of(line, 's');
  Attributes attributes(line);
  command.non_blocking = attributes.flag("nonblocking");
  Token priority;
  if (attributes.take("priority", priority)) command.priority = parse_priority(line, priority);
  command.per_thread = attributes.flag("per_thread");
  command.device = parse_device(attributes);
  attributes.end();
  return command;
}

Command parse_event(Line& line) {
  DeclareEvent command;
  command.event = id_of(line, 'v');
  Attributes attributes(line);
  command.timing = attributes.flag("timing");
  command.blocking = attributes.flag("blocking");
  Token release;
  if (attributes.take("release", release)) {
    if (release.text != "device" && release.text != "system") line.fail(release.column, "release is device or system");
    command.release = release.text == "device" ? EventRelease::kDevice : EventRelease::kSystem;
  }
  command.device = parse_device(attributes);
  attributes.end();
  return command;
}

std::vector<std::uint8_t> parse_hex(Line& line, Token token) {
  std::vector<std::uint8_t> bytes;
  const std::string_view digits = token.text;
  if (digits.empty() || digits.size() % 2 != 0 || digits.size() > 2 * kMaxWrittenBytes) {
    line.fail(token.column, fmt::format("hex is 1 to {} bytes, two digits each", kMaxWrittenBytes));
    return bytes;
  }
  bytes.resize(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char* const from = digits.data() + 2 * i;
    if (std::from_chars(from, from + 2, bytes[i], 16).ptr == from + 2) continue;
    line.fail(token.column, fmt::format("'{}' is no byte of two hexadecimal digits", digits.substr(2 * i, 2)));
    return bytes;
  }
  return bytes;
}

Command parse_write(Line& line) {
  Write command;
  command.buffer = id_of(line, 'b');
  Attributes attributes(line);
  Token hex;
  if (attributes.take("hex", hex)) {
    command.offset = attributes.required_number("at", kMaxBufferBytes);
    command.data = parse_hex(line, hex);
  } else {
    command.seed = attributes.required_number("seed", kAnyNumber);
  }
  attributes.end();
  return command;
}

Command parse_instantiate(Line& line) {
  Instantiate command;
  command.exec = id_of(line, 'e');
  command.graph = id_of(line, 'g');
  Attributes attributes(line);
  Token form, flags;
  if (attributes.take("form", form)) {
    if (form.text == "flags") {
      command.form = InstantiateForm::kFlags;
    } else if (form.text == "params") {
      command.form = InstantiateForm::kParams;
    } else if (form.text != "plain") {
      line.fail(form.column, "form is plain, flags or params");
    }
  }
  if (attributes.take("flags", flags)) {
    for (std::string_view rest = flags.text; !line.failed();) {
      const std::size_t comma = rest.find(',');
      const std::uint32_t before = command.flags;
      for (const auto& [flag, word] : instantiate_flags()) command.flags |= word == rest.substr(0, comma) ? flag : 0;
      if (command.flags == before) line.fail(flags.column, "flags are auto_free, upload and priority, each once");
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  attributes.end();
  return command;
}

// A node of a graph ('g') or of an executable graph ('e').
NodeName parse_node_of(Line& line, Target target) {
  const Token token = line.word(target == Target::kGraph ? "a node like g0.n0" : "a node like e0.n0");
  const NodeName name = parse_node_name(line, token);
  if (name.target != target) {
    line.fail(token.column, fmt::format("expected a node like {}0.n0", target == Target::kGraph ? 'g' : 'e'));
  }
  return name;
}

Command parse_edges(Line& line, bool add) {
  ChangeEdges command;
  command.add = add;
  const NodeName name = parse_node_of(line, Target::kGraph);
  command.graph = name.id;
  command.node = name.node;
  Attributes attributes(line);
  Token after;
  if (attributes.take("after", after)) {
    parse_after(line, after, command.after);
  } else {
    attributes.missing("after");
  }
  command.cycle = add && attributes.flag("cycle");
  attributes.end();
  return command;
}

Command parse_attribute(Line& line) {
  const NodeName name = parse_node_of(line, Target::kGraph);
  SetAttributes command{name.id, name.node, {}};
  Attributes attributes(line);
  Token priority;
  if (attributes.take("priority", priority)) command.attributes.priority = parse_priority(line, priority);
  Token cooperative;
  if (attributes.take("cooperative", cooperative)) {
    command.attributes.cooperative = parse_number(line, cooperative, 1, "cooperative") != 0;
  }
  if (command.attributes == NodeAttributes{}) attributes.missing("priority");
  attributes.end();
  return command;
}

Command parse_copy_attributes(Line& line) {
  const NodeName name = parse_node_of(line, Target::kGraph);
  const NodeName source = parse_node_of(line, Target::kGraph);
  return CopyAttributes{name.id, name.node, source.id, source.node};
}

Command parse_peer(Line& line) {
  PeerAccess command;
  const Token verb = line.word("can, enable or disable");
  const auto words = peer_words();
  const auto found = std::find(words.begin(), words.end(), verb.text);
  if (found == words.end()) {
    line.fail(verb.column, "peer can, peer enable or peer disable");
  } else {
    command.verb = static_cast<PeerVerb>(found - words.begin());
  }
  command.device = static_cast<Id>(parse_number(line, line.word("a device"), kMaxDevices - 1, "a device"));
  command.peer = static_cast<Id>(parse_number(line, line.word("its peer"), kMaxDevices - 1, "its peer"));
  return command;
}

Command parse_enable(Line& line, bool enabled) {
  const NodeName name = parse_node_of(line, Target::kExec);
  return EnableNode{name.id, name.node, enabled};
}

Command parse_malloc_async(Line& line) {
  MallocAsync command;
  command.buffer = id_of(line, 'b');
  command.bytes = parse_number(line, line.word("a size in bytes"), kMaxBufferBytes, "a size in bytes");
  command.stream = id_of(line, 's');
  Attributes attributes(line);
  Token pool;
  if (attributes.take("pool", pool)) command.pool = parse_id(line, pool, 'p');
  attributes.end();
  return command;
}

Command parse_pool(Line& line) {
  DeclarePool command;
  command.pool = id_of(line, 'p');
  Attributes attributes(line);
  command.of_device = attributes.flag("default");
  attributes.end();
  return command;
}

// "release_threshold=4096" sets it, "used" asks.
Command parse_pool_attribute(Line& line) {
  AskPool command;
  command.pool = id_of(line, 'p');
  const Token token = line.word("an attribute");
  const std::size_t equals = token.text.find('=');
  const auto words = pool_attributes();
  const auto found = std::find(words.begin(), words.end(), token.text.substr(0, equals));
  if (found == words.end()) {
    line.fail(token.column, fmt::format("a pool's attributes are {}", fmt::join(words, ", ")));
    return command;
  }
  command.attribute = static_cast<PoolAttribute>(found - words.begin());
  if (equals == std::string_view::npos) return command;
  const Token value{token.text.substr(equals + 1), static_cast<std::uint32_t>(token.column + equals + 1)};
  command.value = parse_number(line, value, kAnyNumber, "a value");
  return command;
}

Command parse_pool_trim(Line& line) {
  TrimPool command;
  command.pool = id_of(line, 'p');
  command.bytes = parse_number(line, line.word("a size in bytes"), kAnyNumber, "a size in bytes");
  return command;
}

Command parse_pool_use(Line& line) {
  if (line.peek().text != "default") return UsePool{id_of(line, 'p')};
  static_cast<void>(line.word("default"));
  return UsePool{};
}

Command parse_destroy(Line& line) {
  if (line.peek().text.starts_with('p')) return DestroyPool{id_of(line, 'p')};
  const auto [target, id] = parse_target(line, "gesv");
  return Destroy{target, id};
}

using CommandParser = Command (*)(Line&);

const std::map<std::string_view, CommandParser>& command_parsers() {
  static const std::map<std::string_view, CommandParser> parsers = {
      {"buffer", parse_buffer},
      {"graph", [](Line& l) -> Command { return DeclareGraph{id_of(l, 'g')}; }},
      {"stream", parse_stream},
      {"event", parse_event},
      {"instantiate", parse_instantiate},
      {"clone",
       [](Line& l) -> Command {
         const Id g = id_of(l, 'g');
         return CloneGraph{g, id_of(l, 'g')};
       }},
      {"find",
       [](Line& l) -> Command {
         const Id g = id_of(l, 'g');
         const NodeName name = parse_node_of(l, Target::kGraph);
         return FindInClone{g, name.id, name.node};
       }},
      {"edge", [](Line& l) { return parse_edges(l, true); }},
      {"unedge", [](Line& l) { return parse_edges(l, false); }},
      {"remove",
       [](Line& l) -> Command {
         const NodeName name = parse_node_of(l, Target::kGraph);
         return RemoveNode{name.id, name.node};
       }},
      {"enable", [](Line& l) { return parse_enable(l, true); }},
      {"disable", [](Line& l) { return parse_enable(l, false); }},
      {"attribute", parse_attribute},
      {"copy_attributes", parse_copy_attributes},
      {"peer", parse_peer},
      {"upload",
       [](Line& l) -> Command {
         const Id e = id_of(l, 'e');
         return Upload{e, id_of(l, 's')};
       }},
      {"userobject", [](Line& l) -> Command { return DeclareUserObject{id_of(l, 'u')}; }},
      {"retain",
       [](Line& l) -> Command {
         const Id u = id_of(l, 'u');
         const Id g = id_of(l, 'g');
         Attributes attributes(l);
         const bool move = attributes.flag("move");
         attributes.end();
         return RetainUserObject{u, g, move};
       }},
      {"release",
       [](Line& l) -> Command {
         ReleaseUserObject command{id_of(l, 'u'), {}};
         if (!l.at_end()) command.graph = id_of(l, 'g');
         return command;
       }},
      {"dot", [](Line& l) -> Command { return PrintDot{id_of(l, 'g')}; }},
      {"inspect",
       [](Line& l) -> Command {
         const auto [t, id] = parse_target(l, "ge");
         return Inspect{t, id};
       }},
      {"launch",
       [](Line& l) -> Command {
         const Id e = id_of(l, 'e');
         return Launch{e, id_of(l, 's')};
       }},
      {"move", parse_move},
      {"patch",
       [](Line& l) -> Command {
         const auto [t, id] = parse_target(l, "ge");
         return Patch{t, id};
       }},
      {"set", parse_set},
      {"update",
       [](Line& l) -> Command {
         const Id e = id_of(l, 'e');
         return Update{e, id_of(l, 'g')};
       }},
      {"sync", parse_synchronize},
      {"record",
       [](Line& l) -> Command {
         const Id v = id_of(l, 'v');
         return RecordEvent{v, id_of(l, 's')};
       }},
      {"wait",
       [](Line& l) -> Command {
         const Id s = id_of(l, 's');
         return WaitEvent{s, id_of(l, 'v')};
       }},
      {"read", [](Line& l) -> Command { return Read{id_of(l, 'b')}; }},
      {"write", parse_write},
      {"free", [](Line& l) -> Command { return Free{id_of(l, 'b')}; }},
      {"free_async",
       [](Line& l) -> Command {
         const Id b = id_of(l, 'b');
         return FreeAsync{b, id_of(l, 's')};
       }},
      {"malloc_async", parse_malloc_async},
      {"pool", parse_pool},
      {"pool_attribute", parse_pool_attribute},
      {"pool_trim", parse_pool_trim},
      {"pool_access", [](Line& l) -> Command { return AccessPool{id_of(l, 'p')}; }},
      {"pool_use", parse_pool_use},
      {"destroy", parse_destroy},
      {"fail", parse_fail},
      {"on", parse_enqueue},
      {"query", parse_query},
      {"elapsed",
       [](Line& l) -> Command {
         const Id from = id_of(l, 'v');
         return Elapsed{from, id_of(l, 'v')};
       }},
      {"capture", parse_begin_capture},
      {"endcapture", parse_end_capture},
      {"capture_info", [](Line& l) -> Command { return CaptureInfo{id_of(l, 's')}; }},
      {"capture_after", parse_capture_after},
      {"capture_mode", parse_capture_mode},
      {"unsafe", [](Line& l) -> Command { return UnsafeCall{parse_thread(l)}; }},
      {"bad", parse_bad},
  };
  return parsers;
}

// "cache acquire 0 device=1 flags=0 priority=0": the second word is what tells it from other commands.
Command parse_system_action(Line& line, const Token& first) {
  const Token second = line.word("what the system does");
  const std::optional<SystemVerb> verb = verb_of(first.text, second.text);
  if (!verb) {
    line.fail(second.column,
              fmt::format("there is no action '{} {}'; docs/program-language.md lists them", first.text, second.text));
    return SystemAction{};
  }
  std::vector<std::string_view> fields;
  while (!line.at_end() && !line.failed()) fields.push_back(line.word("a field").text);
  std::string error;
  const std::optional<SystemAction> action = parse_action(*verb, fields, &error);
  if (!action) line.fail(second.column, error);
  return action.value_or(SystemAction{});
}

Step parse_step(Line& line) {
  Step step;
  step.line = line.number();
  Token word = line.word("a command");
  if (word.text == "repeat") {
    const Token count = line.word("how often");
    step.repeat = static_cast<std::uint32_t>(parse_number(line, count, kMaxRepeat, "a repeat count"));
    if (step.repeat == 0) line.fail(count.column, "a command is repeated at least once");
    word = line.word("the command to repeat");
  }
  // `free b0` is the buffer's command, `free g0.n1 b0` the node.
  const bool node = is_node_word(word.text) || (word.text == "free" && line.peek().text.starts_with('g'));
  if (node) {
    step.command = parse_add_node(line, word);
  } else if (is_system_word(word.text)) {
    step.command = parse_system_action(line, word);
  } else {
    const auto found = command_parsers().find(word.text);
    if (found == command_parsers().end()) {
      line.fail(word.column, fmt::format("there is no command '{}' (docs/program-language.md lists them)", word.text));
    } else {
      step.command = found->second(line);
    }
  }
  line.end();
  return step;
}

// The two lines that open every program.
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
  if (word.text != "placement") return false;
  static_cast<void>(line.word("placement"));
  const Token placement = line.word("arena or native");
  if (placement.text == "native") {
    program.placement = Placement::kNative;
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
  bool version_seen = false;
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    Line line(text.substr(0, newline), ++number);
    text = newline == std::string_view::npos ? std::string_view{} : text.substr(newline + 1);
    if (line.blank()) continue;
    if (!parse_header(line, version_seen, program)) program.steps.push_back(parse_step(line));
    if (line.failed()) return line.error();
    if (program.steps.size() > kMaxCommands) {
      return ParseError{number, 1, fmt::format("a program has at most {} commands", kMaxCommands)};
    }
  }
  if (!version_seen) return ParseError{1, 1, "a program begins with the line 'hgcheck-program 1'"};
  return program;
}

}  // namespace verify
