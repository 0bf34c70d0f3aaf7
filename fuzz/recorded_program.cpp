#include "fuzz/recorded_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <variant>

#include "hip/code_object/code_object.h"
#include "hip/recorder/hash.h"
#include "verify/program/state.h"
#include "verify/program/text.h"
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
#include "hip/kernels/device_kernels.h"
#endif

namespace fuzz {

namespace {

constexpr std::size_t kMaxDropped = 20000;  // commands that may not stand; each costs a look at the whole program
constexpr const char* kCopyKinds[] = {"h2h", "h2d", "d2h", "d2d", "default"};

// The code object whose kernels a program may name, as the recorder spells it.
std::string own_code_object() {
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
  const hip::Result<std::span<const std::byte>> elf = hip::code_object::find_code_object(hg::device_code_object());
  if (elf) return fmt::format("{:016x}", hip::recorder::hash_of(elf.value()));
#endif
  return "none";
}

// The words of one line of a log; what is missing reads as nothing.
class Words {
 public:
  explicit Words(std::string_view line) {
    while (!line.empty()) {
      const std::size_t space = line.find(' ');
      words_.emplace_back(line.substr(0, space));
      line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
    }
  }
  std::string word() { return next_ < words_.size() ? std::string(words_[next_++]) : std::string(); }
  std::uint64_t number() {
    const std::string text = word();
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return value;
  }
  [[nodiscard]] bool at_end() const { return next_ >= words_.size(); }

 private:
  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
};

std::vector<std::byte> bytes_of(const std::string& hex) {
  std::vector<std::byte> bytes(hex.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint8_t value = 0;
    std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, value, 16);
    bytes[i] = std::byte{value};
  }
  return bytes;
}

// One line of the program.
struct Entry {
  std::string text;
  std::optional<RecordedBytes> read;
};

// A node's work in the language's words: "kernel", "axpy_u64 out=b0+0 ...".
struct Work {
  std::string word, rest;
  std::string flaw{};  // why it cannot be said, or empty
};

class Conversion {
 public:
  void line(std::string_view text) {
    Words words(text);
    const std::string verb = words.word();
    if (verb == "alloc" || verb == "adopt" || verb == "free" || verb == "host" || verb == "copied") {
      memory(verb, words);
    } else if (verb == "stream" || verb == "event" || verb == "record" || verb == "wait" || verb == "sync" ||
               verb == "work" || verb == "capture" || verb == "endcapture") {
      streams(verb, words);
    } else if (verb == "other" || verb == "failed" || verb == "lost") {
      missing(verb, words);
    } else {
      graphs(verb, words);
    }
  }

  RecordedProgram finish(const std::vector<std::string>& header) {
    drop_what_may_not_stand();
    RecordedProgram program;
    program.not_recorded = std::move(not_recorded_);
    std::uint32_t number = 0;
    const auto put = [&](const std::string& text) {
      program.text += text + "\n";
      ++number;
      if (!text.empty() && text[0] != '#') ++program.commands;
    };
    put("hgcheck-program 1");
    for (const std::string& comment : header) put("# " + comment);
    put("placement native");
    for (const std::vector<Entry>* part : {&first_, &body_}) {
      for (const Entry& entry : *part) {
        put(entry.text);
        if (entry.read) program.reads[number] = *entry.read;
      }
    }
    return program;
  }

 private:
  struct Buffer {
    std::uint32_t id = 0;
    std::uint64_t bytes = 0;
  };
  struct Node {
    std::uint32_t graph = 0, id = 0;
  };

  // ---- lines

  void say(std::string text) { body_.push_back({std::move(text), {}}); }
  void note(const std::string& why) {
    ++not_recorded_[why];
    body_.push_back({"# not recorded: " + why, {}});
  }
  void missing(const std::string& verb, Words& words) {
    const std::string what = words.word();
    if (verb == "failed") return note(fmt::format("{} answered {}", what, words.number()));
    if (verb == "lost") return note(what);
    note(what + " has no command");
  }

  // ---- memory

  // "b0+16" of an address, or nothing. One past the end belongs to a buffer when no other begins there.
  [[nodiscard]] std::optional<std::string> ref(std::uint64_t address) const {
    auto after = buffers_.upper_bound(address);
    if (after == buffers_.begin()) return std::nullopt;
    const auto& [start, buffer] = *--after;
    if (address - start > buffer.bytes) return std::nullopt;
    return fmt::format("b{}+{}", buffer.id, address - start);
  }
  void declare(std::vector<Entry>& where, const std::string& kind, std::uint64_t address, std::uint64_t bytes) {
    const std::uint32_t id = next_buffer_++;
    const std::string text = fmt::format("buffer b{} {}{}", id, bytes, kind == "device" ? "" : " memory=" + kind);
    where.push_back({text, {}});
    buffers_[address] = {id, bytes};
  }
  void memory(const std::string& verb, Words& words) {
    if (verb == "copied") return copied(words);
    const std::string kind = verb == "alloc" ? words.word() : "pageable";
    const std::uint64_t address = words.number();
    const auto known = buffers_.find(address);
    if (verb == "alloc") return declare(body_, kind, address, words.number());
    if (verb == "free") {
      if (known == buffers_.end()) return note("freed memory that no call allocated");
      say(fmt::format("free b{}", known->second.id));
      buffers_.erase(known);
      return;
    }
    const std::uint64_t bytes = words.number();
    if (verb == "adopt") {
      // Declared at the beginning: in a capture no memory may come.
      const auto after = buffers_.lower_bound(address + bytes);
      const bool overlaps =
          after != buffers_.begin() && std::prev(after)->first + std::prev(after)->second.bytes > address;
      if (overlaps) return note("host memory that overlaps other host memory of a copy");
      return declare(first_, kind, address, bytes);
    }
    const std::optional<std::string> place = ref(address);
    if (place) write(*place, words.word());
  }
  void write(const std::string& place, const std::string& data) {
    const std::size_t plus = place.find('+');
    if (data.starts_with("=")) {
      if (data.size() > 1)
        say(fmt::format("write {} at={} hex={}", place.substr(0, plus), place.substr(plus + 1), data.substr(1)));
      return;
    }
    std::uint64_t hash = 0;
    std::from_chars(data.data() + 1, data.data() + data.size(), hash, 16);
    say(fmt::format("write {} seed={}", place.substr(0, plus), hash));
    note("contents past 65536 bytes: a pattern of their hash stands for them");
  }
  void copied(Words& words) {
    const std::uint64_t to = words.number(), from = words.number(), bytes = words.number(), kind = words.number();
    const std::optional<std::string> dst = ref(to), src = ref(from);
    const bool from_host = kind <= 1;
    if (dst && src && !from_host) {
      say(fmt::format("on s0 memcpy dst={} src={} bytes={} kind={}", *dst, *src, bytes,
                      kCopyKinds[std::min<std::uint64_t>(kind, 4)]));
      say("sync s0");
    }
    if (from_host && dst) return write(*dst, words.word());
    if (kind == 2 && src) {
      const std::size_t plus = src->find('+');
      const std::string text = fmt::format("read {}", src->substr(0, plus));
      RecordedBytes seen;
      seen.buffer = static_cast<std::uint32_t>(std::stoul(src->substr(1, plus - 1)));
      seen.offset = std::stoull(src->substr(plus + 1));
      seen.bytes = bytes;
      seen.hash = words.number();
      body_.push_back({text, seen});
      return;
    }
    if (!dst || !src) note("a copy between memory that no call of HIP told of");
  }

  // ---- streams and events

  std::uint32_t stream(std::uint64_t handle) {
    constexpr std::uint64_t kLegacy = 1, kPerThread = 2;  // HIP's predefined stream handles
    if (handle == 0 || handle == kLegacy) return 0;
    const auto [place, fresh] = streams_.try_emplace(handle, next_stream_);
    if (!fresh) return place->second;
    const std::string text = fmt::format("stream s{}{}", next_stream_++, handle == kPerThread ? " per_thread" : "");
    first_.push_back({text, {}});
    return place->second;
  }
  template <class Map>
  std::string name(char letter, const Map& names, std::uint64_t handle) const {
    const auto found = names.find(handle);
    return found == names.end() ? std::string() : fmt::format("{}{}", letter, found->second);
  }
  [[nodiscard]] std::string event(std::uint64_t handle) const { return name('v', events_, handle); }
  [[nodiscard]] std::string graph(std::uint64_t handle) const { return name('g', graphs_, handle); }
  [[nodiscard]] std::string exec(std::uint64_t handle) const { return name('e', execs_, handle); }
  // Says the command when every name in it is known.
  void say_of(const std::vector<std::string>& names, const std::string& what, const std::string& text) {
    if (std::ranges::any_of(names, [](const std::string& n) { return n.empty(); })) {
      return note(fmt::format("{} of something that was not recorded", what));
    }
    say(text);
  }
  void make_stream(Words& words) {
    const std::uint64_t handle = words.number(), flags = words.number();
    const auto priority = static_cast<std::int64_t>(words.number());
    streams_[handle] = next_stream_;
    say(fmt::format("stream s{}{}{}", next_stream_++, (flags & 1) != 0 ? " nonblocking" : "",
                    priority != 0 ? fmt::format(" priority={}", priority) : ""));
  }
  void make_event(Words& words) {
    const std::uint64_t handle = words.number(), flags = words.number();
    events_[handle] = next_event_;
    const bool device = (flags & 0x40000000) != 0, system = (flags & 0x80000000) != 0;  // hipEventReleaseTo...
    say(fmt::format("event v{}{}{}{}", next_event_++, (flags & 2) == 0 ? " timing" : "",
                    (flags & 1) != 0 ? " blocking" : "",
                    device   ? " release=device"
                    : system ? " release=system"
                             : ""));
  }
  void streams(const std::string& verb, Words& words) {
    static constexpr const char* kModes[] = {"global", "thread", "relaxed"};
    if (verb == "stream") return make_stream(words);
    if (verb == "event") return make_event(words);
    if (verb == "sync") {
      const std::string what = words.word();
      const std::uint64_t handle = words.number();
      if (what == "device") return say("sync device");
      if (what == "stream") return say(fmt::format("sync s{}", stream(handle)));
      return say_of({event(handle)}, "a wait", "sync " + event(handle));
    }
    if (verb == "record") {
      const std::string e = event(words.number());
      return say_of({e}, "a record", fmt::format("record {} s{}", e, stream(words.number())));
    }
    const std::uint32_t s = stream(words.number());
    if (verb == "wait") {
      const std::string e = event(words.number());
      return say_of({e}, "a wait", fmt::format("wait s{} {}", s, e));
    }
    if (verb == "capture")
      return say(fmt::format("capture s{} mode={}", s, kModes[std::min<std::uint64_t>(words.number(), 2)]));
    if (verb == "endcapture") {
      graphs_[words.number()] = next_graph_;
      return say(fmt::format("endcapture s{} g{}", s, next_graph_++));
    }
    const Work work = work_of(words);
    if (!work.flaw.empty()) return note(work.flaw);
    say(fmt::format("on s{} {} {}", s, work.word, work.rest));
  }

  // ---- nodes

  Work work_of(Words& words) {
    const std::string kind = words.word();
    if (kind == "kernel") return kernel(words);
    if (kind == "copy") return copy(words);
    if (kind == "copy3d") return copy3d(words);
    if (kind == "fill") return fill(words);
    if (kind == "host") {
      const auto [tag, fresh] = tags_.try_emplace(words.number(), tags_.size() + 1);
      if (fresh) note("what a host function does: a counting one stands for it");
      return {"host", fmt::format("tag={}", tag->second)};
    }
    if (kind == "empty") return {"empty", "", ""};
    if (kind == "child") {
      const std::string child = graph(words.number());
      return {"child", child, child.empty() ? "a child graph that was not recorded" : ""};
    }
    if (kind == "eventrecord" || kind == "eventwait") {
      const std::string e = event(words.number());
      return {kind, e, e.empty() ? "an event node of an event that was not recorded" : ""};
    }
    return {"", "", "a copy of an array"};
  }
  Work copy(Words& words) const {
    const std::optional<std::string> dst = ref(words.number()), src = ref(words.number());
    const std::uint64_t bytes = words.number(), kind = std::min<std::uint64_t>(words.number(), 4);
    if (!dst || !src) return {"", "", "a copy between memory that no call of HIP told of"};
    return {"memcpy", fmt::format("dst={} src={} bytes={} kind={}", *dst, *src, bytes, kCopyKinds[kind])};
  }
  Work copy3d(Words& words) const {
    struct End {
      std::optional<std::string> place;
      std::uint64_t pitch, rows, x, y, z;
    };
    const auto end = [&]() -> End {
      End e{ref(words.number()), 0, 0, 0, 0, 0};
      for (std::uint64_t* field : {&e.pitch, &e.rows, &e.x, &e.y, &e.z}) *field = words.number();
      return e;
    };
    const End dst = end(), src = end();
    const std::uint64_t width = words.number(), height = words.number(), depth = words.number();
    const std::uint64_t kind = std::min<std::uint64_t>(words.number(), 4);
    if (!dst.place || !src.place) return {"", "", "a copy between memory that no call of HIP told of"};
    return {"memcpy3d",
            fmt::format("dst={} src={} width={} height={} depth={} dpitch={} spitch={} drows={} srows={} dpos={},{},{} "
                        "spos={},{},{} kind={}",
                        *dst.place, *src.place, width, height, depth, dst.pitch, src.pitch, dst.rows, src.rows, dst.x,
                        dst.y, dst.z, src.x, src.y, src.z, kCopyKinds[kind])};
  }
  Work fill(Words& words) const {
    const std::optional<std::string> dst = ref(words.number());
    const std::uint64_t value = words.number(), element = words.number(), width = words.number();
    const std::uint64_t height = words.number(), pitch = words.number();
    if (!dst) return {"", "", "a memset of memory that no call of HIP told of"};
    const std::uint64_t mask = element >= 4 ? 0xffffffff : (std::uint64_t{1} << (8 * element)) - 1;
    std::string rest = fmt::format("dst={} value={} element={} width={}", *dst, value & mask, element, width);
    if (height > 1) rest += fmt::format(" height={} pitch={}", height, pitch);
    return {"memset", rest};
  }
  Work kernel(Words& words) {
    std::uint64_t size[6];
    for (std::uint64_t& n : size) n = words.number();
    const std::uint64_t shared = words.number();
    const std::string kernel = words.word(), object = words.word(), style = words.word();
    std::vector<std::byte> block;
    while (!words.at_end()) {
      const std::uint64_t offset = words.number();
      const std::string kind = words.word(), data = words.word();
      const std::vector<std::byte> bytes = bytes_of(data.starts_with("=") ? data.substr(1) : "");
      block.resize(std::max<std::size_t>(block.size(), offset + bytes.size()));
      if (!bytes.empty()) std::memcpy(block.data() + offset, bytes.data(), bytes.size());
    }
    const verify::KernelSpec* spec = verify::find_kernel(object == own_ ? kernel : kernel + "@" + object);
    if (spec == nullptr) return {"", "", "kernel " + kernel + ", whose code could not be read"};
    if (spec->object == nullptr && size[1] * size[2] * size[4] * size[5] != 1)
      return {"", "", "a launch of two or three dimensions"};
    std::string rest = spec->name;
    for (const verify::FieldSpec& field : spec->fields) {
      std::uint64_t value = 0;
      if (field.offset + field.size > block.size()) return {"", "", "a kernel's arguments"};
      std::memcpy(&value, block.data() + field.offset, field.size);
      const std::optional<std::string> place = field.kind == verify::FieldKind::kScalar ? std::nullopt : ref(value);
      const bool said = field.touch != verify::Touch::kNothing;  // by the metadata: a pointer, or null
      if (!place && (field.kind == verify::FieldKind::kPointer || (said && value != 0)))
        return {"", "", "a kernel with a pointer into memory that no call of HIP told of"};
      if (place && !said && field.kind == verify::FieldKind::kEither && doubtful_.insert(field.name + kernel).second) {
        note(fmt::format("whether {} of {} is a pointer: it equals an address and is taken for one", field.name,
                         kernel));
      }
      rest += fmt::format(" {}={}", field.name, place ? *place : std::to_string(value));
    }
    if (spec->object == nullptr) {
      rest += fmt::format(" grid={} block={}", size[0], size[3]);
    } else {
      rest += fmt::format(" grid={},{},{} block={},{},{}", size[0], size[1], size[2], size[3], size[4], size[5]);
    }
    rest += " style=" + style;
    if (shared != 0) rest += fmt::format(" shared={}", shared);
    return {"kernel", rest};
  }

  // ---- graphs

  void graphs(const std::string& verb, Words& words) {
    if (verb == "graph") {
      graphs_[words.number()] = next_graph_;
      return say(fmt::format("graph g{}", next_graph_++));
    }
    if (verb == "gone") return gone(words);
    if (verb == "clone") {
      const std::uint64_t handle = words.number();
      const std::string from = graph(words.number());
      graphs_[handle] = next_graph_;
      return say_of({from}, "a clone", fmt::format("clone g{} {}", next_graph_++, from));
    }
    if (verb == "found") {
      const std::uint64_t handle = words.number(), from = words.number(), in = words.number();
      const auto original = nodes_.find(from);
      const auto clone = graphs_.find(in);
      if (original != nodes_.end() && clone != graphs_.end()) nodes_[handle] = {clone->second, original->second.id};
      return;
    }
    if (verb == "node") return node(words);
    if (verb == "edge" || verb == "unedge") {
      words.number();
      const auto from = nodes_.find(words.number()), to = nodes_.find(words.number());
      if (from == nodes_.end() || to == nodes_.end()) return note("an edge of nodes that were not recorded");
      return say(fmt::format("{} g{}.n{} after=n{}", verb, to->second.graph, to->second.id, from->second.id));
    }
    if (verb == "set") return set(words);
    if (verb == "enable") {
      const std::string e = exec(words.number());
      const auto found = nodes_.find(words.number());
      if (e.empty() || found == nodes_.end()) return note("a node that was switched and not recorded");
      return say(fmt::format("{} {}.n{}", words.number() != 0 ? "enable" : "disable", e, found->second.id));
    }
    execs(verb, words);
  }
  void gone(Words& words) {
    const std::string kind = words.word();
    const std::uint64_t handle = words.number();
    if (kind == "stream") return say(fmt::format("destroy s{}", stream(handle)));
    if (kind == "node") {
      const auto found = nodes_.find(handle);
      if (found == nodes_.end()) return note("a node that was destroyed and not recorded");
      return say(fmt::format("remove g{}.n{}", found->second.graph, found->second.id));
    }
    const std::string of = kind == "event" ? event(handle) : kind == "graph" ? graph(handle) : exec(handle);
    say_of({of}, "an end", "destroy " + of);
  }
  void node(Words& words) {
    const std::uint64_t handle = words.number();
    const auto owner = graphs_.find(words.number());
    std::string after;
    const std::uint64_t count = words.number();
    bool known = owner != graphs_.end();
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto before = nodes_.find(words.number());
      known = known && before != nodes_.end();
      if (known) after += fmt::format("{}n{}", after.empty() ? " after=" : ",", before->second.id);
    }
    if (!known) return note("a node of a graph that was not recorded");
    const Work work = work_of(words);
    if (!work.flaw.empty()) return note(work.flaw);
    const std::string place = fmt::format("g{}.n{}", owner->second, next_node_[owner->second]);
    nodes_[handle] = {owner->second, next_node_[owner->second]++};
    say(fmt::format("{} {}{}{}{}", work.word, place, work.rest.empty() ? "" : " ", work.rest, after));
  }
  void set(Words& words) {
    const std::uint64_t on = words.number();
    const auto found = nodes_.find(words.number());
    if (found == nodes_.end()) return note("a setter of a node that was not recorded");
    const std::string target = on == 0 ? fmt::format("g{}", found->second.graph) : exec(on);
    const Work work = work_of(words);
    if (target.empty() || !work.flaw.empty())
      return note(target.empty() ? "a setter of an executable graph" : work.flaw);
    say(fmt::format("set {}.n{} {} {}", target, found->second.id, work.word, work.rest));
  }
  void execs(const std::string& verb, Words& words) {
    const std::uint64_t handle = words.number();
    if (verb == "instantiate") {
      const std::string from = graph(words.number()), form = words.word();
      const std::uint64_t flags = words.number();
      std::string list;
      for (const auto& [bit, flag] : {std::pair{1U, "auto_free"}, {2U, "upload"}, {8U, "priority"}}) {
        if ((flags & bit) != 0) list += std::string(list.empty() ? " flags=" : ",") + flag;
      }
      if ((flags & ~std::uint64_t{11}) != 0) return note("an instantiation for the device to launch");
      execs_[handle] = next_exec_;
      return say_of(
          {from}, "an instantiation",
          fmt::format("instantiate e{} {}{}{}", next_exec_++, from, form == "plain" ? "" : " form=" + form, list));
    }
    const std::string e = exec(handle);
    if (verb == "launch" || verb == "upload") {
      return say_of({e}, "a " + verb, fmt::format("{} {} s{}", verb, e, stream(words.number())));
    }
    if (verb == "update") {
      const std::string from = graph(words.number());
      return say_of({e, from}, "an update", fmt::format("update {} {}", e, from));
    }
    note("a line of the log that cannot be read");
  }

  // ---- what may not stand

  // Why the first command that may not stand may not, and which it is; the text has a line an entry.
  void drop_what_may_not_stand() {
    for (std::size_t i = 0; i < kMaxDropped; ++i) {
      std::string text = "hgcheck-program 1\nplacement native\n";
      for (const std::vector<Entry>* part : {&first_, &body_}) {
        for (const Entry& entry : *part) text += entry.text + "\n";
      }
      const auto parsed = verify::parse_program(text);
      std::size_t line = 0;
      std::string why;
      if (const auto* error = std::get_if<verify::ParseError>(&parsed)) {
        line = error->line;
        why = error->message;
      } else if (const auto invalid = verify::validate(std::get<verify::Program>(parsed))) {
        line = invalid->line;
        why = invalid->reason;
      } else {
        return;
      }
      constexpr std::size_t kHeader = 3;  // lines are counted from 1
      if (line < kHeader || line - kHeader >= first_.size() + body_.size()) return;
      const std::size_t at = line - kHeader;
      Entry& entry = at < first_.size() ? first_[at] : body_[at - first_.size()];
      ++not_recorded_[why];
      entry = {fmt::format("# not recorded: {} ({})", entry.text.substr(0, 200), why), {}};
    }
  }

  const std::string own_ = own_code_object();
  std::vector<Entry> first_, body_;
  std::map<std::uint64_t, Buffer> buffers_;
  std::map<std::uint64_t, std::uint32_t> streams_, events_, graphs_, execs_;
  std::map<std::uint64_t, Node> nodes_;
  std::map<std::uint64_t, std::size_t> tags_;
  std::map<std::uint32_t, std::uint32_t> next_node_;
  std::uint32_t next_buffer_ = 0, next_stream_ = 1, next_event_ = 0, next_graph_ = 0, next_exec_ = 0;
  std::map<std::string, std::size_t> not_recorded_;
  std::set<std::string> doubtful_;  // fields whose unknown meaning has been noted
};

}  // namespace

RecordedProgram program_of_log(const std::string& log, const std::vector<std::string>& header) {
  Conversion conversion;
  std::string_view rest = log;
  for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
    const std::string_view line = rest.substr(0, end);
    conversion.line(line.substr(line.rfind('\0') + 1));  // npos + 1 is 0: there is no zero in it
  }
  return conversion.finish(header);
}

}  // namespace fuzz
