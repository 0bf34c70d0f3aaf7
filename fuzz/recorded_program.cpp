#include "fuzz/recorded_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <variant>

#include "fuzz/recorded_work.h"
#include "verify/program/state.h"
#include "verify/program/text.h"

namespace fuzz {

namespace {

constexpr std::size_t kMaxDropped = 20000;  // invalid commands; each costs a validation of the whole program

// One line of the program.
struct Entry {
  std::string text;
  std::optional<RecordedBytes> read;
};

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
  // ---- lines

  void say(std::string text) { body_.push_back({std::move(text), {}}); }
  void note(const std::string& why) {
    ++not_recorded_[why];
    body_.push_back({"# not recorded: " + why, {}});
  }
  void missing(const std::string& verb, LogWords& words) {
    const std::string what = words.word();
    if (verb == "failed") return note(fmt::format("{} answered {}", what, words.number()));
    if (verb == "lost") return note(what);
    note(what + " has no command");
  }

  // ---- memory

  void declare(std::vector<Entry>& where, const std::string& kind, std::uint64_t address, std::uint64_t bytes) {
    const std::uint32_t id = next_buffer_++;
    const std::string text = fmt::format("buffer b{} {}{}", id, bytes, kind == "device" ? "" : " memory=" + kind);
    where.push_back({text, {}});
    objects_.buffers[address] = {id, bytes};
  }
  void memory(const std::string& verb, LogWords& words) {
    if (verb == "copied") return copied(words);
    const std::string kind = verb == "alloc" ? words.word() : "pageable";
    const std::uint64_t address = words.number();
    const auto known = objects_.buffers.find(address);
    if (verb == "alloc") return declare(body_, kind, address, words.number());
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
      return declare(first_, kind, address, bytes);
    }
    const std::optional<std::string> place = objects_.ref(address);
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
  void copied(LogWords& words) {
    const std::uint64_t to = words.number(), from = words.number(), bytes = words.number(), kind = words.number();
    const std::optional<std::string> dst = objects_.ref(to), src = objects_.ref(from);
    const bool from_host = kind <= 1;
    if (dst && src && !from_host) {
      say(fmt::format("on s0 memcpy dst={} src={} bytes={} kind={}", *dst, *src, bytes, copy_kind(kind)));
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
    const auto [place, fresh] = objects_.streams.try_emplace(handle, next_stream_);
    if (!fresh) return place->second;
    const std::string text = fmt::format("stream s{}{}", next_stream_++, handle == kPerThread ? " per_thread" : "");
    first_.push_back({text, {}});
    return place->second;
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
    objects_.streams[handle] = next_stream_;
    say(fmt::format("stream s{}{}{}", next_stream_++, (flags & 1) != 0 ? " nonblocking" : "",
                    priority != 0 ? fmt::format(" priority={}", priority) : ""));
  }
  void make_event(LogWords& words) {
    const std::uint64_t handle = words.number(), flags = words.number();
    objects_.events[handle] = next_event_;
    const bool device = (flags & 0x40000000) != 0, system = (flags & 0x80000000) != 0;  // hipEventReleaseTo...
    say(fmt::format("event v{}{}{}{}", next_event_++, (flags & 2) == 0 ? " timing" : "",
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
      if (what == "stream") return say(fmt::format("sync s{}", stream(handle)));
      return say_of({objects_.event(handle)}, "a wait", "sync " + objects_.event(handle));
    }
    if (verb == "record") {
      const std::string e = objects_.event(words.number());
      return say_of({e}, "a record", fmt::format("record {} s{}", e, stream(words.number())));
    }
    const std::uint32_t s = stream(words.number());
    if (verb == "wait") {
      const std::string e = objects_.event(words.number());
      return say_of({e}, "a wait", fmt::format("wait s{} {}", s, e));
    }
    if (verb == "capture")
      return say(fmt::format("capture s{} mode={}", s, kModes[std::min<std::uint64_t>(words.number(), 2)]));
    if (verb == "endcapture") {
      objects_.graphs[words.number()] = next_graph_;
      return say(fmt::format("endcapture s{} g{}", s, next_graph_++));
    }
    const Work work = works_.read(words);
    if (!work.flaw.empty()) return note(work.flaw);
    say(fmt::format("on s{} {} {}", s, work.word, work.rest));
  }

  // ---- graphs

  void graphs(const std::string& verb, LogWords& words) {
    if (verb == "graph") {
      objects_.graphs[words.number()] = next_graph_;
      return say(fmt::format("graph g{}", next_graph_++));
    }
    if (verb == "gone") return gone(words);
    if (verb == "clone") {
      const std::uint64_t handle = words.number();
      const std::string from = objects_.graph(words.number());
      objects_.graphs[handle] = next_graph_;
      return say_of({from}, "a clone", fmt::format("clone g{} {}", next_graph_++, from));
    }
    if (verb == "found") {
      const std::uint64_t handle = words.number(), from = words.number(), in = words.number();
      const auto original = objects_.nodes.find(from);
      const auto clone = objects_.graphs.find(in);
      if (original != objects_.nodes.end() && clone != objects_.graphs.end())
        objects_.nodes[handle] = {clone->second, original->second.id};
      return;
    }
    if (verb == "node") return node(words);
    if (verb == "edge" || verb == "unedge") {
      words.number();
      const auto from = objects_.nodes.find(words.number()), to = objects_.nodes.find(words.number());
      if (from == objects_.nodes.end() || to == objects_.nodes.end())
        return note("an edge of nodes that were not recorded");
      return say(fmt::format("{} g{}.n{} after=n{}", verb, to->second.graph, to->second.id, from->second.id));
    }
    if (verb == "set") return set(words);
    if (verb == "enable") {
      const std::string e = objects_.exec(words.number());
      const auto found = objects_.nodes.find(words.number());
      if (e.empty() || found == objects_.nodes.end()) return note("a node that was switched and not recorded");
      return say(fmt::format("{} {}.n{}", words.number() != 0 ? "enable" : "disable", e, found->second.id));
    }
    execs(verb, words);
  }
  void gone(LogWords& words) {
    const std::string kind = words.word();
    const std::uint64_t handle = words.number();
    if (kind == "stream") return say(fmt::format("destroy s{}", stream(handle)));
    if (kind == "node") {
      const auto found = objects_.nodes.find(handle);
      if (found == objects_.nodes.end()) return note("a node that was destroyed and not recorded");
      return say(fmt::format("remove g{}.n{}", found->second.graph, found->second.id));
    }
    const std::string of = kind == "event"   ? objects_.event(handle)
                           : kind == "graph" ? objects_.graph(handle)
                                             : objects_.exec(handle);
    say_of({of}, "an end", "destroy " + of);
  }
  void node(LogWords& words) {
    const std::uint64_t handle = words.number();
    const auto owner = objects_.graphs.find(words.number());
    std::string after;
    const std::uint64_t count = words.number();
    bool known = owner != objects_.graphs.end();
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto before = objects_.nodes.find(words.number());
      known = known && before != objects_.nodes.end();
      if (known) after += fmt::format("{}n{}", after.empty() ? " after=" : ",", before->second.id);
    }
    if (!known) return note("a node of a graph that was not recorded");
    const Work work = works_.read(words);
    if (!work.flaw.empty()) return note(work.flaw);
    const std::string place = fmt::format("g{}.n{}", owner->second, next_node_[owner->second]);
    objects_.nodes[handle] = {owner->second, next_node_[owner->second]++};
    say(fmt::format("{} {}{}{}{}", work.word, place, work.rest.empty() ? "" : " ", work.rest, after));
  }
  void set(LogWords& words) {
    const std::uint64_t on = words.number();
    const auto found = objects_.nodes.find(words.number());
    if (found == objects_.nodes.end()) return note("a setter of a node that was not recorded");
    const std::string target = on == 0 ? fmt::format("g{}", found->second.graph) : objects_.exec(on);
    const Work work = works_.read(words);
    if (target.empty() || !work.flaw.empty())
      return note(target.empty() ? "a setter of an executable graph" : work.flaw);
    say(fmt::format("set {}.n{} {} {}", target, found->second.id, work.word, work.rest));
  }
  void execs(const std::string& verb, LogWords& words) {
    const std::uint64_t handle = words.number();
    if (verb == "instantiate") {
      const std::string from = objects_.graph(words.number()), form = words.word();
      const std::uint64_t flags = words.number();
      std::string list;
      for (const auto& [bit, flag] : {std::pair{1U, "auto_free"}, {2U, "upload"}, {8U, "priority"}}) {
        if ((flags & bit) != 0) list += std::string(list.empty() ? " flags=" : ",") + flag;
      }
      if ((flags & ~std::uint64_t{11}) != 0) return note("an instantiation for the device to launch");
      objects_.execs[handle] = next_exec_;
      return say_of(
          {from}, "an instantiation",
          fmt::format("instantiate e{} {}{}{}", next_exec_++, from, form == "plain" ? "" : " form=" + form, list));
    }
    const std::string e = objects_.exec(handle);
    if (verb == "launch" || verb == "upload") {
      return say_of({e}, "a " + verb, fmt::format("{} {} s{}", verb, e, stream(words.number())));
    }
    if (verb == "update") {
      const std::string from = objects_.graph(words.number());
      return say_of({e, from}, "an update", fmt::format("update {} {}", e, from));
    }
    note("a line of the log that cannot be read");
  }

  // ---- invalid commands

  // Turns each command that is not valid in its place into a comment with the reason. Each entry is one line.
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

  std::vector<Entry> first_, body_;
  std::map<std::uint32_t, std::uint32_t> next_node_;
  std::uint32_t next_buffer_ = 0, next_stream_ = 1, next_event_ = 0, next_graph_ = 0, next_exec_ = 0;
  std::map<std::string, std::size_t> not_recorded_;
  RecordedObjects objects_;
  WorkReader works_{objects_, [this](const std::string& why) { note(why); }};
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
