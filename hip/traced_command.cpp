#include "hip/traced_command.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace hip {
namespace {

// The work's own nodes, found out once; nothing where they cannot be known.
Result<const Recording*> known_nodes(const Api& api, const TracedWork& work, std::optional<RecordedNode>& known) {
  if (!work.shadows) return static_cast<const Recording*>(nullptr);
  if (!known) {
    const KernelLayouts none = [](hipFunction_t) { return std::nullopt; };
    Result<RecordedNode> found = differential_command(api, work.stream, work.work, *work.shadows,
                                                      work.layouts ? work.layouts : none, work.errors);
    if (!found) return found.error();
    known = std::move(found).value();
  }
  const auto* child = std::get_if<ChildRecord>(&known->record);
  return child == nullptr ? static_cast<const Recording*>(nullptr) : child->graph.get();
}

// How whoever keeps no traces records a traced command, and how one is told from other opaque nodes.
struct TracedRecorder {
  std::shared_ptr<const TracedWork> work;
  decltype(OpaqueRecord::record) capture_each_time;

  Result<hipGraphNode_t> operator()(const Api& api, hipGraph_t graph, std::span<const hipGraphNode_t> dependencies,
                                    std::span<const DeviceAddress> addresses, Kept& kept) const {
    return capture_each_time(api, graph, dependencies, addresses, kept);
  }
};

}  // namespace

RecordedNode traced_command(TracedWork work) {
  assert(!work.shadows || (!work.collective && flaw_of(*work.shadows) == nullptr));
  RecordedNode node = captured_command(work.stream, work.buffers, work.work, work.errors);
  auto& record = std::get<OpaqueRecord>(node.record).record;
  record = TracedRecorder{std::make_shared<const TracedWork>(std::move(work)), std::move(record)};
  return node;
}

std::shared_ptr<const TracedWork> traced_work_of(const RecordedNode& node) {
  const auto* opaque = std::get_if<OpaqueRecord>(&node.record);
  const auto* recorder = opaque == nullptr ? nullptr : opaque->record.target<TracedRecorder>();
  return recorder == nullptr ? nullptr : recorder->work;
}

Result<std::shared_ptr<TracedGraph>> TracedGraph::capture(const Api& api, std::shared_ptr<const TracedWork> work,
                                                          std::span<const DeviceAddress> addresses,
                                                          std::optional<RecordedNode>& known) {
  const Result<const Recording*> nodes = known_nodes(api, *work, known);
  if (!nodes) return nodes.error();
  if (nodes.value() == nullptr) {
    Result<CapturedGraph> captured = CapturedGraph::capture(
        api, work->stream, [&](hipStream_t on) { return work->work(on, addresses); }, work->errors);
    if (!captured) return captured.error();
    if (captured.value().empty()) return std::shared_ptr<TracedGraph>();
    return std::shared_ptr<TracedGraph>(
        new TracedGraph(api, std::move(work), {captured.value().take(), {}, {}}, addresses));
  }
  Result<RecordedGraph> recorded = record_graph(api, *nodes.value(), addresses);
  if (!recorded) return recorded.error();
  std::shared_ptr<TracedGraph> made(new TracedGraph(api, std::move(work), std::move(recorded).value(), addresses));
  PatcherOptions options;
  options.on_teardown_error = [errors = made->work_->errors](int code, const char* what) { errors(Error{code, what}); };
  made->patcher_ = GraphPatcher::of_graph(api, *nodes.value(), made->recorded_, made->addresses_, std::move(options));
  return made;
}

TracedGraph::~TracedGraph() {
  patcher_.reset();
  work_->errors(destroy_graph(api_, recorded_.graph));
}

Status TracedGraph::patch(std::span<const TraceBuffer> buffers) {
  assert(buffers.size() == work_->buffers.size());
  if (!patcher_)
    return Error{hipErrorNotSupported, "what a library enqueued is not known node by node: capture it again"};
  moves_.clear();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const BufferIndex buffer = work_->buffers[i];
    const auto named = [buffer](const Move& move) { return move.buffer == buffer; };  // the work may name one twice
    if (buffers[i].address == addresses_[buffer] || std::any_of(moves_.begin(), moves_.end(), named)) continue;
    moves_.push_back({buffer, addresses_[buffer], buffers[i].address});
  }
  const PatchResult patched = patcher_->patch(moves_);
  if (!patched.ok()) {
    const PatchError& error = patched.error();
    if (error.failure != PatchFailure::kRecordAgain) work_->errors(Error{error.code, error.message});
    return Error{error.code == 0 ? static_cast<int>(hipErrorNotSupported) : error.code, error.message};
  }
  for (const Move& move : moves_) addresses_[move.buffer] = move.to;
  return {};
}

}  // namespace hip
