// The part of verify::State that is about stream capture, internal to verify/program. capture_state.h has the rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verify/program/state.h"

namespace verify {

// Why a command about captures or queries may not stand here, or nothing; nothing for every other command.
[[nodiscard]] std::optional<std::string> check_capture_command(const State& state, const Command& command);
// Why a command of any kind may not stand while a stream captures, or nothing. What waits for the device or changes
// memory would be refused by HIP in the middle of several calls; `unsafe`, `sync` and `query` stand for it.
[[nodiscard]] std::optional<std::string> check_during_capture(const State& state, const Command& command);

void invalidate_captures(std::vector<CaptureState>& captures, const CaptureAnswer& answer);
// The effects of a command that HIP answers with `status` on captures. Whether that was all there is to it.
bool apply_capture(State& state, const Command& command, int status);
// Adds the next node of a stream, which is of that device, to its capture, with id and dependencies and nothing else,
// as the last one of its graph. Null when the stream takes part in no capture.
[[nodiscard]] CaptureState* push_captured_node(std::vector<CaptureState>& captures, Id stream, Id device);

}  // namespace verify
