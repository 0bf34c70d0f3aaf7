// What State knows of stream capture: HIP's rules, written down a second time beside the model's and sharing nothing
// with them, over symbolic streams and nodes.
//
// State::answer() says what HIP answers to a command where the rules of capture decide it, and which captures the
// command makes invalid. Property P7 holds every runtime against it, the model included. The rules are those of the
// documentation of hipStreamBeginCapture and its neighbours, and of CUDA's where that is silent:
//
//   a stream of a capture          work becomes nodes; querying and waiting are refused and invalidate
//   the legacy null stream         refused while a blocking stream captures (implicit), which invalidates
//   an unsafe call, waiting for    refused by captures of the calling thread that are not relaxed, and by global ones
//   or asking another stream or    of others, unless the caller's mode is another; invalidates those
//   an event
//   synchronising with the device  refused while anything captures; invalidates everything
//   an event recorded in a capture pulls a waiting stream into it; cannot be queried or waited for by the host, even
//                                  when the capture is over; merges no captures; nothing outside is waited for inside
//   ending                         on the origin, by the thread that began (unless relaxed), valid, everything joined
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "verify/program/program.h"

namespace verify {

// The numbers of hipError_t that the rules answer.
enum CaptureStatusCode : int {
  kAnswerSuccess = 0,
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

}  // namespace verify
