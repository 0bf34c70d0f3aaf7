#include "hip/traced_command.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "hip/device_scope.h"

namespace hip {
namespace {

const KernelLayouts& layouts_of(const TracedWork& work) {
  static const KernelLayouts none = [](hipFunction_t) { return std::nullopt; };
  return work.layouts ? work.layouts : none;
}

RecordedNode opaque_command(const TracedWork& work, std::string why) {
  RecordedNode node = captured_command(work.stream, work.buffers, work.work, work.errors);
  std::get<OpaqueRecord>(node.record).reason = std::move(why);
  return node;
}

// The recording of a known command; null if the command is opaque or enqueues nothing.
const Recording* nodes_of(const RecordedNode& known) {
  const auto* child = std::get_if<ChildRecord>(&known.record);
  return child == nullptr ? nullptr : child->graph.get();
}

// Compares the known command with the work captured at the buffers' present addresses; if they differ, it becomes
// opaque.
Status hold_against_the_work(const Api& api, const TracedWork& work, std::span<const DeviceAddress> addresses,
                             const ReleaseQuirks& quirks, RecordedNode& known) {
  static const Recording nothing;
  const bool empty = std::holds_alternative<EmptyRecord>(known.record);
  const Recording* const nodes = empty ? &nothing : nodes_of(known);
  if (nodes == nullptr) return {};
  const Result<bool> holds =
      does_as_known(api, work.stream, work.work, *nodes, addresses, layouts_of(work), work.errors, quirks);
  if (!holds) return holds.error();
  if (!holds.value()) known = opaque_command(work, "the work is another where its buffers are than at its shadows");
  return {};
}

bool beside(DeviceAddress one, std::uint64_t one_bytes, DeviceAddress other, std::uint64_t other_bytes) {
  return one == other || (one < other + other_bytes && other < one + one_bytes);
}

// Records a traced command without keeping its trace. Other opaque nodes have functions of another type.
struct TracedRecorder {
  std::shared_ptr<const TracedWork> work;
  decltype(OpaqueRecord::record) capture_each_time;

  Result<hipGraphNode_t> operator()(const Api& api, hipGraph_t graph, std::span<const hipGraphNode_t> dependencies,
                                    std::span<const DeviceAddress> addresses, Kept& kept) const {
    return capture_each_time(api, graph, dependencies, addresses, kept);
  }
};

// Only for an assertion.
[[maybe_unused]] bool covers(const Shadows& shadows, const std::vector<BufferIndex>& buffers) {
  return std::ranges::all_of(
      buffers, [&](BufferIndex buffer) { return std::ranges::find(shadows.buffers, buffer) != shadows.buffers.end(); });
}

}  // namespace

RecordedNode traced_command(TracedWork work) {
  assert(!work.shadows ||
         (!work.collective && flaw_of(*work.shadows) == nullptr && covers(*work.shadows, work.buffers)));
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

Result<RecordedNode> known_command(const Api& api, const TracedWork& work, std::span<const DeviceAddress> addresses,
                                   const ReleaseQuirks& quirks) {
  if (!work.shadows) return opaque_command(work, "there are no shadows to capture it at");
  Result<RecordedNode> found =
      differential_command(api, work.stream, work.work, *work.shadows, layouts_of(work), work.errors, quirks);
  if (!found) return found;
  if (Status held = hold_against_the_work(api, work, addresses, quirks, found.value()); !held) return held.error();
  return found;
}

Result<int> device_of(const Api& api, const TracedWork& work) {
  int device = 0;
  Status status = call<&Api::hipGetDevice>(api, &device);
  if (status && api.hipStreamGetDevice != nullptr) {
    status = call<&Api::hipStreamGetDevice>(api, work.stream, &device);
  }
  if (!status) return status.error();
  return device;
}

bool same_footing(const TracedWork& work, std::span<const DeviceAddress> was, std::span<const DeviceAddress> now) {
  const std::vector<std::uint64_t>& bytes = work.shadows->bytes;
  for (const BufferIndex one : work.buffers) {
    if ((was[one] ^ now[one]) % kFooting != 0) return false;
    for (const BufferIndex other : work.buffers) {
      const bool together = beside(was[one], bytes[one], was[other], bytes[other]) ||
                            beside(now[one], bytes[one], now[other], bytes[other]);
      if (together && was[one] - was[other] != now[one] - now[other]) return false;
    }
  }
  return true;
}

Result<std::shared_ptr<TracedGraph>> TracedGraph::capture(const Api& api, std::shared_ptr<const TracedWork> work,
                                                          std::span<const DeviceAddress> addresses,
                                                          std::optional<RecordedNode>& known) {
  // On failure the work is captured at its real addresses, which is always right: the failure may be temporary, or
  // concern the shadows alone.
  Status looked;
  if (!known) {
    Result<RecordedNode> found = known_command(api, *work, addresses);
    if (found) known = std::move(found).value();
    if (!found) looked = found.error();
  } else {
    looked = hold_against_the_work(api, *work, addresses, {}, *known);
  }
  work->errors(looked);
  if (const Recording* const nodes = looked ? nodes_of(*known) : nullptr) {
    std::shared_ptr<TracedGraph> made(new TracedGraph(api, work, {}, addresses));
    const Status recorded = made->record_nodes(*nodes);
    if (recorded) return made;
    work->errors(recorded);
  }
  Result<CapturedGraph> captured = CapturedGraph::capture(
      api, work->stream, [&](hipStream_t on) { return work->work(on, addresses); }, work->errors);
  if (!captured) return captured.error();
  if (captured.value().empty()) return std::shared_ptr<TracedGraph>();
  return std::shared_ptr<TracedGraph>(
      new TracedGraph(api, std::move(work), {captured.value().take(), {}, {}}, addresses));
}

Status TracedGraph::record_nodes(const Recording& nodes) {
  int current = 0;
  if (Status status = call<&Api::hipGetDevice>(api_, &current); !status) return status;
  const Result<int> device = device_of(api_, *work_);
  if (!device) return device.error();
  if (device.value() != current) other_device_ = device.value();
  const Result<DeviceScope> scope = DeviceScope::enter_if(api_, other_device_, work_->errors);
  if (!scope) return scope.error();
  Result<RecordedGraph> recorded = record_graph(api_, nodes, addresses_);
  if (!recorded) return recorded.error();
  recorded_ = std::move(recorded).value();
  PatcherOptions options;
  options.on_teardown_error = [errors = work_->errors](int code, const char* what) { errors(Error{code, what}); };
  patcher_ = GraphPatcher::of_graph(api_, nodes, recorded_, addresses_, std::move(options));
  return {};
}

TracedGraph::~TracedGraph() {
  patcher_.reset();
  if (recorded_.graph != nullptr) work_->errors(destroy_graph(api_, recorded_.graph));
}

Status TracedGraph::patch(std::span<const TraceBuffer> buffers) {
  assert(buffers.size() == work_->buffers.size());
  if (!patcher_)
    return Error{hipErrorNotSupported, "what a library enqueued is not known node by node: capture it again"};
  wanted_ = addresses_;
  for (std::size_t i = 0; i < buffers.size(); ++i) wanted_[work_->buffers[i]] = buffers[i].address;
  if (!same_footing(*work_, addresses_, wanted_)) {
    return Error{hipErrorNotSupported, "its buffers lie otherwise than when it was captured: capture it again"};
  }
  moves_.clear();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const BufferIndex buffer = work_->buffers[i];
    const auto named = [buffer](const Move& move) { return move.buffer == buffer; };  // the work may name one twice
    if (buffers[i].address == addresses_[buffer] || std::ranges::any_of(moves_, named)) continue;
    moves_.push_back({buffer, addresses_[buffer], buffers[i].address});
  }
  const Result<DeviceScope> scope = DeviceScope::enter_if(api_, other_device_, work_->errors);
  if (!scope) return scope.error();
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
