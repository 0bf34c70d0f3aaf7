// How the commands about events are written as HIP calls (verify/commands/export.h).
#include "verify/commands/export.h"

#include <fmt/format.h>

#include "verify/export/exporter.h"

namespace verify {

template <>
void export_command(Exporter& out, const DeclareEvent& c) {
  const std::string event = fmt::format("v{}", c.event);
  out.needs().declare("hipEvent_t", event);
  const char* release = c.release == EventRelease::kDevice   ? " | hipEventReleaseToDevice"
                        : c.release == EventRelease::kSystem ? " | hipEventReleaseToSystem"
                                                             : "";
  out.text().on_device(c.device, [&] {
    out.call(fmt::format("hipEventCreateWithFlags(&{}, {}{}{})", event,
                         c.timing ? "hipEventDefault" : "hipEventDisableTiming",
                         c.blocking ? " | hipEventBlockingSync" : "", release));
  });
}

template <>
void export_command(Exporter& out, const RecordEvent& c) {
  out.call(fmt::format("hipEventRecord(v{}, {})", c.event, stream_name(c.stream)));
}

template <>
void export_command(Exporter& out, const WaitEvent& c) {
  out.call(fmt::format("hipStreamWaitEvent({}, v{}, 0)", stream_name(c.stream), c.event));
}

template <>
void export_command(Exporter& out, const Elapsed& c) {
  const std::string milliseconds = fmt::format("milliseconds{}", out.text().number(LocalKind::kCapture));
  out.text().line(fmt::format("float {} = 0;", milliseconds));
  out.call(fmt::format("hipEventElapsedTime(&{}, v{}, v{})", milliseconds, c.from, c.to));
}

template void export_family(EventsCommands, Exporter&, const Command&);

}  // namespace verify
