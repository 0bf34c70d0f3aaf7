#include "verify/export/captures.h"

#include <fmt/format.h>

namespace verify {

void ReproducerCaptures::captured(const State& before, const State& after, Id stream) {
  const CaptureState* capture = after.capture_of(stream);
  const CaptureState* old = before.capture_of(stream);
  if (capture == nullptr || old == nullptr || capture->graph.nodes.size() == old->graph.nodes.size()) return;
  GraphNames& open = names(*capture);
  open.nodes.push_back(fmt::format("c{}_n{}", capture->serial, capture->graph.nodes.back().id));
  if (!asks_for_handles_) return;
  text_.need(HelperFunction::kCaptured);
  text_.line(
      fmt::format("[[maybe_unused]] hipGraphNode_t {} = last_captured({});", open.nodes.back(), stream_name(stream)));
}

void ReproducerCaptures::abandon(const State& after) {
  for (const CaptureState& capture : after.captures()) {
    const std::string left = fmt::format("left{}", text_.number(LocalKind::kCapture));
    text_.line(fmt::format("hipGraph_t {} = nullptr;", left));
    text_.line(fmt::format(
        "(void){};", text_.on_thread(capture.thread,
                                     fmt::format("hipStreamEndCapture({}, &{})", stream_name(capture.origin), left))));
  }
}

}  // namespace verify
