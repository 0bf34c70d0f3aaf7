// The nodes of captures in a reproducer: which variables they have while their capture is open.
//
// Handles of captured nodes are asked of the runtime behind each call that captures, and only in a file that uses them.
#pragma once

#include <cstdint>
#include <map>

#include "verify/export/names.h"
#include "verify/export/text.h"

namespace verify {

class ReproducerCaptures {
 public:
  // `asks_for_handles`: the file uses handles of captured nodes.
  ReproducerCaptures(ReproducerText& text, bool asks_for_handles) : text_(text), asks_for_handles_(asks_for_handles) {}

  // Stands behind a call that may have given a capture its next node.
  void captured(const State& before, const State& after, Id stream);
  // The nodes of an open capture, in the order in which they were captured.
  [[nodiscard]] GraphNames& names(const CaptureState& capture) { return open_[capture.serial]; }
  // Ends the captures that are still open, whatever that answers: memory is read behind it.
  void abandon(const State& after);

 private:
  ReproducerText& text_;
  bool asks_for_handles_;
  std::map<std::uint64_t, GraphNames> open_;  // by the serial of a capture
};

}  // namespace verify
