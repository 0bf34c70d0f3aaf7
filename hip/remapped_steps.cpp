// The steps of hip::RemappedBuffers; its mappings are in remapped_buffers.cpp.
#include <cassert>
#include <utility>

#include "hip/device_scope.h"
#include "hip/remapped_buffers.h"

namespace hip {
namespace {

// Whether work on `stream` comes behind work that was given to `earlier`; each thread has a hipStreamPerThread.
bool in_order(const std::optional<StreamRef>& earlier, const StreamRef& stream) {
  return earlier == stream && stream.handle() != hipStreamPerThread;
}

}  // namespace

RemappedBuffers::Set& RemappedBuffers::set_before(State& state) const {
  return state.sets[(state.next + 1) % kSets];
}

// A launch without an event, on another stream: the host waits for it before the step changes anything.
Status RemappedBuffers::wait_for_unmarked(State& state, const StreamRef& stream) const {
  Set& earlier = set_before(state);
  if (!earlier.unmarked || in_order(earlier.stream, stream)) return {};
  return wait(state, earlier,
              {"the launch of the step before, without an event behind it,", "nothing was changed", "call again"});
}

// Puts the step behind the earlier one. If the stream cannot wait for that, the host does.
Status RemappedBuffers::order_behind(State& state, const StreamRef& stream) const {
  Set& earlier = set_before(state);
  if (!earlier.in_flight || in_order(earlier.stream, stream)) return {};
  assert(!earlier.unmarked);
  Status behind = stream.wait(*earlier.done);
  if (behind) return behind;
  const Status waited =
      wait(state, earlier, {"the launch of the step before", "this step was not launched", "call again"});
  if (!waited) return both(std::move(behind), waited);
  options_.errors(behind);
  return {};
}

// Records the event behind the step's work. If that fails, waits for the work.
Status RemappedBuffers::mark(State& state, Set& set, const StreamRef& stream) const {
  Status marked = set.done->record(stream);
  set.stream = stream;
  set.in_flight = true;
  set.unmarked = !marked;
  if (marked) return {};
  const Status waited = wait(state, set,
                             {"the launch of this step, without an event behind it,", "its work goes on",
                              "do not launch this step again: the next steps wait for it"});
  if (!waited) return both(std::move(marked), waited);
  options_.errors(marked);
  return {};
}

// The next step takes the other set, also after a failure: part of the work may be under way.
Status RemappedBuffers::launch(State& state, const StreamRef& stream, RemappedWork& work) const {
  const std::size_t used = std::exchange(state.next, (state.next + 1) % kSets);
  Set& set = state.sets[used];
  Status done;
  try {
    done = work.launch(used, stream);
  } catch (...) {
    options_.errors(mark(state, set, stream));
    throw;
  }
  return both(std::move(done), mark(state, set, stream));
}

// Every rank comes to the round, also one that failed.
Status RemappedBuffers::agree(Status mine, const char* otherwise) const {
  if (options_.ranks == nullptr) return mine;
  const Result<bool> all = options_.ranks->all(mine.ok());
  if (!mine) return mine;
  if (!all) return all.error();
  if (!all.value()) return Error{hipErrorNotReady, otherwise};
  return {};
}

Status RemappedBuffers::map_and_record(State& state, Set& set, std::span<const PhysicalMemory> memories,
                                       RemappedWork& work, RemappedStep& outcome) const {
  Status ready = prepare(state, set);
  if (ready) ready = remap(state, set, memories);
  if (!ready || set.recorded) return ready;
  try {
    ready = work.record(outcome.set, set.addresses);
  } catch (...) {
    (void)agree(Error{hipErrorUnknown, "recording threw an exception"}, "");
    throw;
  }
  if (!ready) return ready;
  set.recorded = outcome.recorded = true;
  ++state.counts.recorded;
  return {};
}

Result<RemappedStep> RemappedBuffers::step(std::span<const PhysicalMemory> memories, const StreamRef& stream,
                                           RemappedWork& work) {
  assert(stream.device() == options_.device && &stream.api() == &api_);
  const sync::LockGuard lock(mutex_);
  State& state = state_.write();
  RemappedStep outcome{.set = state.next};
  Set& set = state.sets[outcome.set];
  Status ready = ask_granularity(state);
  if (ready) ready = check(state, memories);
  const Result<DeviceScope> scope = ready ? DeviceScope::enter(api_, options_.device, options_.errors) : ready.error();
  if (!scope) ready = scope.error();
  if (ready)
    ready = wait(state, set, {"the launch of two steps ago on these addresses", "nothing was changed", "call again"});
  if (ready) ready = wait_for_unmarked(state, stream);
  ready =
      agree(std::move(ready), "another rank is not ready for the step, and nothing was changed; take the step again");
  if (!ready) return ready.error();
  ready = map_and_record(state, set, memories, work, outcome);
  if (ready) ready = order_behind(state, stream);
  const bool mine = ready.ok();
  ready = agree(std::move(ready),
                "another rank could not map its memory or record, so nothing was launched; "
                "take the step again");
  if (mine && !ready) ready = both(std::move(ready), put_back(state, set));
  if (!ready) return ready.error();
  if (const Status launched = launch(state, stream, work); !launched) return launched.error();
  ++state.counts.steps;
  return outcome;
}

}  // namespace hip
