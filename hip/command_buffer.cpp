#include "hip/command_buffer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "hip/captured_graph.h"
#include "hip/device_scope.h"
#include "hip/flatten.h"

namespace hip {

CommandBuffer::CommandBuffer(const Api& api, const CommandBufferOptions& options) : api_(api), options_(options) {
  set({});
}

CommandBuffer::~CommandBuffer() {
  options_.errors(drop());
}

void CommandBuffer::set(Recording commands) {
  commands_ = options_.flatten ? flattened(commands) : std::move(commands);
  // A graph without nodes is nothing that HIP documents.
  if (commands_.nodes().empty()) commands_.add({EmptyRecord{}, {}, {}});
  other_commands_ = true;
}

Status CommandBuffer::wait() {
  if (std::exchange(unmarked_, false)) return called(api_.hipDeviceSynchronize(), "hipDeviceSynchronize");
  return done_ ? done_->synchronize() : Status();
}

Status CommandBuffer::drop() {
  patcher_.reset();
  if (exec_ == nullptr) return {};
  // HIP does not document that an executable graph may go while it runs.
  Status status = wait();
  status = both(std::move(status), destroy_exec(api_, std::exchange(exec_, nullptr)));
  return both(std::move(status), destroy_graph(api_, std::exchange(recorded_, {}).graph));
}

Result<CommandStep> CommandBuffer::step(std::span<const DeviceAddress> addresses, const StreamRef& stream) {
  assert(addresses.size() >= commands_.buffer_count());
  const Result<DeviceScope> scope = DeviceScope::enter(api_, options_.device, options_.errors);
  Result<CommandStep> step = scope ? bring(addresses) : Result<CommandStep>(scope.error());
  Status status = step ? launch(stream) : Status(step.error());
  if (!status) {
    ++counts_.failed;
    broken_ = true;
    return status.error();
  }
  ++counts_.decisions[static_cast<std::size_t>(step.value().decision)];
  ++counts_.reasons[static_cast<std::size_t>(step.value().reason)];
  return step;
}

Result<CommandStep> CommandBuffer::bring(std::span<const DeviceAddress> addresses) {
  if (exec_ == nullptr) return record(addresses, broken_ ? StepReason::kEarlierFailure : StepReason::kFirst);
  if (broken_) return record(addresses, StepReason::kEarlierFailure);
  if (other_commands_) return record(addresses, StepReason::kOtherCommands);
  moves_.clear();
  for (BufferIndex i = 0; i < commands_.buffer_count(); ++i) {
    if (addresses[i] != addresses_[i]) moves_.push_back({i, addresses_[i], addresses[i]});
  }
  if (moves_.empty()) return CommandStep{};
  if (!options_.patch) return record(addresses, StepReason::kPatchingIsOff);
  return patch(addresses);
}

Result<CommandStep> CommandBuffer::patch(std::span<const DeviceAddress> addresses) {
  if (!patcher_) {
    PatcherOptions options;
    options.on_teardown_error = [this](int code, const char* what) { options_.errors(Error{code, what}); };
    patcher_ = GraphPatcher::of_exec(api_, commands_, recorded_, exec_, addresses_, std::move(options));
  }
  const PatchResult patched = patcher_->patch(moves_);
  if (!patched.ok()) {
    const bool opaque = patched.error().failure == PatchFailure::kRecordAgain;
    if (!opaque) options_.errors(Error{patched.error().code, patched.error().message});
    return record(addresses, opaque ? StepReason::kOpaque : StepReason::kPatchFailed);
  }
  for (const Move& move : moves_) addresses_[move.buffer] = move.to;
  return CommandStep{StepDecision::kPatch, StepReason::kMoved, patched.report()};
}

// Whether the executable graph is what `fresh` is now. A patch that failed half-way is no place to go on from.
bool CommandBuffer::update(const RecordedGraph& fresh, std::span<const DeviceAddress> addresses) {
  if (fresh.nodes.size() != recorded_.nodes.size() || (patcher_ && !patcher_->usable())) return false;
  hipGraphNode_t node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  const hipError_t updated = api_.hipGraphExecUpdate(exec_, fresh.graph, &node, &result);
  // That the shape is another is an answer; anything else, an error.
  if (updated != hipErrorGraphExecUpdateFailure) options_.errors(called(updated, "hipGraphExecUpdate"));
  if (updated != hipSuccess) return false;
  patcher_.reset();  // it knew the other commands
  addresses_.assign(addresses.begin(), addresses.end());
  return true;
}

Result<CommandStep> CommandBuffer::record(std::span<const DeviceAddress> addresses, StepReason reason) {
  Result<RecordedGraph> fresh = record_graph(api_, commands_, addresses);
  if (!fresh) return fresh.error();
  const bool may_update = options_.update && exec_ != nullptr && !broken_;
  if (may_update && update(fresh.value(), addresses)) {
    options_.errors(destroy_graph(api_, fresh.value().graph));
    other_commands_ = false;
    return CommandStep{StepDecision::kUpdate, reason, {}};
  }
  hipGraphExec_t exec = nullptr;
  Status status =
      called(api_.hipGraphInstantiate(&exec, fresh.value().graph, nullptr, nullptr, 0), "hipGraphInstantiate");
  if (!status) {
    options_.errors(destroy_graph(api_, fresh.value().graph));
    return status.error();
  }
  // The new graph is there; that the old one could not go is told, and no reason not to launch.
  options_.errors(drop());
  exec_ = exec;
  recorded_ = std::move(fresh).value();
  addresses_.assign(addresses.begin(), addresses.end());
  other_commands_ = broken_ = false;
  return CommandStep{StepDecision::kRecord, may_update ? StepReason::kUpdateRefused : reason, {}};
}

Status CommandBuffer::launch(const StreamRef& stream) {
  if (!done_) {
    Result<Event> made = Event::create(api_, {.device = options_.device, .errors = options_.errors});
    if (!made) return made.error();
    done_.emplace(std::move(made).value());
  }
  if (Status status = called(api_.hipGraphLaunch(exec_, stream.handle()), "hipGraphLaunch"); !status) return status;
  // The work is under way; where that cannot be noted, the device is waited for when the graph has to go.
  const Status marked = done_->record(stream);
  unmarked_ = !marked;
  options_.errors(marked);
  return {};
}

}  // namespace hip
