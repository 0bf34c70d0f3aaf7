// The sequential model of hip::CommandBuffer beside hip::TraceCache: the promises of a command buffer with traced
// commands about each step. No call fails, nothing is evicted, and a command stands in the buffer once.
//
// A step records when it is the first, when other commands were set, and when a move makes the ends of a copy equal (no
// setter accepts that). Otherwise it launches when no trace has changed and no buffer up to the highest number that the
// commands name has moved; else it patches. A step asks for a trace that was not asked for since the commands were set,
// for a trace with other buffers or other places than before, for every collective, and for every other trace where the
// patch failed. The answer is a hit when the trace was last used for the same buffers in the same places; patched when
// every address of the trace is known and the same buffers have moved; captured otherwise: a command that enqueued
// nothing there may enqueue something here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "hip/command_buffer.h"

namespace verify {

class CommandModel {
 public:
  struct Command {
    std::uint64_t number = 0;
    std::vector<hip::BufferIndex> buffers;  // of a copy: source, destination
    bool traced = false, known = false, empty = false, collective = false, copies = false;
  };

  void set(std::vector<Command> commands) {
    commands_ = std::move(commands);
    asked_.clear();
    others_ = true;
  }
  void forget(hip::BufferIndex buffer) {
    std::erase_if(traces_, [&](const auto& each) {
      const Where& buffers = each.second;
      return std::ranges::any_of(buffers,
                                 [&](const hip::TraceBuffer& held) { return held.identity == identity(buffer); });
    });
    ++generations_[buffer];
  }

  [[nodiscard]] hip::CommandStep step(std::span<const hip::DeviceAddress> addresses) {
    hip::CommandStep step{hip::StepDecision::kRecord, hip::StepReason::kFirst};
    hip::BufferIndex named = 0;
    for (const Command& command : commands_) {
      for (const hip::BufferIndex buffer : command.buffers) named = std::max(named, buffer + 1);
    }
    const bool moved = there_ && !std::equal(addresses.begin(), addresses.begin() + named, last_.begin());
    const bool refused = there_ && !others_ && moved && onto_itself(addresses);
    std::uint64_t others = 0;
    for (const Command& command : commands_) {
      Where now;
      for (const hip::BufferIndex buffer : command.buffers) now.push_back({identity(buffer), addresses[buffer]});
      if (command.traced) others += ask(command, std::move(now), refused, step.traces);
    }
    if (there_ && others_) step.reason = hip::StepReason::kOtherCommands;
    if (refused) {
      step.reason = hip::StepReason::kPatchFailed;
    } else if (there_ && !others_) {
      step.decision = moved || others != 0 ? hip::StepDecision::kPatch : hip::StepDecision::kLaunch;
      step.reason = moved         ? hip::StepReason::kMoved
                    : others != 0 ? hip::StepReason::kTraces
                                  : hip::StepReason::kUnchanged;
      step.traces.handed_over = others;
    }
    there_ = true;
    others_ = false;
    last_.assign(addresses.begin(), addresses.end());
    return step;
  }

 private:
  using Where = std::vector<hip::TraceBuffer>;

  // Whether a copy has one address for both ends now, and had other addresses at the last step.
  [[nodiscard]] bool onto_itself(std::span<const hip::DeviceAddress> addresses) const {
    return std::ranges::any_of(commands_, [&](const Command& command) {
      if (!command.copies) return false;
      const hip::BufferIndex from = command.buffers[0], to = command.buffers[1];
      return addresses[from] == addresses[to] && (last_[from] != addresses[from] || last_[to] != addresses[to]);
    });
  }
  [[nodiscard]] std::uint64_t identity(hip::BufferIndex buffer) { return generations_[buffer] * 1000 + buffer; }
  // The number of changed child graphs: 0 or 1. `anyway`: the graph is recorded again, with every child.
  std::uint64_t ask(const Command& command, Where now, bool anyway, hip::TraceUse& use) {
    const auto before = asked_.find(command.number);
    if (!anyway && !command.collective && before != asked_.end() && before->second == now) return 0;
    asked_[command.number] = now;
    std::vector<std::uint64_t> buffers;
    for (const hip::TraceBuffer& buffer : now) buffers.push_back(buffer.identity);
    const auto kept = traces_.find({command.number, buffers});
    const bool same = kept != traces_.end() && kept->second == now;
    const bool patched = kept != traces_.end() && !same && command.known && !command.empty;
    ++(same ? use.hits : patched ? use.patched : use.captured);
    traces_[{command.number, std::move(buffers)}] = std::move(now);
    return same || command.empty ? 0 : 1;
  }

  std::vector<Command> commands_;
  std::map<hip::BufferIndex, std::uint64_t> generations_;
  std::map<std::pair<std::uint64_t, std::vector<std::uint64_t>>, Where> traces_;
  std::map<std::uint64_t, Where> asked_;  // since the commands were set
  hip::AddressTable last_;
  bool there_ = false, others_ = false;
};

}  // namespace verify
