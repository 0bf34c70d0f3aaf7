// How the commands about stream capture are written as HIP calls (verify/commands/export.h).
#include "verify/commands/export.h"

#include <fmt/format.h>

#include <cassert>
#include <iterator>
#include <utility>
#include <vector>

#include "verify/export/exporter.h"

namespace verify {
namespace {

const char* hip_mode(CaptureMode mode) {
  static constexpr const char* kModes[] = {"hipStreamCaptureModeGlobal", "hipStreamCaptureModeThreadLocal",
                                           "hipStreamCaptureModeRelaxed"};
  return kModes[static_cast<std::size_t>(mode)];
}

std::string local_name(Exporter& out, const char* name) {
  return fmt::format("{}{}", name, out.text().number(LocalKind::kCapture));
}

// Declares an array of nodes and returns the name of its variable.
std::string declare_nodes(Exporter& out, const std::vector<std::string>& variables) {
  std::string behind = local_name(out, "behind");
  out.text().line(fmt::format("hipGraphNode_t {}[] = {{{}}};", behind, list_of(variables)));
  return behind;
}

void begin_capture_to_graph(Exporter& out, const BeginCapture& c) {
  out.needs().use_captured_nodes();
  const CaptureState* capture = out.after().capture_of(c.stream);
  const GraphNames& into = out.names().graphs[*c.into];
  std::string behind = "nullptr";
  if (!c.after.empty()) {
    std::vector<std::string> variables;
    for (const Id id : c.after) {
      const int index = capture == nullptr ? -1 : capture->graph.index_of(id);
      if (index >= 0) variables.push_back(into.nodes.at(static_cast<std::size_t>(index)));
    }
    behind = declare_nodes(out, variables);
  }
  const std::string call = fmt::format("hipStreamBeginCaptureToGraph({}, {}, {}, nullptr, {}, {})",
                                       stream_name(c.stream), into.graph, behind, c.after.size(), hip_mode(c.mode));
  out.call(out.text().on_thread(c.thread, call));
  if (capture != nullptr && out.expected().error == "hipSuccess") out.captures().names(*capture) = into;
}

void check_capture_status(Exporter& out, const CaptureInfo& c, const std::string& status) {
  const auto word = [](const std::string& seen) { return seen.substr(0, seen.find(' ')); };
  static constexpr const char* kWords[] = {"none", "active", "invalidated"};  // HIP's numbers
  for (std::size_t i = 0; i < std::size(kWords); ++i) {
    if (word(out.expected().seen) != kWords[i] || word(out.expected().saw) == kWords[i]) continue;
    out.text().equal(
        fmt::format("the state of the capture of {} (0: none, 1: active, 2: invalid)", stream_name(c.stream)),
        fmt::format("\"{}\"", i), fmt::format("std::to_string({})", status));
    return out.answered();
  }
}

std::string call_beside(Exporter& out, BesideCall call) {
  if (call == BesideCall::kDeviceLimit) return "hipDeviceSetLimit(hipLimitStackSize, 2048)";
  struct Helper {
    HelperFunction function;
    const char* call;
  };
  static constexpr Helper kHelpers[] = {{HelperFunction::kUnsafe, "unsafe_call()"},
                                        {HelperFunction::kUnsafePinned, "pinned_call()"},
                                        {HelperFunction::kUnsafeRegister, "register_call()"},
                                        {HelperFunction::kMemoryInfo, "memory_info_call()"}};
  const Helper& helper = kHelpers[static_cast<std::size_t>(call)];
  out.text().need(helper.function);
  return helper.call;
}

}  // namespace

template <>
void export_command(Exporter& out, const BeginCapture& c) {
  out.capture_begins();
  if (c.into) return begin_capture_to_graph(out, c);
  out.call(out.text().on_thread(c.thread,
                                fmt::format("hipStreamBeginCapture({}, {})", stream_name(c.stream), hip_mode(c.mode))));
}

template <>
void export_command(Exporter& out, const EndCapture& c) {
  const CaptureState* capture = out.before().capture_of(c.stream);
  const std::string name = fmt::format("g{}", c.graph);
  out.needs().declare("hipGraph_t", name);
  std::string graph = name;
  if (capture != nullptr && capture->into) {
    graph = local_name(out, "ended");
    out.text().line(fmt::format("hipGraph_t {} = nullptr;", graph));
  }
  out.call(out.text().on_thread(c.thread, fmt::format("hipStreamEndCapture({}, &{})", stream_name(c.stream), graph)));
  if (capture == nullptr || out.expected().error != "hipSuccess" || out.before().answer(c).status != 0) return;
  GraphNames names = out.captures().names(*capture);
  names.graph = name;
  assert(names.nodes.size() == out.after().graph(c.graph)->nodes.size());
  out.names().graphs[c.graph] = std::move(names);
  out.strategies().graph_made(c.graph);
  const ExpectedStatus& expected = out.expected();
  if (!expected.only_seen_differs || !expected.seen.empty() || expected.saw != "no graph") return;
  out.text().equal(name, "\"a graph\"", fmt::format("std::string({} == nullptr ? \"null\" : \"a graph\")", name));
  out.answered();
}

template <>
void export_command(Exporter& out, const CaptureInfo& c) {
  const std::string status = local_name(out, "capturing");
  out.text().line(fmt::format("hipStreamCaptureStatus {} = hipStreamCaptureStatusNone;", status));
  out.text().line(fmt::format("unsigned long long {}_id = 0;", status));
  out.call(fmt::format("hipStreamGetCaptureInfo({}, &{}, &{}_id)", stream_name(c.stream), status, status));
  // The call does not ask for the dependencies of the stream's next node.
  if (out.expected().only_seen_differs) check_capture_status(out, c, status);
}

template <>
void export_command(Exporter& out, const CaptureAfter& c) {
  out.needs().use_captured_nodes();
  const CaptureState* capture = out.before().capture_of(c.stream);
  std::vector<std::string> variables;
  for (const Id id : c.nodes) {
    assert(capture != nullptr);
    variables.push_back(node_name(capture->graph, out.captures().names(*capture), id));
  }
  const std::string nodes = variables.empty() ? "nullptr" : declare_nodes(out, variables);
  out.call(fmt::format("hipStreamUpdateCaptureDependencies({}, {}, {}, {})", stream_name(c.stream), nodes,
                       variables.size(),
                       c.add ? "hipStreamAddCaptureDependencies" : "hipStreamSetCaptureDependencies"));
}

template <>
void export_command(Exporter& out, const ExchangeCaptureMode& c) {
  const std::string mode = local_name(out, "mode");
  out.text().line(fmt::format("hipStreamCaptureMode {} = {};", mode, hip_mode(c.mode)));
  out.call(out.text().on_thread(c.thread, fmt::format("hipThreadExchangeStreamCaptureMode(&{})", mode)));
  if (!out.expected().only_seen_differs) return;
  const std::string& was = out.expected().seen;
  const int number = was == "global" ? 0 : was == "thread" ? 1 : 2;
  out.text().equal("the mode before (0: global, 1: thread, 2: relaxed)", fmt::format("\"{}\"", number),
                   fmt::format("std::to_string({})", mode));
  out.answered();
}

template <>
void export_command(Exporter& out, const UnsafeCall& c) {
  out.call(out.text().on_thread(c.thread, call_beside(out, c.call)));
}

template void export_family(CapturesCommands, Exporter&, const Command&);

}  // namespace verify
