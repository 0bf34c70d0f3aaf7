// The order that event nodes create, and launches of graphs with event nodes; the contract is in the header.
#include "model/event_order.h"

#include <algorithm>
#include <memory>

#include "model/runtime.h"

namespace model {
namespace {

bool at_or_before(const Reachability& reachability, StepIndex a, StepIndex b) {
  return a == b || reachability.reaches(a, b);
}

ObjectId event_of(const NodeParams& params) {
  if (const auto* record = std::get_if<EventRecordParams>(&params)) return record->event;
  return std::get<EventWaitParams>(params).event;
}

}  // namespace

EventOrder::EventOrder(const Plan& plan, Clock base, const std::function<const Event&(ObjectId)>& find)
    : groups_(plan.steps.size()), clocks_{std::move(base)}, which_(plan.steps.size(), 0) {
  for (const StepIndex step : plan.structure->event_steps) {
    if (type_of(plan.steps[step].params) == NodeType::kEventRecord) records_.push_back(step);
  }
  place_steps(plan);
  wait(plan, find);
}

// For each step, walks the records from the last one back while they come after the step. The step belongs to the last
// record reached. Where reachability is unknown, no step is known to come before a record.
void EventOrder::place_steps(const Plan& plan) {
  std::ranges::fill(groups_, records_.size());
  const Reachability& reachability = plan.structure->reachability;
  if (!reachability.known()) return;
  for (StepIndex step = 0; step < groups_.size(); ++step) {
    std::uint64_t& group = groups_[step];
    while (group > 0 && at_or_before(reachability, step, records_[group - 1])) --group;
  }
}

void EventOrder::wait(const Plan& plan, const std::function<const Event&(ObjectId)>& find) {
  const Reachability& reachability = plan.structure->reachability;
  std::vector<StepIndex> waits;
  for (const StepIndex step : plan.structure->event_steps) {
    if (type_of(plan.steps[step].params) != NodeType::kEventWait) continue;
    const Event& event = find(event_of(plan.steps[step].params));
    const bool own = reachability.known() && std::ranges::any_of(records_, [&](StepIndex record) {
                       return event_of(plan.steps[record].params) == event.id() && reachability.reaches(record, step);
                     });
    if (own || !event.recorded() || event.capture() != 0) continue;
    waits.push_back(step);
    waited_.merge(event.point());
  }
  if (waits.empty() || !reachability.known()) return;
  std::map<std::vector<StepIndex>, std::uint32_t> clock_of;  // key: the waits that a step comes after
  for (StepIndex step = 0; step < which_.size(); ++step) {
    std::vector<StepIndex> behind;
    std::ranges::copy_if(waits, std::back_inserter(behind),
                         [&](StepIndex wait) { return at_or_before(reachability, wait, step); });
    if (behind.empty()) continue;
    const auto [found, fresh] = clock_of.emplace(behind, static_cast<std::uint32_t>(clocks_.size()));
    if (fresh) {
      Clock clock = clocks_.front();
      for (const StepIndex wait : behind) clock.merge(find(event_of(plan.steps[wait].params)).point());
      clocks_.push_back(std::move(clock));
    }
    which_[step] = found->second;
  }
}

// Returns the clock that an operation is certainly ordered after; the operation may run later still.
const Clock& Runtime::race_clock(const Operation& operation) {
  const auto* launch = std::get_if<GraphLaunch>(&operation.work);
  return launch != nullptr && launch->events != nullptr ? launch->events->base() : operation.before;
}

void Runtime::record_events(const EventOrder& order, const Plan& plan, StreamSlot stream, std::uint64_t first) {
  for (std::uint64_t k = 0; k < order.records().size(); ++k) {
    const StepIndex step = order.records()[k];
    Clock point = order.before(step);
    point.raise(stream, first + k);
    find_event(event_of(plan.steps[step].params))->record(std::move(point), now_ + step + 1);
  }
  now_ += plan.steps.size();
}

// A launch with a node whose event was destroyed answers kInvalidHandle, as every other use of such an event does.
Status Runtime::launch_with_events(GraphExec& exec, Stream& stream) {
  if (fault_) return sticky();
  const std::shared_ptr<const Plan> plan = exec.plan();
  for (const StepIndex step : plan->structure->event_steps) {
    if (find_event(event_of(plan->steps[step].params)) == nullptr) return Status::kInvalidHandle;
  }
  const auto order =
      std::make_shared<const EventOrder>(*plan, comes_before(stream, &exec.last_launch()),
                                         [this](ObjectId event) -> const Event& { return *find_event(event); });
  Clock after = exec.last_launch();
  after.merge(order->waited());
  const Status status = push(stream, GraphLaunch{plan, order}, &after, order->positions());
  if (status != Status::kSuccess) return status;
  const Queue& queue = queues_[stream.slot()];
  record_events(*order, *plan, stream.slot(), queue.enqueued - order->positions() + 1);
  exec.set_last_launch(queue.clock);
  return status;
}

}  // namespace model
