// The nodes of captures in a reproducer: which variables they have while their capture is open.
//
// A file that uses handles of captured nodes asks the runtime for them after each call that captures.
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

  // Called after a call that may have added a node to a capture.
  void captured(const State& before, const State& after, Id stream);
  // The variables of an open capture's nodes, in the order in which the nodes were captured.
  [[nodiscard]] GraphNames& names(const CaptureState& capture) { return open_[capture.serial]; }
  // Ends the captures that are still open, with any status: the file reads memory after that.
  void abandon(const State& after);

 private:
  ReproducerText& text_;
  bool asks_for_handles_;
  std::map<std::uint64_t, GraphNames> open_;  // by the serial of a capture
};

}  // namespace verify
