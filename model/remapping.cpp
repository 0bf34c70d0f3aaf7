// Changes of mappings while work is in flight.
//
// The calls of virtual memory management order nothing: HIP's documentation names no wait, and the caller has to wait
// for work that uses the range (CUDA, "Virtual Memory Management": unmap when all work is complete). An operation that
// the host has not waited for and that touches a changed part is reported as a race with the host (RaceParty of
// operation 0), whether it ran before the change or runs behind it: once for each operation and address, however many
// changes there are. A change of a right concerns the operations of that device, and copies of memory that is the
// device's. An operation that finds nothing mapped faults.
//
// Not modelled: a stream that waits for a value in memory (hipStreamWaitValue32), which the host writes behind its
// change of the mapping. That orders the two, but the work behind the wait is reported all the same.
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
  if (mapped == Status::kSuccess) mapping_changed({{base, base + size}, {}, 0});
  return mapped;
}

Status Runtime::unmap(Address base, std::size_t size) {
  const Status unmapped = virtual_memory_.unmap(base, size);
  if (unmapped == Status::kSuccess) mapping_changed({{base, base + size}, {}, 0});
  return unmapped;
}

Status Runtime::set_access(Address base, std::size_t size, std::span<const DeviceRight> rights) {
  if (fault_) return sticky();
  std::vector<MappingPart> changed;
  const Status set = virtual_memory_.set_access(base, size, rights, &changed);
  for (const MappingPart& part : changed) mapping_changed(part);
  return set;
}

void Runtime::mapping_changed(const MappingPart& part) {
  if (!options_.detect_races || fault_) return;
  for (Ran& ran : ran_) {
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

void Runtime::check_mapping_changes(Ran& ran) {
  for (const MappingChange& change : changes_) {
    if (ran.position > change.enqueued.at(ran.stream)) continue;
    for (std::size_t i = 0; i < ran.logs.size(); ++i) report_change(change.part, ran, i);
  }
}

// Names the first bytes that the operation wrote, or else those that it read. The log forgets the part, so that it is
// reported once.
void Runtime::report_change(const MappingPart& part, Ran& ran, std::size_t log) {
  IntervalSet& reads = ran.logs[log].mapped_reads;
  IntervalSet& writes = ran.logs[log].mapped_writes;
  const Interval written = common(part.addresses, writes.intervals());
  const bool wrote = written.begin != written.end;
  const Interval bytes = wrote ? written : common(part.addresses, reads.intervals());
  if (bytes.begin == bytes.end || !part.concerns(ran.by[log].device, ran.by[log].copy)) return;
  report({{ran.nodes[log], ran.number, wrote}, {0, 0, true}, bytes});
  reads.remove(part.addresses.begin, part.addresses.end);
  writes.remove(part.addresses.begin, part.addresses.end);
}

}  // namespace model
