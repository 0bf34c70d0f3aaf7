#include "verify/run/captures.h"

#include <algorithm>

#include "hip/errors.h"
#include "verify/program/text.h"
#include "verify/properties/captures.h"
#include "verify/run/run.h"

namespace verify {

static bool captures(const Program& program) {
  return std::ranges::any_of(program.steps, [](const Step& step) {
    const Command& c = step.command;
    return std::holds_alternative<BeginCapture>(c) || std::holds_alternative<EndCapture>(c) ||
           std::holds_alternative<CaptureInfo>(c) || std::holds_alternative<CaptureAfter>(c) ||
           std::holds_alternative<ExchangeCaptureMode>(c);
  });
}

Captures::Captures(Run& run, const Program& program) : run_(run) {
  if (captures(program)) state_.emplace();
}

void Captures::ran(const Command& command, const StepStatus& status, bool fired) {
  if (!state_) return;
  if (!fired) {
    const CaptureStep seen{run_.step, state_->answer(command).status, status.code, state_->seen(command), status.seen};
    if (concerns_capture(*state_, command) && detect_p7(seen, print_command(command), run_.observation.violations))
      run_.detectors.count(PropertyId::kP7);
  }
  const std::size_t before = state_->captures().size();
  const auto* end = std::get_if<EndCapture>(&command);
  const CaptureState* ending = end != nullptr && status.code != 0 ? of(end->stream) : nullptr;
  if (ending != nullptr) note_failed(*ending);
  state_->apply(command);
  note_invalid();
  if (state_->captures().size() >= before) return;
  std::erase_if(open_, [this](const auto& entry) {
    const auto& live = state_->captures();
    return std::ranges::none_of(live, [&](const CaptureState& c) { return c.serial == entry.first; });
  });
}

void Captures::ran_in_threads(std::span<const Step> block) {
  for (const Step& step : block) {
    for (std::uint32_t k = 0; state_ && k < repeats_that_matter(step); ++k) state_->apply(step.command);
  }
  if (state_) note_invalid();
}

void Captures::note_invalid() {
  for (const CaptureState& capture : state_->captures()) {
    if (!capture.valid) note_failed(capture);
  }
}

void Captures::note_failed(const CaptureState& capture) {
  const bool outlives =
      state_->per_thread(capture.origin) ||
      std::ranges::any_of(capture.behind, [this](const auto& s) { return state_->per_thread(s.first); });
  run_.observation.spoils_process = run_.observation.spoils_process || outlives;
  if (outlives && capture.into) run_.graphs[*capture.into].maybe_gone = true;
}

void Captures::add(Id stream, hip::RecordedNode node) {
  const CaptureState* capture = of(stream);
  if (capture == nullptr || !capture->valid) return;
  open_[capture->serial].nodes.push_back({std::move(node), last_node(run_.stream(stream))});
}

hip::Result<Captures::Behind> Captures::behind(const hip::Api& api, hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  unsigned long long id = 0;
  hipGraph_t graph = nullptr;
  const hipGraphNode_t* nodes = nullptr;
  std::size_t count = 0;
  hip::Status asked =
      hip::call<&hip::Api::hipStreamGetCaptureInfo_v2>(api, stream, &status, &id, &graph, &nodes, &count);
  if (!asked) return asked.error();
  if (status != hipStreamCaptureStatusActive) return Behind{};
  return Behind{graph, {nodes, nodes + count}};
}

// Returns the handle of the node that was just captured: the stream's next node depends on it and on no other node.
// Null where the runtime reports something else.
hipGraphNode_t Captures::last_node(hipStream_t stream) const {
  const hip::Api& api = run_.interposer.inner();
  if (api.hipStreamGetCaptureInfo_v2 == nullptr) return nullptr;
  const hip::Result<Behind> last = behind(api, stream);
  return last && last.value().nodes.size() == 1 ? last.value().nodes.front() : nullptr;
}

hip::Status Captures::add_by_hand(Id stream, const hip::RecordedNode& node, hip::NodeExtras& extras) {
  const hip::Api& api = run_.context.api;
  if (api.hipStreamGetCaptureInfo_v2 == nullptr) return run_.unsupported("hipStreamGetCaptureInfo_v2");
  if (api.hipStreamUpdateCaptureDependencies == nullptr) return run_.unsupported("hipStreamUpdateCaptureDependencies");
  const hip::Result<Behind> last = behind(api, run_.stream(stream));
  if (!last) return last.error();
  const auto& [graph, nodes] = last.value();
  if (graph == nullptr) return hip::Error{hipErrorIllegalState, "the runtime reports no capture on the stream"};
  hip::Result<hipGraphNode_t> added = hip::record_node(api, graph, node, nodes, run_.memory.addresses(), extras);
  if (!added) return added.error();
  hip::Status behind_it = hip::call<&hip::Api::hipStreamUpdateCaptureDependencies>(
      api, run_.stream(stream), &added.value(), 1, hipStreamSetCaptureDependencies);
  // A command that failed can be tried again, so it leaves no node.
  if (!behind_it && run_.interposer.inner().hipGraphDestroyNode(added.value()) != hipSuccess)
    run_.observation.harness_error = "a node that was added by hand cannot be destroyed";
  return behind_it;
}

void Captures::check_eager_work(const CaptureState& capture, std::string into) {
  const auto open = open_.find(capture.serial);
  if (open == open_.end()) return;
  CaptureWork work{run_.step, std::move(into), {}};
  for (const CapturedNode& node : open->second.nodes) {
    const auto* host = std::get_if<hip::HostRecord>(&node.node.record);
    work.host_runs.push_back(host == nullptr ? 0 : NodeRecords::runs_of(*host));
  }
  if (detect_p6(work, run_.observation.violations)) run_.detectors.count(PropertyId::kP6);
}

void append_handles(const GraphObject& graph, Id name, std::vector<hipGraphNode_t>& handles) {
  for (const NodePlace& place : graph.places) {
    for (std::uint32_t k = 0; place.id == name && k < place.fan; ++k)
      handles.push_back(graph.handles.nodes[place.first + k]);
  }
}

std::vector<hipGraphNode_t> Captures::handles_of(const CaptureState& capture, const std::vector<Id>& names) const {
  std::vector<hipGraphNode_t> handles;
  const auto open = open_.find(capture.serial);
  for (const Id name : names) {
    const auto index = static_cast<std::size_t>(capture.graph.index_of(name));
    if (open != open_.end() && index >= open->second.before) {
      const std::size_t at = index - open->second.before;
      handles.push_back(at < open->second.nodes.size() ? open->second.nodes[at].handle : nullptr);
    } else {
      append_handles(run_.graphs.at(*capture.into), name, handles);
    }
  }
  return handles;
}

// After a fault of the device every call fails, which is no error of the harness.
void Captures::cannot_clean_up(const char* what) {
  if (run_.platform.notes().fault.empty()) run_.observation.harness_error = what;
}

void Captures::abandon() {
  if (!state_) return;
  for (const CaptureState& capture : state_->captures()) abandon(capture);
  const hip::Api& api = run_.interposer.inner();
  for (Id thread = 0; thread <= kMaxThread && api.hipThreadExchangeStreamCaptureMode != nullptr; ++thread) {
    if (state_->chose_mode(thread)) reset_mode(thread);
  }
  for (const hipGraph_t graph : strays_) {
    if (api.hipGraphDestroy(graph) != hipSuccess) cannot_clean_up("a captured graph cannot be destroyed");
  }
}

void Captures::abandon(const CaptureState& capture) {
  const hip::Api& api = run_.interposer.inner();
  check_eager_work(capture, "a capture that never ended");
  if (!run_.has_stream(capture.origin)) return;
  const hipStream_t stream = run_.stream(capture.origin);
  // Ending an invalid capture into a graph of the program may destroy the graph (finding capture-into-destroys): the
  // stream is destroyed instead. On NVIDIA that destroys the graph as well, so a capture that can end is ended.
  const bool can_end = capture.valid && capture.all_joined();
  if (capture.into && !can_end && stream != hipStreamPerThread) {
    run_.graphs[*capture.into].spoiled = true;
    run_.observation.spoils_process = true;
    if (api.hipStreamDestroy(stream) != hipSuccess) cannot_clean_up("a capturing stream cannot be destroyed");
    run_.streams.erase(capture.origin);
    return;
  }
  hipGraph_t graph = nullptr;
  const hip::Status ended =
      run_.on_thread(capture.thread, [&] { return hip::call<&hip::Api::hipStreamEndCapture>(api, stream, &graph); });
  if (!ended) note_failed(capture);
  if (ended && graph != nullptr && !capture.into) strays_.push_back(graph);
  if (capture.into) run_.graphs[*capture.into].spoiled = true;
}

void Captures::reset_mode(Id thread) {
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  const hip::Status reset = run_.on_thread(
      thread, [&] { return hip::call<&hip::Api::hipThreadExchangeStreamCaptureMode>(run_.interposer.inner(), &mode); });
  // After a device fault every call fails, and the observation notes the fault already.
  const bool sticky =
      !reset && (reset.error().code == hipErrorIllegalAddress || reset.error().code == hipErrorLaunchFailure);
  if (!reset && !sticky) run_.observation.harness_error = reset.error().message;
}

}  // namespace verify
