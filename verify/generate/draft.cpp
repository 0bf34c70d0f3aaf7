#include "verify/generate/draft.h"

#include <algorithm>
#include <array>

#include "verify/generate/draw_fields.h"

namespace verify {

bool Draft::take(const Command& command, std::uint32_t repeat) {
  std::uint32_t times = 0;
  for (; times < repeat && may_stand(command); ++times) state_.apply(command);
  if (times != 0) program_.steps.push_back({command, times, 0});
  return times != 0;
}

bool Draft::may_stand(const Command& command) const {
  return !state_.check(command) && !(options_.avoid && options_.avoid(state_, command));
}

void Draft::by_fields(Topic topic) {
  const std::optional<Command> command = draw_by_fields(choices_, state_, next_, topic, swarm_.devices ? 2 : 1);
  if (command && take(*command)) next_.use(*command);
}

std::vector<Id> Draft::usable_buffers(const GraphState& graph) const {
  std::vector<Id> ids;
  for (const auto& [id, buffer] : state_.buffers()) {
    const auto known = graph.addresses.find(id);
    if (buffer.graph && known == graph.addresses.end()) continue;
    if (buffer.of_stream && !buffer.usable()) continue;
    if (buffer.alive && (known == graph.addresses.end() || known->second == buffer.version)) ids.push_back(id);
  }
  return ids;
}

void Draft::declare_buffer() {
  if (alive(state_.buffers()).size() >= kMaxBuffers) return;
  static constexpr std::array<std::uint64_t, 8> kSizes = {1, 64, 256, 256, 512, 1024, 1000, 4096};
  DeclareBuffer command{next_.buffer, std::min(kSizes[choices_.below(kSizes.size())], options_.max_buffer_bytes),
                        MemoryKind::kDevice};
  if (choices_.percent(18)) command.memory = choices_.percent(50) ? MemoryKind::kPinned : MemoryKind::kPageable;
  if (swarm_.unified_memory && choices_.percent(50)) {
    command.memory = choices_.percent(50) ? MemoryKind::kManaged : MemoryKind::kRegistered;
  }
  if (swarm_.symbols && choices_.percent(50)) make_symbol(command);
  if (swarm_.devices && choices_.percent(50)) command = {command.buffer, command.bytes, MemoryKind::kDevice, {}, 1};
  if (take(command)) ++next_.buffer;
}

// Makes the buffer the first variable of device code that no buffer is yet, where there is one.
void Draft::make_symbol(DeclareBuffer& command) const {
  DeclareBuffer symbol{command.buffer, std::min(command.bytes, kSymbolBytes), MemoryKind::kDevice, 0};
  for (std::uint32_t n = 0; n < kSymbols && state_.check(symbol); ++n) symbol.symbol = n + 1;
  if (!state_.check(symbol)) command = symbol;
}

}  // namespace verify
