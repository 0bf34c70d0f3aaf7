// Deferred work: the operations that an operation has to wait for, and the time at which it runs.
//
// Sources: hipStreamCreateWithFlags and hipStreamWaitEvent in HIP's header documentation; CUDA's "Stream
// synchronization behavior" for the legacy default stream; hipGraphLaunch and cudaGraphLaunch ("each launch is ordered
// behind both any previous work in the stream and any previous launches of the executable graph"); catch/unit/stream
// and catch/unit/event for queries.
#include <algorithm>
#include <cassert>

#include "model/runtime.h"

namespace model {

// Work of the legacy default stream waits for all blocking streams of its device, and their work waits for that stream.
void Runtime::order_with_null_stream(const Stream& stream, Clock* before) {
  if (!stream.blocking()) return;
  const auto null_slot = static_cast<StreamSlot>(stream.device());
  if (stream.slot() != null_slot) {
    before->merge(queues_[null_slot].clock);
    return;
  }
  for (const Queue& queue : queues_) {
    if (queue.owner != nullptr && queue.owner->blocking() && queue.owner->device() == stream.device()) {
      before->merge(queue.clock);
    }
  }
}

Clock Runtime::comes_before(const Stream& stream, const Clock* also_after) {
  Clock before = queues_[stream.slot()].clock;
  before.merge(host_);
  if (also_after != nullptr) before.merge(*also_after);
  order_with_null_stream(stream, &before);
  return before;
}

Status Runtime::push(Stream& stream, Work work, const Clock* also_after, std::uint64_t positions) {
  if (fault_) return sticky();
  Queue& queue = queues_[stream.slot()];
  Clock before = comes_before(stream, also_after);
  queue.clock = before;
  queue.enqueued += positions;
  queue.clock.raise(stream.slot(), queue.enqueued);
  ++now_;
  queue.pending.push_back({++operations_, stream.slot(), queue.enqueued, std::move(before), std::move(work)});
  if (queue.pending.size() > kMaxPending) {
    Clock oldest = queue.pending.front().before;
    oldest.raise(stream.slot(), queue.pending.front().position);
    drain(oldest);
  }
  return Status::kSuccess;
}

Status Runtime::enqueue(Stream& stream, NodeParams params) {
  if (fault_) return sticky();
  Capture* capture = nullptr;
  if (const Status status = route(stream, &capture); status != Status::kSuccess) return status;
  if (capture != nullptr) return add_captured(*capture, stream, std::move(params));
  if (const Status status = validate(params, memory_); status != Status::kSuccess) return status;
  return push(stream, std::move(params), nullptr);
}

Status Runtime::launch(GraphExec& exec, Stream& stream) {
  Capture* capture = nullptr;
  if (const Status refused = route(stream, &capture); refused != Status::kSuccess) return refused;
  if (capture != nullptr) return capture_launch(*capture, stream, exec);
  objects_.visit(exec.plan()->steps.size());
  if (!fault_ && has_unloaded_kernel(*exec.plan())) return Status::kInvalidDeviceFunction;
  if (exec.plan()->structure->memory_steps.empty()) return launch_plan(exec, stream);
  if (const Status refused = check_promises(exec); refused != Status::kSuccess) return refused;
  if (const Status freed = free_promised(exec, stream); freed != Status::kSuccess) return freed;
  const Status status = launch_plan(exec, stream);
  if (status == Status::kSuccess) make_promises(*exec.plan());
  return status;
}

Status Runtime::launch_plan(GraphExec& exec, Stream& stream) {
  if (!exec.plan()->structure->event_steps.empty()) return launch_with_events(exec, stream);
  const Clock previous = exec.last_launch();
  const Status status = push(stream, GraphLaunch{exec.plan()}, &previous);
  if (status == Status::kSuccess) exec.set_last_launch(queues_[stream.slot()].clock);
  return status;
}

Status Runtime::free_async(Address base, Stream& stream) {
  if (fault_) return sticky();
  Capture* capture = nullptr;
  if (const Status refused = route(stream, &capture); refused != Status::kSuccess) return refused;
  if (capture != nullptr) return free_captured(*capture, stream, base);
  if (Reservation* range = memory_.find_reservation(base)) {
    if (range->base() != base || !range->promised) return Status::kInvalidValue;
    const Status pushed = push(stream, FreeMemory{base, range->shared_from_this()}, nullptr);
    if (pushed != Status::kSuccess) return pushed;
    range->promised = false;
    graph_memory_.erase(base);
    return Status::kSuccess;
  }
  const Allocation* found = memory_.find(base);
  if (found == nullptr || found->base != base || found->physical != 0) return Status::kInvalidValue;
  return push(stream, FreeMemory{base, nullptr}, nullptr);
}

// The record is an operation of its own, so that a query of the stream sees it.
Status Runtime::record(Event& event, Stream& stream) {
  Capture* capture = nullptr;
  if (const Status refused = route(stream, &capture); refused != Status::kSuccess) return refused;
  if (capture != nullptr) {
    if (capture->status() == CaptureStatus::kInvalidated) return Status::kStreamCaptureInvalidated;
    event.record_captured(capture->id(), capture->behind(stream.slot()));
    return sticky();
  }
  const Status status = push(stream, NodeParams{EmptyParams{}}, nullptr);
  if (status == Status::kSuccess) event.record(queues_[stream.slot()].clock, now_);
  return status;
}

// Waiting for an event that was never recorded does nothing. A later record of the event does not change the wait.
Status Runtime::wait(Stream& stream, const Event& event) {
  Capture* capture = nullptr;
  if (const Status refused = route(stream, &capture); refused != Status::kSuccess) return refused;
  if (event.capture() != 0 || (capture != nullptr && event.recorded())) return wait_captured(capture, stream, event);
  if (!event.recorded()) return sticky();
  const Clock point = event.point();
  return push(stream, NodeParams{EmptyParams{}}, &point);
}

Status Runtime::elapsed(const Event& from, const Event& to, float* milliseconds) {
  if (!from.recorded() || !to.recorded() || from.device() != to.device()) return Status::kInvalidHandle;
  if (!done(from.point()) || !done(to.point())) return Status::kNotReady;
  constexpr double kMicrosecond = 0.001;  // in milliseconds
  const double microseconds = static_cast<double>(to.time()) - static_cast<double>(from.time());
  *milliseconds = static_cast<float>(microseconds * kMicrosecond);
  return Status::kSuccess;
}

bool Runtime::done(const Clock& point) const {
  for (StreamSlot slot = 0; slot < point.size(); ++slot) {
    if (queues_[slot].completed < point.at(slot)) return false;
  }
  return true;
}

// An operation that waits for a value (hipStreamWaitValue32) is not ready until the memory or the semaphore has the
// value. Work of another stream may write the value, so that work runs first.
bool Runtime::ready(const Operation& operation) const {
  return done(operation.before) && !waits_for_value(operation);
}

bool Runtime::waits_for_value(const Operation& operation) const {
  const auto* params = std::get_if<NodeParams>(&operation.work);
  if (params == nullptr) return false;
  if (const auto* wait = std::get_if<SemaphoreWaitParams>(params)) return !satisfied(*wait);
  const auto* batch = std::get_if<BatchParams>(params);
  if (batch == nullptr) return false;
  const MemoryOperation& first = batch->operations.front();
  return first.waits && !satisfied(first, memory_);
}

// While an operation waits for a value, chooses a stream whose head is ready. Without such a stream, chooses the stream
// of the waiting operation, which would wait for ever.
StreamSlot Runtime::choose_past_wait() const {
  StreamSlot waiting = static_cast<StreamSlot>(queues_.size());
  for (StreamSlot slot = 0; slot < queues_.size(); ++slot) {
    if (queues_[slot].pending.empty()) continue;
    const Operation& head = queues_[slot].pending.front();
    if (ready(head)) return slot;
    if (waiting == queues_.size() && done(head.before)) waiting = slot;
  }
  assert(waiting < queues_.size() && "the oldest pending operation waits for no other");
  return waiting;
}

// Chooses the stream whose head runs next. Without a seed, only a head that `target` needs, lowest slot first; with a
// seed, any head that is ready.
StreamSlot Runtime::choose(const Clock& target) {
  if (options_.schedule_seed != 0) {
    std::vector<StreamSlot> heads;
    for (StreamSlot slot = 0; slot < queues_.size(); ++slot) {
      if (!queues_[slot].pending.empty() && ready(queues_[slot].pending.front())) heads.push_back(slot);
    }
    return heads.empty() ? choose_past_wait() : heads[random_.below(heads.size())];
  }
  const Clock* needed = &target;
  for (;;) {
    StreamSlot slot = 0;
    while (queues_[slot].completed >= needed->at(slot)) ++slot;  // `needed` is not done: there is such a slot
    const Operation& head = queues_[slot].pending.front();
    if (ready(head)) return slot;
    if (done(head.before)) return choose_past_wait();
    needed = &head.before;  // names earlier operations only, so the loop ends
  }
}

void Runtime::run_head(StreamSlot slot) {
  Queue& queue = queues_[slot];
  Operation operation = std::move(queue.pending.front());
  queue.pending.pop_front();
  run(operation);
  // The queue still exists: HIP forbids a host function to destroy its own stream, and the C ABI refuses such calls.
  queues_[operation.stream].completed = std::max(queues_[operation.stream].completed, operation.position);
}

void Runtime::drain(const Clock& target) {
  while (!fault_ && !done(target)) run_head(choose(target));
  if (fault_) abandon_pending();
}

// After a fault nothing runs any more. Pending operations count as completed, so that no wait lasts for ever.
void Runtime::abandon_pending() {
  for (Queue& queue : queues_) {
    queue.pending.clear();
    queue.completed = queue.enqueued;
  }
}

void Runtime::host_synchronized(const Clock& point) {
  host_.merge(point);
  // Work that was pushed before the host waited may still race with work that the host has seen finished.
  std::erase_if(ran_, [this](const Ran& ran) {
    if (ran.position > host_.at(ran.stream)) return false;
    for (const Queue& queue : queues_) {
      for (const Operation& operation : queue.pending) {
        if (race_clock(operation).at(ran.stream) < ran.position) return false;
      }
    }
    return true;
  });
}

Status Runtime::synchronize_with(const Clock& target) {
  drain(target);
  host_synchronized(target);
  return sticky();
}

Status Runtime::synchronize(Stream& stream) {
  if (const Status refused = refuse_while_capturing(stream); refused != Status::kSuccess) return refused;
  Clock target = queues_[stream.slot()].clock;
  order_with_null_stream_for_host(stream, &target);
  return synchronize_with(target);
}

// A host that waits for the null stream waits for everything that an operation of the null stream would wait for.
void Runtime::order_with_null_stream_for_host(const Stream& stream, Clock* target) {
  if (stream.id() == 0) order_with_null_stream(stream, target);
}

Status Runtime::synchronize(const Event& event) {
  if (const Status refused = refuse_captured(event); refused != Status::kSuccess) return refused;
  if (!event.recorded()) return sticky();
  const Clock point = event.point();
  return synchronize_with(point);
}

Status Runtime::synchronize_device() {
  Clock everything;
  for (const Queue& queue : queues_) everything.merge(queue.clock);
  return synchronize_with(everything);
}

Status Runtime::synchronize_device(int device) {
  Clock everything;
  for (const Queue& queue : queues_) {
    if (queue.owner != nullptr && queue.owner->device() == device) everything.merge(queue.clock);
  }
  return synchronize_with(everything);
}

Status Runtime::poll(const Clock& target) {
  if (fault_) return sticky();
  if (done(target)) {
    host_synchronized(target);
    return Status::kSuccess;
  }
  const StreamSlot slot = choose(target);
  // A query does not end a wait for a value, because the value may still be written.
  if (waits_for_value(queues_[slot].pending.front())) return Status::kNotReady;
  run_head(slot);
  if (fault_) abandon_pending();
  return fault_ ? sticky() : Status::kNotReady;
}

Status Runtime::query(Stream& stream) {
  if (const Status refused = refuse_while_capturing(stream); refused != Status::kSuccess) return refused;
  Clock target = queues_[stream.slot()].clock;
  order_with_null_stream_for_host(stream, &target);
  return poll(target);
}

Status Runtime::query(const Event& event) {
  if (const Status refused = refuse_captured(event); refused != Status::kSuccess) return refused;
  if (!event.recorded()) return sticky();
  const Clock point = event.point();
  return poll(point);
}

}  // namespace model
