#include "hip/trace_cache.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace hip {
static bool same_buffers(std::span<const TraceBuffer> one, std::span<const TraceBuffer> other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const TraceBuffer& a, const TraceBuffer& b) { return a.identity == b.identity; });
}

TraceCache::TraceCache(const TraceCacheOptions& options) : options_(options) {
  assert(options.max_traces > 0);
  cache_.write().most = options.max_traces;
}

TraceCache::~TraceCache() {
  clear();
}

std::list<TraceCache::EntryPointer>::iterator TraceCache::find(std::uint64_t command,
                                                               std::span<const TraceBuffer> buffers) {
  std::list<EntryPointer>& entries = cache_.write().entries;
  return std::ranges::find_if(entries, [&](const EntryPointer& entry) {
    return entry->command == command && same_buffers(entry->buffers, buffers);
  });
}

// Marks an entry that leaves the list as dropped, and returns its trace unless a step uses it.
std::unique_ptr<Trace> TraceCache::drop(Entry& entry) {
  entry.dropped = true;
  return entry.taken ? nullptr : std::move(entry.trace.write());
}

// Makes the decision under one lock, so that the steps behave as if they came one after the other. A step that wants a
// trace that another step uses waits for it; an entry that is evicted while a step uses it is destroyed after that
// step.
TraceCache::Taken TraceCache::take(std::uint64_t command, std::span<const TraceBuffer> buffers) {
  Taken taken;
  sync::UniqueLock lock(mutex_);
  auto found = find(command, buffers);
  std::list<EntryPointer>& entries = cache_.write().entries;
  while (found != entries.end() && (*found)->taken) {
    given_back_.wait(lock);
    found = find(command, buffers);
  }
  if (found != entries.end()) {
    entries.splice(entries.end(), entries, found);
    taken.entry = *found;
    const bool moved = !std::equal(buffers.begin(), buffers.end(), taken.entry->buffers.begin());
    taken.outcome = moved ? TraceOutcome::kPatched : TraceOutcome::kHit;
    taken.entry->buffers.assign(buffers.begin(), buffers.end());
  } else {
    taken.entry = std::make_shared<Entry>();
    taken.entry->command = command;
    taken.entry->buffers.assign(buffers.begin(), buffers.end());
    entries.push_back(taken.entry);
  }
  taken.entry->taken = true;
  while (entries.size() > cache_.read().most) {
    ++cache_.write().counts.evicted;
    taken.evicted.push_back(drop(*entries.front()));
    entries.pop_front();
  }
  return taken;
}

Result<bool> TraceCache::agree(bool could) {
  if (options_.ranks == nullptr) return could;
  return options_.ranks->all(could);
}

// Brings the trace to the buffers' addresses: by the fast way (hit or patch) if all ranks can, otherwise by recording.
Status TraceCache::bring(Taken& taken, std::span<const TraceBuffer> buffers, const Recorder& record) {
  std::unique_ptr<Trace>& trace = taken.entry->trace.write();
  bool could = taken.outcome != TraceOutcome::kRecorded;
  if (taken.outcome == TraceOutcome::kPatched && trace == nullptr) could = false;
  if (taken.outcome == TraceOutcome::kPatched && trace != nullptr && !trace->patch(buffers)) {
    could = false;
    const sync::LockGuard lock(mutex_);
    ++cache_.write().counts.refused;
  }
  const Result<bool> all = agree(could);
  if (!all) return all.error();
  if (all.value()) return {};
  if (could) {
    const sync::LockGuard lock(mutex_);
    ++cache_.write().counts.overruled;
  }
  taken.outcome = TraceOutcome::kRecorded;
  Result<std::unique_ptr<Trace>> fresh = recorded(buffers, record);
  if (fresh) trace = std::move(fresh).value();
  return agree_to_launch(fresh ? Status() : Status(fresh.error()));
}

// A recorder that throws has failed like any other: its peers come to the second round, so this rank does, too.
Result<std::unique_ptr<Trace>> TraceCache::recorded(std::span<const TraceBuffer> buffers, const Recorder& record) {
  try {
    return record(buffers);
  } catch (...) {
    static_cast<void>(agree_to_launch(Error{hipErrorUnknown, "the recorder threw"}));
    throw;
  }
}

// All ranks come here or none: they have agreed to record.
Status TraceCache::agree_to_launch(Status recorded) {
  if (options_.ranks == nullptr || !options_.agree_to_launch) return recorded;
  const Result<bool> all = options_.ranks->all(recorded.ok());
  if (!recorded) return recorded;
  if (!all) return all.error();
  if (!all.value()) return Error{hipErrorNotReady, "a peer could not record: no rank launches; try again together"};
  return {};
}

void TraceCache::give_back(const Taken& taken, bool keep) {
  std::unique_ptr<Trace> gone;  // destroyed after the lock is released
  const sync::LockGuard lock(mutex_);
  Entry& entry = *taken.entry;
  Cache& cache = cache_.write();
  entry.taken = false;
  if (!keep) {
    ++cache.counts.failed;
    if (!entry.dropped) cache.entries.remove(taken.entry);
    entry.dropped = true;
  } else {
    TraceCacheCounts& counts = cache.counts;
    ++(taken.outcome == TraceOutcome::kHit       ? counts.hits
       : taken.outcome == TraceOutcome::kPatched ? counts.patched
                                                 : counts.recorded);
  }
  if (entry.dropped) gone = std::move(entry.trace.write());
  given_back_.notify_all();
}

Result<TraceOutcome> TraceCache::execute(std::uint64_t command, std::span<const TraceBuffer> buffers,
                                         const StreamRef& stream, const Recorder& record) {
  Taken taken = take(command, buffers);
  bool keep = false;
  // Gives the trace back even if a recorder throws: otherwise a thread that waits for the trace would wait for ever.
  const auto give = [&](const Taken* mine) { give_back(*mine, keep); };
  const std::unique_ptr<const Taken, decltype(give)> giving(&taken, give);
  taken.evicted.clear();
  Status status = bring(taken, buffers, record);
  const std::unique_ptr<Trace>& trace = taken.entry->trace.read();
  if (status && trace != nullptr) status = trace->launch(stream);
  keep = status.ok();
  if (!status) return status.error();
  return taken.outcome;
}

void TraceCache::forget(std::uint64_t identity) {
  Traces gone;
  const sync::LockGuard lock(mutex_);
  cache_.write().entries.remove_if([&](const EntryPointer& entry) {
    const bool holds =
        std::ranges::any_of(entry->buffers, [&](const TraceBuffer& buffer) { return buffer.identity == identity; });
    if (holds) gone.push_back(drop(*entry));
    return holds;
  });
}

void TraceCache::clear() {
  Traces gone;
  const sync::LockGuard lock(mutex_);
  for (const EntryPointer& entry : cache_.read().entries) gone.push_back(drop(*entry));
  cache_.write().entries.clear();
}

void TraceCache::keep_at_least(std::size_t traces) {
  const sync::LockGuard lock(mutex_);
  cache_.write().most = std::max(cache_.read().most, traces);
}

std::size_t TraceCache::size() const {
  const sync::LockGuard lock(mutex_);
  return cache_.read().entries.size();
}

TraceCacheCounts TraceCache::counts() const {
  const sync::LockGuard lock(mutex_);
  return cache_.read().counts;
}

}  // namespace hip
