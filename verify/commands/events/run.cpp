// How commands about events run.
#include "hip/errors.h"
#include "verify/run/run_command.h"

namespace verify {

static unsigned flags_of(const DeclareEvent& c) {
  const unsigned release = c.release == EventRelease::kDevice   ? hipEventReleaseToDevice
                           : c.release == EventRelease::kSystem ? hipEventReleaseToSystem
                                                                : 0U;
  return (c.timing ? 0U : hipEventDisableTiming) | (c.blocking ? hipEventBlockingSync : 0U) | release;
}

template <>
hip::Status run_command(Run& run, const DeclareEvent& c) {
  const hip::Api& api = run.context.api;
  hipEvent_t event = nullptr;
  hip::Status status =
      on_device(api, c.device, [&] { return hip::call<&hip::Api::hipEventCreateWithFlags>(api, &event, flags_of(c)); });
  if (status) run.events[c.event] = event;
  return status;
}

template <>
hip::Status run_command(Run& run, const RecordEvent& c) {
  if (!run.events.contains(c.event) || !run.has_stream(c.stream)) return missing_object();
  return hip::call<&hip::Api::hipEventRecord>(run.context.api, run.events.at(c.event), run.stream(c.stream));
}

template <>
hip::Status run_command(Run& run, const WaitEvent& c) {
  if (!run.events.contains(c.event) || !run.has_stream(c.stream)) return missing_object();
  return hip::call<&hip::Api::hipStreamWaitEvent>(run.context.api, run.stream(c.stream), run.events.at(c.event), 0);
}

template <>
hip::Status run_command(Run& run, const Elapsed& c) {
  run.graph_memory.show_live();
  const hip::Api& api = run.context.api;
  if (api.hipEventElapsedTime == nullptr) return run.unsupported("hipEventElapsedTime");
  const auto from = run.events.find(c.from), to = run.events.find(c.to);
  if (from == run.events.end() || to == run.events.end()) return missing_object();
  float milliseconds = 0;
  return hip::call<&hip::Api::hipEventElapsedTime>(api, &milliseconds, from->second, to->second);
}

template struct FamilyRun<EventsCommands>;

}  // namespace verify
