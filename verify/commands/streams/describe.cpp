// The events of the commands about streams whose fields do not describe them.
#include "verify/quirks/event_emitter.h"

namespace verify {

bool describe_events(EventEmitter& out, const DeclareStream& /*command*/) {
  out.set_op("stream");
  return out.emit();
}

bool describe_events(EventEmitter& out, const Enqueue& c) {
  if (c.by_hand) return out.added_to_capture(c.stream, c.params);
  out.set_op("on");
  out.stream(c.stream);
  out.set(k_host_waits, c.wait);
  if (c.cooperative) out.set(k_cooperative, true);
  if (const auto* kernel = std::get_if<KernelParams>(&c.params)) out.set(k_by_symbol, kernel->by_symbol);
  if (const auto* copy = std::get_if<CopyParams>(&c.params)) {
    const auto away = [&, own = out.state.device_of_stream(c.stream)](const CopyEnd& end) {
      return on_device(out.state, end) && device_of(out.state, end.ref) != own;
    };
    out.set(k_end_off_stream_device, away(copy->dst) || away(copy->src));
  }
  if (const CaptureState* capture = out.state.capture_of(c.stream))
    out.set(k_dependencies, capture->behind.at(c.stream).size());
  return out.node(c.params, nullptr, nullptr, 0);
}

}  // namespace verify
