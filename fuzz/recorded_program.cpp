#include "fuzz/recorded_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "fuzz/recorded_captures.h"
#include "fuzz/recorded_memory.h"
#include "fuzz/recorded_resources.h"
#include "fuzz/recorded_text.h"
#include "fuzz/recorded_threads.h"
#include "fuzz/recorded_work.h"

namespace fuzz {

namespace {

constexpr std::uint64_t kExternal = 1;  // hipEventRecordExternal, hipEventWaitExternal
constexpr const char* kForeignNode = "a node of one graph that was set in an executable graph of another";

void make_stream(Recording& out, LogWords& words) {
  const std::uint64_t handle = words.number(), flags = words.number();
  const auto priority = static_cast<std::int64_t>(words.number());
  out.text.say(fmt::format("stream {}{}{}", out.objects.streams.add(handle), (flags & 1) != 0 ? " nonblocking" : "",
                           priority != 0 ? fmt::format(" priority={}", priority) : ""));
}

void make_event(Recording& out, LogWords& words) {
  const std::uint64_t handle = words.number(), flags = words.number();
  const bool device = (flags & 0x40000000) != 0, system = (flags & 0x80000000) != 0;  // hipEventReleaseTo...
  out.text.say(fmt::format("event {}{}{}{}", out.objects.events.add(handle), (flags & 2) == 0 ? " timing" : "",
                           (flags & 1) != 0 ? " blocking" : "",
                           device   ? " release=device"
                           : system ? " release=system"
                                    : ""));
}

void edge(Recording& out, const std::string& verb, LogWords& words) {
  words.number();  // the graph
  const auto& nodes = out.objects.nodes;
  const auto from = nodes.find(words.number()), to = nodes.find(words.number());
  if (from == nodes.end() || to == nodes.end()) return out.text.note("an edge of nodes that were not recorded");
  out.text.say(fmt::format("{} {}.n{} after=n{}", verb, to->second.graph, to->second.id, from->second.id));
}

void attribute(Recording& out, const std::string& verb, LogWords& words) {
  constexpr const char* kUnknown = "attributes of a node that was not recorded";
  const auto of = [&] {
    const auto found = out.objects.nodes.find(words.number());
    return found == out.objects.nodes.end() ? "" : fmt::format("{}.n{}", found->second.graph, found->second.id);
  };
  const std::string node = of();
  if (verb == "copyattributes") {
    const std::string from = of();
    if (node.empty() || from.empty()) return out.text.note(kUnknown);
    return out.text.say(fmt::format("copy_attributes {} {}", node, from));
  }
  const std::string key = words.word();
  if (node.empty()) return out.text.note(kUnknown);
  out.text.say(fmt::format("attribute {} {}={}", node, key, static_cast<std::int64_t>(words.number())));
}

// Reads the log line by line and says each call in the language of programs.
class Conversion {
 public:
  // The facts that only a whole conversion finds out, for the next one.
  struct Found {
    RecordedMemory::Buffers unfilled{};
    RecordedResources::Graphs changed{};
    [[nodiscard]] bool any() const { return !unfilled.empty() || !changed.empty(); }
  };

  explicit Conversion(Found found)
      : resources_(out_, std::move(found.changed)), memory_(out_, captures_, resources_, std::move(found.unfilled)) {}
  void line(std::string_view text) {
    LogWords words(text);
    const std::string verb = words.word();
    if (captures_.is_lost(verb, words)) return note("work of a capture that was not recorded");
    if (verb == "alloc" || verb == "variable" || verb == "adopt" || verb == "free" || verb == "freeasync" ||
        verb == "host" || verb == "copied" || verb == "copied3d") {
      memory_.line(verb, words);
    } else if (verb == "stream" || verb == "event" || verb == "record" || verb == "wait" || verb == "sync" ||
               verb == "work") {
      streams(verb, words);
    } else if (verb == "capture" || verb == "endcapture" || verb == "info" || verb == "depend" || verb == "nodes" ||
               verb == "mode") {
      captures_.line(verb, words);
    } else if (verb == "pool" || verb == "object") {
      resources_.line(verb, words);
    } else if (verb == "module" || verb == "unload") {
      modules(verb, words);
    } else if (verb == "other" || verb == "failed" || verb == "lost") {
      missing(verb, words);
    } else {
      graphs(verb, words);
    }
  }

  [[nodiscard]] Found found() const { return {memory_.found_unfilled(), resources_.found_changed()}; }
  RecordedProgram finish(const std::vector<std::string>& header, const verify::Environment& environment) && {
    return std::move(out_.text).finish(header, environment);
  }

 private:
  // ---- lines

  std::string stream(std::uint64_t handle) { return out_.stream(handle); }
  void say(std::string text) { out_.text.say(std::move(text)); }
  void note(const std::string& why) { out_.text.note(why); }
  void missing(const std::string& verb, LogWords& words) {
    const std::string what = words.word();
    if (verb == "failed") {
      const std::uint64_t status = words.number();
      note(fmt::format("{} answered {}", what, status));
      const std::uint64_t stream = words.number();  // of hipStreamEndCapture
      return stream == 0 ? void() : captures_.failed_end(stream, status);
    }
    if (verb == "lost") return note(what);
    note(what + " has no command");
  }

  // ---- modules

  // A foreign kernel names its code object, which the program loads once: such modules have no commands.
  void modules(const std::string& verb, LogWords& words) {
    const std::uint64_t handle = words.number();
    const std::string module = objects_.modules.of(handle);
    if (verb == "module") {
      const std::string code = words.word();
      objects_.modules.forget(handle);
      if (works_.is_own(code)) return say("module " + objects_.modules.add(handle));
      if (!foreign_.insert(code).second) note("a second module with a code object of the command: one stands for all");
      return;
    }
    if (module.empty()) return note("the end of a module with a code object of the command");
    say("unload " + module);
    objects_.modules.forget(handle);
  }

  // ---- streams, events and captures

  // Adds the command if every name in it is known.
  void say_of(const std::vector<std::string>& names, const std::string& what, const std::string& text) {
    if (std::ranges::any_of(names, [](const std::string& n) { return n.empty(); })) {
      return note(fmt::format("{} of something that was not recorded", what));
    }
    say(text);
  }
  void streams(const std::string& verb, LogWords& words) {
    if (verb == "stream") return make_stream(out_, words);
    if (verb == "event") return make_event(out_, words);
    if (verb == "sync") {
      const std::string what = words.word();
      const std::uint64_t handle = words.number();
      if (what == "device") return say("sync device");
      if (what == "stream") return say(fmt::format("sync {}", stream(handle)));
      return say_of({objects_.events.of(handle)}, "a wait", "sync " + objects_.events.of(handle));
    }
    if (verb == "record") return record(words);
    const std::uint64_t handle = words.number();
    const std::string s = stream(handle);
    captures_.settle(handle);
    if (verb == "wait") return wait(handle, s, words);
    const Work work = works_.read(words);
    if (!work.flaw.empty()) return note(work.flaw);
    captured_work(handle, s, work);
  }
  // The work of a stream, which becomes a node if the stream captures.
  void captured_work(std::uint64_t handle, const std::string& s, const Work& work) {
    if (captures_.capturing(handle)) memory_.used_by(work);
    say(fmt::format("on {} {} {}", s, work.word, work.rest));
    captures_.add(handle);
  }
  void record(LogWords& words) {
    const std::uint64_t event = words.number(), handle = words.number();
    const std::string e = objects_.events.of(event), s = stream(handle);
    captures_.settle(handle);
    if (e.empty()) return note("a record of something that was not recorded");
    if ((words.number() & kExternal) != 0 && captures_.capturing(handle))
      return captured_work(handle, s, {"eventrecord", e});
    captures_.record(event, handle);
    say(fmt::format("record {} {}", e, s));
  }
  void wait(std::uint64_t handle, const std::string& s, LogWords& words) {
    const std::uint64_t event = words.number();
    const std::string e = objects_.events.of(event);
    if (e.empty()) return note("a wait of something that was not recorded");
    if ((words.number() & kExternal) != 0 && captures_.capturing(handle))
      return captured_work(handle, s, {"eventwait", e});
    captures_.wait(handle, event);
    say(fmt::format("wait {} {}", s, e));
  }

  // ---- graphs

  void graphs(const std::string& verb, LogWords& words) {
    if (verb == "graph") return say("graph " + objects_.graphs.add(words.number()));
    if (verb == "trim") return say("graph_memory trim");
    if (verb == "gone") return gone(words);
    if (verb == "clone") {
      const std::uint64_t handle = words.number();
      const std::string from = objects_.graphs.of(words.number());
      const std::string& clone = objects_.graphs.add(handle);
      objects_.next_node[clone] = objects_.next_node[from];
      return say_of({from}, "a clone", fmt::format("clone {} {}", clone, from));
    }
    if (verb == "found") {
      const std::uint64_t handle = words.number(), from = words.number(), in = words.number();
      const auto original = objects_.nodes.find(from);
      const std::string clone = objects_.graphs.of(in);
      if (original != objects_.nodes.end() && !clone.empty()) objects_.nodes[handle] = {clone, original->second.id};
      return;
    }
    if (verb == "node") return node(words);
    if (verb == "edge" || verb == "unedge") return edge(out_, verb, words);
    if (verb == "set") return set(words);
    if (verb == "attribute" || verb == "copyattributes") return attribute(out_, verb, words);
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
    if (kind == "stream") {
      captures_.stream_gone(handle);
      return say(fmt::format("destroy {}", stream(handle)));
    }
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
    const std::uint64_t handle = words.number(), graph = words.number();
    const std::vector<std::uint64_t> before = words.list();
    const auto read = [&] {
      Work work = read_node(words);
      if (!work.flaw.empty()) note(work.flaw);
      return work;
    };
    if (captures_.captures_into(graph)) {
      return captures_.add_by_hand(handle, graph, before, [&](const std::string& s) { return by_hand(s, read()); });
    }
    const std::string owner = objects_.graphs.of(graph);
    std::string after;
    bool known = !owner.empty();
    for (const std::uint64_t each : before) {
      const auto found = objects_.nodes.find(each);
      known = known && found != objects_.nodes.end();
      if (known) after += fmt::format("{}n{}", after.empty() ? " after=" : ",", found->second.id);
    }
    if (!known) return note("a node of a graph that was not recorded");
    const Work work = read();
    if (!work.flaw.empty()) return;
    if (work.word == "child") resources_.changes(work.rest);
    std::uint32_t& next = objects_.next_node[owner];
    say(fmt::format("{} {}.n{}{}{}{}{}", work.word, owner, next, work.rest.empty() ? "" : " ", work.rest, work.form,
                    after));
    if (const Work fill = fill_behind(work); !fill.word.empty()) {
      ++next;
      say(fmt::format("{} {}.n{} {} after=n{}", fill.word, owner, next, fill.rest, next - 1));
    }
    objects_.nodes[handle] = {owner, next++};
  }
  Work read_node(LogWords& words) {
    LogWords rest = words;
    std::string kind = rest.word(), form;
    if (kind == "form") {
      form = rest.word();
      kind = rest.word();
    }
    if (kind != "alloc" && kind != "free") {
      Work work = works_.read(words);
      memory_.used_by(work);
      return work;
    }
    node_memory_ = memory_.of_node(rest.number());
    if (node_memory_ == nullptr) return {"", "", "a node of memory that no graph allocates"};
    if (kind == "alloc") return {kind, fmt::format("b{} {}", node_memory_->id, node_memory_->bytes)};
    return {kind, fmt::format("b{}", node_memory_->id), "", form == "driver" ? " form=driver" : ""};
  }
  Work fill_behind(const Work& work) { return work.word == "alloc" ? memory_.fill_of(*node_memory_) : Work{}; }
  // The node as work that a stream captures; returns how many nodes that adds.
  std::uint32_t by_hand(const std::string& s, const Work& work) {
    if (!work.flaw.empty()) return 0;
    if (work.word == "child") resources_.changes(work.rest);
    const bool memory = work.word == "alloc" || work.word == "free";
    say(memory ? fmt::format("{}_async {} {} by_hand", work.word == "alloc" ? "malloc" : "free", work.rest, s)
               : fmt::format("on {} {}{}{} by_hand", s, work.word, work.rest.empty() ? "" : " ", work.rest));
    const Work fill = fill_behind(work);
    if (fill.word.empty()) return 1;
    say(fmt::format("on {} {} {}", s, fill.word, fill.rest));
    return 2;
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
    resources_.changes(found->second.graph);
    say(fmt::format("set {}.n{} {} {}{}", target, found->second.id, work.word, work.rest, work.form));
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
      const std::uint64_t s = words.number();
      captures_.settle(s);
      say_of({e}, "a " + verb, fmt::format("{} {} {}", verb, e, stream(s)));
      return captures_.add(s, !e.empty() && verb == "launch" ? 1 : 0);
    }
    if (verb == "update") {
      const std::string from = objects_.graphs.of(words.number());
      resources_.changes(from);
      resources_.changes(origins_[e]);
      return say_of({e, from}, "an update", fmt::format("update {} {}", e, from));
    }
    note("a line of the log that cannot be read");
  }

  Recording out_;
  RecordedObjects& objects_ = out_.objects;
  RecordedCaptures captures_{out_};
  RecordedResources resources_;
  RecordedMemory memory_;
  std::map<std::string, std::string> origins_;  // of executable graphs: the graphs that they were made from
  std::set<std::string> foreign_;               // the code objects of modules that are not the project's
  const RecordedObjects::Buffer* node_memory_ = nullptr;
  WorkReader works_{objects_, [this](const std::string& why) { note(why); }};
};

}  // namespace

static void convert(const std::string& log, Conversion& conversion) {
  ThreadsOfLog threads([&conversion](std::string_view line) { conversion.line(line); });
  for (const std::string_view line : lines_of_log(log)) threads.line(line);
  threads.finish();
}

RecordedProgram program_of_log(const std::string& log, const std::vector<std::string>& header,
                               const verify::Environment& environment) {
  Conversion first(Conversion::Found{});
  convert(log, first);
  if (!first.found().any()) return std::move(first).finish(header, environment);
  Conversion second(first.found());
  convert(log, second);
  return std::move(second).finish(header, environment);
}

}  // namespace fuzz
