// The captures of a program, over symbolic streams and nodes. HIP's rules of stream capture are written down here a
// second time, beside the model's, and share nothing with them.
//
// State::answer() gives HIP's answer to a command where the rules of capture decide it, and the captures that the
// command makes invalid. Property P7 compares every runtime with it, the model included. The rules come from the
// documentation of hipStreamBeginCapture and its neighbours, and from CUDA's where HIP's documentation is silent:
//
//   a stream of a capture          work becomes nodes; querying and waiting are refused and invalidate
//   the legacy null stream         refused while a blocking stream captures (implicit), which invalidates
//   an unsafe call, waiting for    refused by captures of the calling thread that are not relaxed, and by global
//   or asking another stream or    captures of other threads if the caller's mode is global too; invalidates them
//   an event
//   synchronising with the device  refused while anything captures; invalidates everything
//   an event recorded in a capture pulls a waiting stream into it; cannot be queried or waited for by the host, even
//                                  when the capture is over; merges no captures; a capture waits for nothing outside
//   ending                         on the origin, by the thread that began it (unless relaxed), valid, all work joined
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "verify/commands/captures/captures.h"
#include "verify/program/graph_state.h"

namespace verify {

// The numbers of hipError_t that the rules answer.
enum CaptureStatusCode : int {
  kAnswerSuccess = 0,
  kAnswerOutOfMemory = 2,
  kAnswerInvalidHandle = 400,
  kAnswerIllegalState = 401,
  kAnswerUnsupported = 900,
  kAnswerInvalidated = 901,
  kAnswerMerge = 902,
  kAnswerUnmatched = 903,
  kAnswerUnjoined = 904,
  kAnswerIsolation = 905,
  kAnswerImplicit = 906,
  kAnswerCapturedEvent = 907,
  kAnswerWrongThread = 908,
};

struct CaptureAnswer {
  int status = kAnswerSuccess;
  std::vector<std::uint64_t> invalidates;  // serials of captures
};

// A capture that has begun and not ended.
struct CaptureState {
  std::uint64_t serial = 0;  // from 1
  Id origin = 0;
  CaptureMode mode = CaptureMode::kGlobal;
  Id thread = 0;  // the thread that began it
  std::optional<Id> into;
  bool valid = true;
  GraphState graph;                                 // the graph after the capture; with `into`, its old nodes too
  std::map<Id, std::vector<std::uint32_t>> behind;  // stream -> dependencies of its next node, by index
  std::vector<std::uint32_t> taken_out;             // nodes that capture_after replaced: they need not be joined
  bool taken_from_side = false;                     // some of `taken_out` are nodes of another stream than the origin

  // Whether the origin's last nodes come behind all nodes of other streams, except `taken_out`.
  [[nodiscard]] bool all_joined() const;
};

struct CapturesState {
  std::vector<CaptureState> open;
  std::uint64_t begun = 0, failed = 0;
  std::map<Id, CaptureMode> modes;  // the modes that threads chose

  // The capture that the stream takes part in, or null.
  [[nodiscard]] const CaptureState* of_stream(Id stream) const;
  [[nodiscard]] CaptureState* of_stream(Id stream);
  // An open capture, or null.
  [[nodiscard]] const CaptureState* with_serial(std::uint64_t serial) const;
  [[nodiscard]] CaptureState* with_serial(std::uint64_t serial);
  [[nodiscard]] CaptureMode mode_of(Id thread) const;

  void invalidate(const std::vector<std::uint64_t>& serials);
  void close(std::uint64_t serial);
  // Adds the next node of a stream of `device` to the stream's capture, as the last node of the captured graph. It has
  // no parameters yet. Null when the stream takes part in no capture.
  [[nodiscard]] CaptureState* push_node(Id stream, Id device);
};

// Adds indices to a sorted list, in which each index occurs once.
void add_sorted(std::vector<std::uint32_t>& into, const std::vector<std::uint32_t>& more);

}  // namespace verify
