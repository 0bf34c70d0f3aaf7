// The events of the commands about the memory of streams whose fields do not describe them.
#include "verify/quirks/event_emitter.h"

namespace verify {

bool describe_events(EventEmitter& out, const MallocAsync& c) {
  if (c.by_hand) return out.added_to_capture(c.stream, MemoryAllocParams{c.buffer, c.bytes});
  out.set_op("malloc_async");
  out.stream(c.stream);
  out.set(k_from_pool, c.pool.has_value());
  out.set(k_fits, out.state.parts().memory.room_for(c.bytes) != Room::kNone);
  const auto given_again = [&](bool allocated_here) {
    return std::ranges::count_if(out.state.buffers(), [&](const auto& entry) {
      const BufferState& freed = entry.second;
      return freed.given_again_on.contains(c.stream) && (freed.allocated_on == c.stream) == allocated_here &&
             *freed.freed_on != c.stream && out.state.work_races({{entry.first, 0, kToTheEnd, true}}, c.stream);
    });
  };
  out.set(k_freed_by_other_stream, given_again(true));
  out.set(k_freed_after_waited_event, given_again(false));
  return out.emit();
}

bool describe_events(EventEmitter& out, const FreeAsync& c) {
  if (c.by_hand) return out.added_to_capture(c.stream, MemoryFreeParams{c.buffer});
  out.set_op("free_async");
  out.stream(c.stream);
  return out.about_buffer(c.buffer);
}

}  // namespace verify
