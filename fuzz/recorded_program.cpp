#include "fuzz/recorded_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <variant>

#include "fuzz/recorded_threads.h"
#include "fuzz/recorded_work.h"
#include "verify/language/node_params.h"
#include "verify/program/state.h"
#include "verify/program/text.h"

namespace fuzz {

namespace {

constexpr const char* kForeignNode = "a node of one graph that was set in an executable graph of another";
constexpr std::size_t kMaxDropped = 20000;  // invalid commands; each costs a validation of the whole program

// The lines of the program in the making. A command that is not valid in its place becomes a comment with the reason.
class ProgramText {
 public:
  void say(std::string text, std::optional<RecordedBytes> read = {}) { body_.push_back({std::move(text), read}); }
  // Adds a line at the beginning, before all that say() adds.
  void say_first(std::string text) { lines_.push_back({std::move(text), {}}); }
  void note(const std::string& why) {
    ++not_recorded_[why];
    say("# not recorded: " + why);
  }

  RecordedProgram finish(const std::vector<std::string>& header) && {
    std::ranges::move(body_, std::back_inserter(lines_));
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
    for (const Line& line : lines_) {
      put(line.text);
      if (line.read) program.reads[number] = *line.read;
    }
    return program;
  }

 private:
  struct Line {
    std::string text;
    std::optional<RecordedBytes> read;
  };

  void drop_what_may_not_stand() {
    for (std::size_t i = 0; i < kMaxDropped; ++i) {
      std::string text = "hgcheck-program 1\nplacement native\n";
      for (const Line& line : lines_) text += line.text + "\n";
      const auto parsed = verify::parse_program(text);
      std::size_t number = 0;
      std::string why;
      if (const auto* error = std::get_if<verify::ParseError>(&parsed)) {
        number = error->line;
        why = error->message;
      } else if (const auto invalid = verify::validate(std::get<verify::Program>(parsed))) {
        number = invalid->line;
        why = invalid->reason;
      } else {
        return;
      }
      constexpr std::size_t kHeader = 3;  // lines are counted from 1
      if (number < kHeader || number - kHeader >= lines_.size()) return;
      Line& line = lines_[number - kHeader];
      ++not_recorded_[why];
      line = {fmt::format("# not recorded: {} ({})", line.text.substr(0, 200), why), {}};
    }
  }

  std::vector<Line> lines_, body_;  // finish() joins them
  std::map<std::string, std::size_t> not_recorded_;
};

// Reads the log line by line and says each call in the language of programs.
class Conversion {
 public:
  void line(std::string_view text) {
    LogWords words(text);
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

  RecordedProgram finish(const std::vector<std::string>& header) { return std::move(text_).finish(header); }

 private:
  // ---- lines

  void say(std::string text) { text_.say(std::move(text)); }
  void note(const std::string& why) { text_.note(why); }
  void missing(const std::string& verb, LogWords& words) {
    const std::string what = words.word();
    if (verb == "failed") return note(fmt::format("{} answered {}", what, words.number()));
    if (verb == "lost") return note(what);
    note(what + " has no command");
  }

  // ---- memory

  std::string declare(const std::string& kind, std::uint64_t address, std::uint64_t bytes) {
    objects_.buffers[address] = {next_buffer_, bytes};
    return fmt::format("buffer b{} {}{}", next_buffer_++, bytes, kind == "device" ? "" : " memory=" + kind);
  }
  void memory(const std::string& verb, LogWords& words) {
    if (verb == "copied") return copied(words);
    const std::string kind = verb == "alloc" ? words.word() : "pageable";
    const std::uint64_t address = words.number();
    const auto known = objects_.buffers.find(address);
    if (verb == "alloc") return say(declare(kind, address, words.number()));
    if (verb == "free") {
      if (known == objects_.buffers.end()) return note("freed memory that no call allocated");
      say(fmt::format("free b{}", known->second.id));
      objects_.buffers.erase(known);
      return;
    }
    const std::uint64_t bytes = words.number();
    if (verb == "adopt") {
      // Declared at the beginning, because a capture allows no declaration of memory.
      const auto after = objects_.buffers.lower_bound(address + bytes);
      const bool overlaps =
          after != objects_.buffers.begin() && std::prev(after)->first + std::prev(after)->second.bytes > address;
      if (overlaps) return note("host memory that overlaps other host memory of a copy");
      return text_.say_first(declare(kind, address, bytes));
    }
    if (objects_.ref(address)) write(address, bytes, words.word());
  }
  void write(std::uint64_t address, std::uint64_t bytes, const std::string& data) {
    const std::string place = objects_.ref(address).value();
    const std::size_t plus = place.find('+');
    if (data.starts_with("=")) {
      const std::string hex = data.substr(1);
      const std::uint64_t start = std::stoull(place.substr(plus + 1));
      constexpr std::size_t kPiece = 2 * verify::kMaxWrittenBytes;  // digits of one command
      for (std::size_t i = 0; i < hex.size(); i += kPiece)
        say(fmt::format("write {} at={} hex={}", place.substr(0, plus), start + i / 2, hex.substr(i, kPiece)));
      return;
    }
    // A pattern fills a whole buffer: none can stand for a part of one.
    const auto whole = objects_.buffers.find(address);
    if (whole == objects_.buffers.end() || bytes < whole->second.bytes) {
      return note(
          "contents past 4 MiB at once or 8 MiB in all: nothing stands for them, for they are a part of a buffer");
    }
    std::uint64_t hash = 0;
    std::from_chars(data.data() + 1, data.data() + data.size(), hash, 16);
    say(fmt::format("write {} seed={}", place.substr(0, plus), hash));
    note("contents past 4 MiB at once or 8 MiB in all: a pattern of their hash stands for them");
  }
  void copied(LogWords& words) {
    const std::uint64_t to = words.number(), from = words.number(), bytes = words.number(), kind = words.number();
    const std::optional<std::string> dst = objects_.ref(to), src = objects_.ref(from);
    const bool from_host = kind <= 1;
    if (dst && src && !from_host) {
      say(fmt::format("on s0 memcpy dst={} src={} bytes={} kind={}", *dst, *src, bytes, copy_kind(kind)));
      say("sync s0");
    }
    if (from_host && dst) return write(to, bytes, words.word());
    if (kind == 2 && src) {
      const std::size_t plus = src->find('+');
      RecordedBytes seen;
      seen.buffer = static_cast<std::uint32_t>(std::stoul(src->substr(1, plus - 1)));
      seen.offset = std::stoull(src->substr(plus + 1));
      seen.bytes = bytes;
      seen.hash = words.number();
      return text_.say(fmt::format("read {}", src->substr(0, plus)), seen);
    }
    if (!dst || !src) note("a copy between memory that no call of HIP told of");
  }

  // ---- streams and events

  std::string stream(std::uint64_t handle) {
    constexpr std::uint64_t kLegacy = 1, kPerThread = 2;  // HIP's predefined stream handles
    if (handle == 0 || handle == kLegacy) return "s0";
    std::string s = objects_.streams.of(handle);
    if (!s.empty()) return s;
    s = objects_.streams.add(handle);
    text_.say_first(fmt::format("stream {}{}", s, handle == kPerThread ? " per_thread" : ""));
    return s;
  }
  // Adds the command if every name in it is known.
  void say_of(const std::vector<std::string>& names, const std::string& what, const std::string& text) {
    if (std::ranges::any_of(names, [](const std::string& n) { return n.empty(); })) {
      return note(fmt::format("{} of something that was not recorded", what));
    }
    say(text);
  }
  void make_stream(LogWords& words) {
    const std::uint64_t handle = words.number(), flags = words.number();
    const auto priority = static_cast<std::int64_t>(words.number());
    say(fmt::format("stream {}{}{}", objects_.streams.add(handle), (flags & 1) != 0 ? " nonblocking" : "",
                    priority != 0 ? fmt::format(" priority={}", priority) : ""));
  }
  void make_event(LogWords& words) {
    const std::uint64_t handle = words.number(), flags = words.number();
    const bool device = (flags & 0x40000000) != 0, system = (flags & 0x80000000) != 0;  // hipEventReleaseTo...
    say(fmt::format("event {}{}{}{}", objects_.events.add(handle), (flags & 2) == 0 ? " timing" : "",
                    (flags & 1) != 0 ? " blocking" : "",
                    device   ? " release=device"
                    : system ? " release=system"
                             : ""));
  }
  void streams(const std::string& verb, LogWords& words) {
    static constexpr const char* kModes[] = {"global", "thread", "relaxed"};
    if (verb == "stream") return make_stream(words);
    if (verb == "event") return make_event(words);
    if (verb == "sync") {
      const std::string what = words.word();
      const std::uint64_t handle = words.number();
      if (what == "device") return say("sync device");
      if (what == "stream") return say(fmt::format("sync {}", stream(handle)));
      return say_of({objects_.events.of(handle)}, "a wait", "sync " + objects_.events.of(handle));
    }
    if (verb == "record") {
      const std::string e = objects_.events.of(words.number());
      return say_of({e}, "a record", fmt::format("record {} {}", e, stream(words.number())));
    }
    const std::string s = stream(words.number());
    if (verb == "wait") {
      const std::string e = objects_.events.of(words.number());
      return say_of({e}, "a wait", fmt::format("wait {} {}", s, e));
    }
    if (verb == "capture")
      return say(fmt::format("capture {} mode={}", s, kModes[std::min<std::uint64_t>(words.number(), 2)]));
    if (verb == "endcapture") return say(fmt::format("endcapture {} {}", s, objects_.graphs.add(words.number())));
    const Work work = works_.read(words);
    if (!work.flaw.empty()) return note(work.flaw);
    say(fmt::format("on {} {} {}", s, work.word, work.rest));
  }

  // ---- graphs

  void graphs(const std::string& verb, LogWords& words) {
    if (verb == "graph") return say("graph " + objects_.graphs.add(words.number()));
    if (verb == "gone") return gone(words);
    if (verb == "clone") {
      const std::uint64_t handle = words.number();
      const std::string from = objects_.graphs.of(words.number());
      return say_of({from}, "a clone", fmt::format("clone {} {}", objects_.graphs.add(handle), from));
    }
    if (verb == "found") {
      const std::uint64_t handle = words.number(), from = words.number(), in = words.number();
      const auto original = objects_.nodes.find(from);
      const std::string clone = objects_.graphs.of(in);
      if (original != objects_.nodes.end() && !clone.empty()) objects_.nodes[handle] = {clone, original->second.id};
      return;
    }
    if (verb == "node") return node(words);
    if (verb == "edge" || verb == "unedge") {
      words.number();
      const auto from = objects_.nodes.find(words.number()), to = objects_.nodes.find(words.number());
      if (from == objects_.nodes.end() || to == objects_.nodes.end())
        return note("an edge of nodes that were not recorded");
      return say(fmt::format("{} {}.n{} after=n{}", verb, to->second.graph, to->second.id, from->second.id));
    }
    if (verb == "set") return set(words);
    if (verb == "enable") {
      const std::string e = objects_.execs.of(words.number());
      const auto found = objects_.nodes.find(words.number());
      if (e.empty() || found == objects_.nodes.end()) return note("a node that was switched and not recorded");
      if (origins_[e] != found->second.graph) return note(kForeignNode);
      return say(fmt::format("{} {}.n{}", words.number() != 0 ? "enable" : "disable", e, found->second.id));
    }
    execs(verb, words);
  }
  void gone(LogWords& words) {
    const std::string kind = words.word();
    const std::uint64_t handle = words.number();
    if (kind == "stream") return say(fmt::format("destroy {}", stream(handle)));
    if (kind == "node") {
      const auto found = objects_.nodes.find(handle);
      if (found == objects_.nodes.end()) return note("a node that was destroyed and not recorded");
      say(fmt::format("remove {}.n{}", found->second.graph, found->second.id));
      objects_.nodes.erase(found);
      return;
    }
    const std::string of = kind == "event"   ? objects_.events.of(handle)
                           : kind == "graph" ? objects_.graphs.of(handle)
                                             : objects_.execs.of(handle);
    // The runtime may give the handles of these nodes to nodes of other graphs.
    if (kind == "graph") std::erase_if(objects_.nodes, [&](const auto& node) { return node.second.graph == of; });
    say_of({of}, "an end", "destroy " + of);
  }
  void node(LogWords& words) {
    const std::uint64_t handle = words.number();
    const std::string owner = objects_.graphs.of(words.number());
    std::string after;
    const std::uint64_t count = words.number();
    bool known = !owner.empty();
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto before = objects_.nodes.find(words.number());
      known = known && before != objects_.nodes.end();
      if (known) after += fmt::format("{}n{}", after.empty() ? " after=" : ",", before->second.id);
    }
    if (!known) return note("a node of a graph that was not recorded");
    const Work work = works_.read(words);
    if (!work.flaw.empty()) return note(work.flaw);
    const std::uint32_t id = next_node_[owner]++;
    objects_.nodes[handle] = {owner, id};
    say(fmt::format("{} {}.n{}{}{}{}", work.word, owner, id, work.rest.empty() ? "" : " ", work.rest, after));
  }
  void set(LogWords& words) {
    const std::uint64_t on = words.number();
    const auto found = objects_.nodes.find(words.number());
    if (found == objects_.nodes.end()) return note("a setter of a node that was not recorded");
    const std::string target = on == 0 ? found->second.graph : objects_.execs.of(on);
    if (on != 0 && !target.empty() && origins_[target] != found->second.graph) return note(kForeignNode);
    const Work work = works_.read(words);
    if (target.empty() || !work.flaw.empty())
      return note(target.empty() ? "a setter of an executable graph" : work.flaw);
    say(fmt::format("set {}.n{} {} {}", target, found->second.id, work.word, work.rest));
  }
  void execs(const std::string& verb, LogWords& words) {
    const std::uint64_t handle = words.number();
    if (verb == "instantiate") {
      const std::string from = objects_.graphs.of(words.number()), form = words.word();
      const std::uint64_t flags = words.number();
      std::string list;
      for (const auto& [bit, flag] : {std::pair{1U, "auto_free"}, {2U, "upload"}, {8U, "priority"}}) {
        if ((flags & bit) != 0) list += std::string(list.empty() ? " flags=" : ",") + flag;
      }
      if ((flags & ~std::uint64_t{11}) != 0) return note("an instantiation for the device to launch");
      const std::string& e = objects_.execs.add(handle);
      origins_[e] = from;
      return say_of({from}, "an instantiation",
                    fmt::format("instantiate {} {}{}{}", e, from, form == "plain" ? "" : " form=" + form, list));
    }
    const std::string e = objects_.execs.of(handle);
    if (verb == "launch" || verb == "upload") {
      return say_of({e}, "a " + verb, fmt::format("{} {} {}", verb, e, stream(words.number())));
    }
    if (verb == "update") {
      const std::string from = objects_.graphs.of(words.number());
      return say_of({e, from}, "an update", fmt::format("update {} {}", e, from));
    }
    note("a line of the log that cannot be read");
  }

  ProgramText text_;
  std::map<std::string, std::uint32_t> next_node_;  // by graph
  std::map<std::string, std::string> origins_;      // of executable graphs: the graphs that they were made from
  std::uint32_t next_buffer_ = 0;
  RecordedObjects objects_;
  WorkReader works_{objects_, [this](const std::string& why) { note(why); }};
};

}  // namespace

RecordedProgram program_of_log(const std::string& log, const std::vector<std::string>& header) {
  Conversion conversion;
  ThreadsOfLog threads([&conversion](std::string_view line) { conversion.line(line); });
  std::string_view rest = log;
  for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
    const std::string_view line = rest.substr(0, end);
    threads.line(line.substr(line.rfind('\0') + 1));  // npos + 1 is 0: there is no zero in it
  }
  threads.finish();
  return conversion.finish(header);
}

}  // namespace fuzz
