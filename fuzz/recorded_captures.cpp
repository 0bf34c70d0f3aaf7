#include "fuzz/recorded_captures.h"

#include <fmt/format.h>

#include <algorithm>

namespace fuzz {

namespace {

constexpr const char* kUnknownNode = "dependencies of a capture on nodes that were not recorded";
constexpr std::uint64_t kInvalidated = 901, kUnjoined = 904;  // HIP's errors of a capture that ends with them

std::string names(const RecordedCaptures::Nodes& nodes) {
  std::string text;
  for (const std::uint32_t node : nodes) text += fmt::format("{}n{}", text.empty() ? "" : ",", node);
  return text;
}

const char* mode(LogWords& words) {
  static constexpr const char* kModes[] = {"global", "thread", "relaxed"};
  return kModes[std::min<std::uint64_t>(words.number(), std::size(kModes) - 1)];
}

}  // namespace

RecordedCaptures::Capture* RecordedCaptures::of(std::uint64_t stream) {
  const auto origin = streams_.find(stream);
  return origin == streams_.end() ? nullptr : &open_.at(origin->second);
}

const RecordedCaptures::Capture* RecordedCaptures::with_graph(std::uint64_t graph) const {
  const auto found = std::ranges::find_if(open_, [graph](const auto& entry) { return entry.second.graph == graph; });
  return graph == 0 || found == open_.end() ? nullptr : &found->second;
}

// The names of these nodes, if they are nodes of this capture's graph and known.
std::optional<RecordedCaptures::Nodes> RecordedCaptures::known(const Capture& capture,
                                                               const std::vector<std::uint64_t>& handles) const {
  Nodes nodes;
  for (const std::uint64_t handle : handles) {
    const auto found = out_.objects.nodes.find(handle);
    if (found == out_.objects.nodes.end() || found->second.graph != capture.name) return std::nullopt;
    nodes.insert(found->second.id);
  }
  return nodes;
}

// ---- lines

void RecordedCaptures::line(const std::string& verb, LogWords& words) {
  if (verb == "capture") return begin(words);
  if (verb == "endcapture") return end(words);
  if (verb == "info") return info(words);
  if (verb == "depend") return depend(words);
  if (verb == "nodes") return nodes(words);
  out_.text.say(fmt::format("capture_mode {}", mode(words)));
}

void RecordedCaptures::begin(LogWords& words) {
  const std::uint64_t stream = words.number();
  std::string text = fmt::format("capture {} mode={}", out_.stream(stream), mode(words));
  Capture capture{stream, words.number()};
  Nodes after;
  if (capture.graph != 0) {
    capture.name = out_.objects.graphs.of(capture.graph);
    const std::optional<Nodes> nodes = known(capture, words.list());
    if (capture.name.empty() || !nodes) {
      lost_[stream] = stream;
      return out_.text.note("a capture into a graph that was not recorded");
    }
    capture.into = true;
    capture.next = out_.objects.next_node[capture.name];
    after = *nodes;
    text += fmt::format(" into={}{}{}", capture.name, after.empty() ? "" : " after=", names(after));
  }
  capture.behind[stream] = std::move(after);
  if (!any()) out_.text.captures_begin();
  out_.text.say(std::move(text));
  streams_[stream] = stream;
  open_[stream] = std::move(capture);
}

void RecordedCaptures::end(LogWords& words) {
  const std::uint64_t stream = words.number(), graph = words.number();
  Capture* const capture = of(stream);
  if (capture == nullptr) {
    forget_lost(stream);
    return out_.text.note("the end of a capture that was not recorded");
  }
  settle(*capture);
  const bool named = !capture->name.empty();
  const std::string name = named ? capture->name : out_.objects.graphs.add(graph);
  if (named) out_.objects.graphs.name(graph, name);
  out_.objects.next_node[name] = capture->next;
  if (!capture->into) captured_[name] = capture->next;
  out_.text.say(fmt::format("endcapture {} {}", out_.stream(stream), name));
  forget(*capture);
}

void RecordedCaptures::failed_end(std::uint64_t stream, std::uint64_t status) {
  Capture* const capture = of(stream);
  if (status != kInvalidated && status != kUnjoined) return;
  if (capture == nullptr) return forget_lost(stream);
  settle(*capture);
  const std::string name = capture->name.empty() ? out_.objects.graphs.reserve() : capture->name;
  out_.text.say(fmt::format("endcapture {} {}", out_.stream(stream), name));
  forget(*capture);
}

// Learns the handles of the nodes that the stream's next node waits for, and of the graph.
void RecordedCaptures::info(LogWords& words) {
  const std::uint64_t stream = words.number(), graph = words.number();
  std::vector<std::uint64_t> handles = words.list();
  Capture* const capture = of(stream);
  if (capture == nullptr) return;
  if (capture->name.empty()) capture->name = out_.objects.graphs.reserve();
  if (graph != 0) capture->graph = graph;
  const bool by_hand = capture->by_hand && capture->by_hand->stream == stream;
  Nodes nodes = by_hand ? capture->by_hand->before : capture->behind.at(stream);
  if (nodes.size() != handles.size()) return;  // a node was not recorded, which has been noted
  std::erase_if(handles, [&](std::uint64_t handle) {
    const std::optional<Nodes> node = known(*capture, {handle});
    return node && nodes.erase(*node->begin()) != 0;
  });
  if (handles.size() > 1)
    out_.text.note("which of several nodes is which: they are taken in the order of their capture");
  for (std::size_t i = 0; i < handles.size() && !nodes.empty(); ++i)
    out_.objects.nodes[handles[i]] = {capture->name, nodes.extract(nodes.begin()).value()};
}

void RecordedCaptures::depend(LogWords& words) {
  const std::uint64_t stream = words.number();
  const bool add = words.number() == 0;  // hipStreamAddCaptureDependencies
  Capture* const capture = of(stream);
  const std::optional<Nodes> nodes = capture == nullptr ? std::nullopt : known(*capture, words.list());
  if (!nodes) return out_.text.note(kUnknownNode);
  Nodes& behind = capture->behind.at(stream);
  std::optional<ByHand>& hand = capture->by_hand;
  if (hand && hand->stream == stream && *nodes == Nodes{hand->node}) {  // the stream is behind that node already
    if (add && !hand->before.empty()) {
      say_after(stream, hand->before, true);
      behind.merge(hand->before);
    }
    hand.reset();
    return;
  }
  settle(*capture);
  say_after(stream, *nodes, add);
  if (!add) behind.clear();
  behind.insert(nodes->begin(), nodes->end());
}

// hipGraphGetNodes: all nodes of a graph.
void RecordedCaptures::nodes(LogWords& words) const {
  const std::string graph = out_.objects.graphs.of(words.number());
  const std::vector<std::uint64_t> handles = words.list();
  const auto count = captured_.find(graph);
  if (count == captured_.end() || count->second != handles.size()) return;
  // 7.2 lists a node without dependencies that was added by hand before others: then the order does not name them.
  for (std::uint32_t i = 0; i < handles.size(); ++i) {
    const auto known = out_.objects.nodes.find(handles[i]);
    if (known != out_.objects.nodes.end() && known->second.graph == graph && known->second.id != i) return;
  }
  for (std::uint32_t i = 0; i < handles.size(); ++i) out_.objects.nodes.try_emplace(handles[i], graph, i);
}

// ---- work

void RecordedCaptures::settle(std::uint64_t stream) {
  if (Capture* const capture = of(stream)) settle(*capture);
}

void RecordedCaptures::settle(Capture& capture) {
  if (!capture.by_hand) return;
  say_after(capture.by_hand->stream, capture.by_hand->before, false);
  capture.behind[capture.by_hand->stream] = std::move(capture.by_hand->before);
  capture.by_hand.reset();
}

void RecordedCaptures::say_after(std::uint64_t stream, const Nodes& nodes, bool add) {
  out_.text.say(fmt::format("capture_after {} {}{}", out_.stream(stream), nodes.empty() ? "none" : names(nodes),
                            add ? " add" : ""));
}

void RecordedCaptures::add(std::uint64_t stream, std::uint32_t count) {
  Capture* const capture = of(stream);
  if (capture == nullptr || count == 0) return;
  capture->next += count;
  capture->behind.at(stream) = {capture->next - 1};
}

void RecordedCaptures::record(std::uint64_t event, std::uint64_t stream) {
  for (auto& [origin, capture] : open_) capture.recorded.erase(event);
  if (Capture* const capture = of(stream)) capture->recorded[event] = capture->behind.at(stream);
}

void RecordedCaptures::wait(std::uint64_t stream, std::uint64_t event) {
  for (auto& [origin, capture] : open_) {
    const auto nodes = capture.recorded.find(event);
    if (nodes == capture.recorded.end()) continue;
    streams_.try_emplace(stream, origin);
    capture.behind[stream].insert(nodes->second.begin(), nodes->second.end());
    return;
  }
}

bool RecordedCaptures::is_lost(const std::string& verb, LogWords words) {
  if (lost_.empty()) return false;
  if (verb == "alloc") {  // async ADDRESS BYTES STREAM
    const bool async = words.word() == "async";
    static_cast<void>(words.number());
    static_cast<void>(words.number());
    return async && lost_.contains(words.number());
  }
  const std::uint64_t first = words.number(), second = words.number();
  if (verb == "freeasync" || verb == "launch") return lost_.contains(second);
  if (verb == "work") return lost_.contains(first);
  const bool record = verb == "record";
  if (!record && verb != "wait") return false;
  const auto found = lost_.find(second);
  if (found != lost_.end()) lost_.try_emplace(first, found->second);  // it joins the capture
  if (found == lost_.end() && record) lost_.erase(first);
  return lost_.contains(first);
}

void RecordedCaptures::forget_lost(std::uint64_t origin) {
  std::erase_if(lost_, [origin](const auto& entry) { return entry.second == origin; });
}

void RecordedCaptures::stream_gone(std::uint64_t stream) {
  forget_lost(stream);
  if (Capture* const capture = of(stream); capture != nullptr && capture->origin == stream) forget(*capture);
}

void RecordedCaptures::add_by_hand(std::uint64_t node, std::uint64_t graph, const std::vector<std::uint64_t>& after,
                                   const SayWork& say_work) {
  Capture& capture = open_.at(with_graph(graph)->origin);
  const std::optional<Nodes> nodes = known(capture, after);
  if (!nodes) return out_.text.note(kUnknownNode);
  settle(capture);
  const auto same = std::ranges::find_if(capture.behind, [&](const auto& entry) { return entry.second == *nodes; });
  const std::uint64_t stream = same == capture.behind.end() ? capture.origin : same->first;
  Nodes before = capture.behind.at(stream);
  if (before != *nodes) say_after(stream, *nodes, false);
  const std::uint32_t count = say_work(out_.stream(stream));
  if (count == 0) {
    if (before != *nodes) say_after(stream, before, false);
    return;
  }
  add(stream, count);
  out_.objects.nodes[node] = {capture.name, capture.next - 1};
  capture.by_hand = {stream, std::move(before), capture.next - 1};
}

void RecordedCaptures::forget(const Capture& capture) {
  const std::uint64_t origin = capture.origin;
  std::erase_if(streams_, [origin](const auto& entry) { return entry.second == origin; });
  open_.erase(origin);
  if (open_.empty()) out_.text.say_what_waits();
}

}  // namespace fuzz
