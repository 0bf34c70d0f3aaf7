#include "reports/reproducer_captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace reports {
namespace {

using verify::Id;

const char* hip_mode(verify::CaptureMode mode) {
  static constexpr const char* kModes[] = {"hipStreamCaptureModeGlobal", "hipStreamCaptureModeThreadLocal",
                                           "hipStreamCaptureModeRelaxed"};
  return kModes[static_cast<std::size_t>(mode)];
}

bool works_on_nodes(const verify::Command& command) {
  if (const auto* begin = std::get_if<verify::BeginCapture>(&command)) return begin->into.has_value();
  return std::holds_alternative<verify::SetNode>(command) || std::holds_alternative<verify::EnableNode>(command) ||
         std::holds_alternative<verify::ChangeEdges>(command) || std::holds_alternative<verify::RemoveNode>(command) ||
         std::holds_alternative<verify::Patch>(command) || std::holds_alternative<verify::Update>(command) ||
         std::holds_alternative<verify::Inspect>(command) || std::holds_alternative<verify::CaptureAfter>(command);
}

std::string list_of(const std::vector<std::string>& variables) {
  std::string text;
  for (const std::string& each : variables) text += (text.empty() ? "" : ", ") + each;
  return text;
}

}  // namespace

std::string stream_name(Id id) {
  return id == verify::kNullStream ? "nullptr" : fmt::format("s{}", id);
}

ReproducerCaptures::ReproducerCaptures(ReproducerText& text, ReproducerNodes& nodes, const verify::Program& program)
    : text_(text), nodes_(nodes) {
  for (const verify::Step& step : program.steps) {
    any_ = any_ || std::holds_alternative<verify::BeginCapture>(step.command);
    uses_handles_ = uses_handles_ || works_on_nodes(step.command);
  }
}

bool ReproducerCaptures::declares_graph(const verify::Program& program, Id graph) {
  const auto makes = [&](const verify::Step& step) {
    const auto* declared = std::get_if<verify::DeclareGraph>(&step.command);
    return declared != nullptr && declared->graph == graph;
  };
  return std::none_of(program.steps.begin(), program.steps.end(), makes);
}

void ReproducerCaptures::enqueue(const verify::State& state, const verify::Enqueue& c, const ExpectedStatus& expected) {
  text_.on_device(state.device_of_stream(c.stream),
                  [&] { nodes_.enqueue(state, c.params, stream_name(c.stream), c.thread, expected); });
}

void ReproducerCaptures::captured(const verify::State& before, const verify::State& after, Id stream) {
  const verify::CaptureState* capture = after.capture_of(stream);
  const verify::CaptureState* old = before.capture_of(stream);
  if (capture == nullptr || old == nullptr || capture->graph.nodes.size() == old->graph.nodes.size()) return;
  GraphNames& names = open_[capture->serial];
  names.nodes.push_back(fmt::format("c{}_n{}", capture->serial, capture->graph.nodes.back().id));
  if (!uses_handles_) return;
  text_.need(Helper::kCaptured);
  text_.line(
      fmt::format("[[maybe_unused]] hipGraphNode_t {} = last_captured({});", names.nodes.back(), stream_name(stream)));
}

void ReproducerCaptures::query(const verify::Query& c, const ExpectedStatus& expected) {
  const std::string call = c.target == verify::Target::kEvent ? fmt::format("hipEventQuery(v{})", c.id)
                                                              : fmt::format("hipStreamQuery({})", stream_name(c.id));
  text_.call(expected, text_.on_thread(c.thread, call));
}

void ReproducerCaptures::elapsed(const verify::Elapsed& c, const ExpectedStatus& expected) {
  text_.line(fmt::format("float milliseconds{} = 0;", ++locals_));
  text_.call(expected, fmt::format("hipEventElapsedTime(&milliseconds{}, v{}, v{})", locals_, c.from, c.to));
}

void ReproducerCaptures::unsafe(const verify::UnsafeCall& c, const ExpectedStatus& expected) {
  text_.need(Helper::kUnsafe);
  text_.call(expected, text_.on_thread(c.thread, "unsafe_call()"));
}

void ReproducerCaptures::begin(const verify::State& after, const verify::BeginCapture& c, const GraphNames* into,
                               const ExpectedStatus& expected) {
  const std::string stream = stream_name(c.stream);
  const verify::CaptureState* capture = after.capture_of(c.stream);
  if (into == nullptr) {
    text_.call(expected,
               text_.on_thread(c.thread, fmt::format("hipStreamBeginCapture({}, {})", stream, hip_mode(c.mode))));
    return;
  }
  std::string behind = "nullptr";
  if (!c.after.empty()) {
    std::vector<std::string> variables;
    for (const Id id : c.after) {
      const int index = capture == nullptr ? -1 : capture->graph.index_of(id);
      if (index >= 0) variables.push_back(into->nodes[static_cast<std::size_t>(index)]);
    }
    behind = fmt::format("behind{}", ++locals_);
    text_.line(fmt::format("hipGraphNode_t {}[] = {{{}}};", behind, list_of(variables)));
  }
  text_.call(expected,
             text_.on_thread(c.thread, fmt::format("hipStreamBeginCaptureToGraph({}, {}, {}, nullptr, {}, {})", stream,
                                                   into->graph, behind, c.after.size(), hip_mode(c.mode))));
  if (capture != nullptr && expected.error == "hipSuccess") open_[capture->serial] = *into;
}

std::optional<GraphNames> ReproducerCaptures::end(const verify::State& before, const verify::State& after,
                                                  const verify::EndCapture& c, const ExpectedStatus& expected) {
  const verify::CaptureState* capture = before.capture_of(c.stream);
  std::string graph = fmt::format("g{}", c.graph);
  if (capture != nullptr && capture->into) {
    graph = fmt::format("ended{}", ++locals_);
    text_.line(fmt::format("hipGraph_t {} = nullptr;", graph));
  }
  text_.call(expected,
             text_.on_thread(c.thread, fmt::format("hipStreamEndCapture({}, &{})", stream_name(c.stream), graph)));
  const verify::GraphState* made = after.graph(c.graph);
  if (capture == nullptr || expected.error != "hipSuccess" || made == nullptr) return std::nullopt;
  GraphNames names = open_[capture->serial];
  names.graph = fmt::format("g{}", c.graph);
  assert(names.nodes.size() == made->nodes.size());
  return names;
}

bool ReproducerCaptures::info(const verify::CaptureInfo& c, const ExpectedStatus& expected) {
  const std::string status = fmt::format("capturing{}", ++locals_);
  text_.line(fmt::format("hipStreamCaptureStatus {} = hipStreamCaptureStatusNone;", status));
  text_.line(fmt::format("unsigned long long {}_id = 0;", status));
  text_.call(expected, fmt::format("hipStreamGetCaptureInfo({}, &{}, &{}_id)", stream_name(c.stream), status, status));
  if (!expected.only_seen_differs) return true;
  const auto word = [](const std::string& seen) { return seen.substr(0, seen.find(' ')); };
  static constexpr const char* kWords[] = {"none", "active", "invalidated"};  // HIP's numbers
  for (std::size_t i = 0; i < std::size(kWords); ++i) {
    if (word(expected.seen) != kWords[i] || word(expected.saw) == kWords[i]) continue;
    text_.equal(fmt::format("the state of the capture of {} (0: none, 1: active, 2: invalid)", stream_name(c.stream)),
                fmt::format("\"{}\"", i), fmt::format("std::to_string({})", status));
    return true;
  }
  return false;  // which nodes come before the next one
}

void ReproducerCaptures::change(const verify::State& before, const verify::CaptureAfter& c,
                                const ExpectedStatus& expected) {
  const verify::CaptureState* capture = before.capture_of(c.stream);
  std::vector<std::string> variables;
  for (const Id id : c.nodes) {
    assert(capture != nullptr);
    variables.push_back(open_[capture->serial].nodes[static_cast<std::size_t>(capture->graph.index_of(id))]);
  }
  std::string nodes = "nullptr";
  if (!variables.empty()) {
    nodes = fmt::format("behind{}", ++locals_);
    text_.line(fmt::format("hipGraphNode_t {}[] = {{{}}};", nodes, list_of(variables)));
  }
  text_.call(expected, fmt::format("hipStreamUpdateCaptureDependencies({}, {}, {}, {})", stream_name(c.stream), nodes,
                                   variables.size(),
                                   c.add ? "hipStreamAddCaptureDependencies" : "hipStreamSetCaptureDependencies"));
}

void ReproducerCaptures::exchange(const verify::ExchangeCaptureMode& c, const ExpectedStatus& expected) {
  const std::string mode = fmt::format("mode{}", ++locals_);
  text_.line(fmt::format("hipStreamCaptureMode {} = {};", mode, hip_mode(c.mode)));
  text_.call(expected, text_.on_thread(c.thread, fmt::format("hipThreadExchangeStreamCaptureMode(&{})", mode)));
  if (!expected.only_seen_differs) return;
  const std::string& was = expected.seen;
  text_.equal("the mode before (0: global, 1: thread, 2: relaxed)",
              fmt::format("\"{}\"", was == "global"   ? 0
                                    : was == "thread" ? 1
                                                      : 2),
              fmt::format("std::to_string({})", mode));
}

void ReproducerCaptures::abandon(const verify::State& after) {
  for (const verify::CaptureState& capture : after.captures()) {
    const std::string left = fmt::format("left{}", ++locals_);
    text_.line(fmt::format("hipGraph_t {} = nullptr;", left));
    text_.line(fmt::format(
        "(void){};", text_.on_thread(capture.thread,
                                     fmt::format("hipStreamEndCapture({}, &{})", stream_name(capture.origin), left))));
  }
}

}  // namespace reports
