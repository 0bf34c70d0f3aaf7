// How the commands about streams are written as HIP calls (verify/commands/export.h).
#include "verify/commands/export.h"

#include <fmt/format.h>

#include "verify/export/exporter.h"

namespace verify {

template <>
void export_command(Exporter& out, const DeclareStream& c) {
  const std::string stream = fmt::format("s{}", c.stream);
  out.needs().declare("hipStream_t", stream);
  if (c.per_thread) return out.text().line(fmt::format("{} = hipStreamPerThread;", stream));
  const char* flags = c.non_blocking ? "hipStreamNonBlocking" : "hipStreamDefault";
  out.text().on_device(c.device, [&] {
    out.call(c.priority != 0 ? fmt::format("hipStreamCreateWithPriority(&{}, {}, {})", stream, flags, c.priority)
                             : fmt::format("hipStreamCreateWithFlags(&{}, {})", stream, flags));
  });
}

template <>
void export_command(Exporter& out, const Synchronize& c) {
  const std::string call = c.target == Target::kStream  ? fmt::format("hipStreamSynchronize({})", stream_name(c.id))
                           : c.target == Target::kEvent ? fmt::format("hipEventSynchronize(v{})", c.id)
                           : out.devices() > 1          ? "synchronize_devices()"
                                                        : "hipDeviceSynchronize()";
  out.call(out.text().on_thread(c.thread, call));
}

template <>
void export_command(Exporter& out, const Enqueue& c) {
  // Each repetition of a captured call adds another node.
  if (out.before().capture_of(c.stream) != nullptr) out.write_out_repetitions();
  if (c.by_hand) return out.add_by_hand(c.stream);
  if (const std::string flaw = ReproducerNodes::stream_flaw_of(c.params); !flaw.empty()) return out.refuse(flaw);
  out.text().on_device(out.after().device_of_stream(c.stream), [&] {
    out.nodes().enqueue(out.after(), c.params, {stream_name(c.stream), c.thread, c.wait, c.cooperative},
                        out.expected());
  });
  out.captures().captured(out.before(), out.after(), c.stream);
}

template <>
void export_command(Exporter& out, const Query& c) {
  const std::string call = c.target == Target::kEvent ? fmt::format("hipEventQuery(v{})", c.id)
                                                      : fmt::format("hipStreamQuery({})", stream_name(c.id));
  out.call(out.text().on_thread(c.thread, call));
}

template void export_family(StreamsCommands, Exporter&, const Command&);

}  // namespace verify
