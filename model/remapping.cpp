// Changes of mappings while work is in flight.
//
// The calls of virtual memory management order nothing: HIP's documentation names no wait, and the caller has to wait
// for work that uses the range (CUDA, "Virtual Memory Management": unmap when all work is complete). An operation that
// the host has not waited for and that touches a changed part is reported as a race with the host (RaceParty of
// operation 0), whether it ran before the change or runs behind it. An operation that finds nothing mapped faults.
#include <algorithm>

#include "model/runtime.h"

namespace model {
namespace {

// The first bytes that both share; empty: none.
Interval common(const Interval& of, std::span<const Interval> intervals) {
  const Interval one[] = {of};
  const std::vector<Interval> both = intersection(one, intervals);
  return both.empty() ? Interval{} : both.front();
}

}  // namespace

Status Runtime::map(Address base, std::size_t size, std::uint64_t memory) {
  if (fault_) return sticky();
  const Status mapped = virtual_memory_.map(base, size, memory);
  if (mapped == Status::kSuccess) mapping_changed({base, base + size});
  return mapped;
}

Status Runtime::unmap(Address base, std::size_t size) {
  const Status unmapped = virtual_memory_.unmap(base, size);
  if (unmapped == Status::kSuccess) mapping_changed({base, base + size});
  return unmapped;
}

Status Runtime::set_access(Address base, std::size_t size, std::span<const DeviceRight> rights) {
  if (fault_) return sticky();
  std::vector<Interval> changed;
  const Status set = virtual_memory_.set_access(base, size, rights, &changed);
  for (const Interval& part : changed) mapping_changed(part);
  return set;
}

void Runtime::mapping_changed(const Interval& part) {
  if (!options_.detect_races || fault_) return;
  for (const Ran& ran : ran_) {
    for (std::size_t i = 0; i < ran.logs.size(); ++i) {
      if (ran.position_of(i) > host_.at(ran.stream)) report_change(part, ran, i);
    }
  }
  std::erase_if(changes_, [this](const MappingChange& change) { return done(change.enqueued); });
  Clock enqueued;
  for (StreamSlot slot = 0; slot < queues_.size(); ++slot) enqueued.raise(slot, queues_[slot].enqueued);
  if (done(enqueued)) return;
  const auto same = std::ranges::find(changes_, part, &MappingChange::part);
  if (same != changes_.end()) {
    same->enqueued.merge(enqueued);
  } else {
    changes_.push_back({part, std::move(enqueued)});
  }
}

void Runtime::check_mapping_changes(const Ran& ran) {
  for (const MappingChange& change : changes_) {
    if (ran.position > change.enqueued.at(ran.stream)) continue;
    for (std::size_t i = 0; i < ran.logs.size(); ++i) report_change(change.part, ran, i);
  }
}

void Runtime::report_change(const Interval& part, const Ran& ran, std::size_t log) {
  const Interval bytes = common(part, ran.logs[log].mapped.intervals());
  if (bytes.begin == bytes.end) return;
  report({{ran.nodes[log], ran.number, !ran.logs[log].writes.empty()}, {0, 0, true}, bytes});
}

}  // namespace model
