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

// A program runs up to a hundred times: a pattern over as much memory as run_short() takes would need seconds.
static bool fills_too_much(const State& state, const Command& command) {
  constexpr std::uint64_t kMostFilled = 1 << 20;
  const auto* write = std::get_if<Write>(&command);
  return write != nullptr && write->data.empty() && state.buffer(write->buffer)->bytes > kMostFilled;
}

bool Draft::may_stand(const Command& command) const {
  return !state_.check(command) && !fills_too_much(state_, command) &&
         !(options_.avoid && options_.avoid(state_, command, thread_));
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
  const std::vector<Id> modules = state_.live_modules();
  if (!modules.empty() && choices_.percent(40)) {
    make_symbol(command, pick(modules));
  } else if (swarm_.symbols && choices_.percent(50)) {
    make_symbol(command, {});
  }
  if (swarm_.devices && choices_.percent(50)) command = {command.buffer, command.bytes, MemoryKind::kDevice, {}, 1};
  if (take(command)) ++next_.buffer;
}

// Makes the buffer the first variable of the module, or of the code that is always there, that no buffer is yet, where
// there is one.
void Draft::make_symbol(DeclareBuffer& command, std::optional<Id> module) const {
  DeclareBuffer symbol{command.buffer, std::min(command.bytes, kSymbolBytes), MemoryKind::kDevice, 0, 0, module};
  for (std::uint32_t n = 0; n < kSymbols && state_.check(symbol); ++n) symbol.symbol = n + 1;
  if (!state_.check(symbol)) command = symbol;
}

void Draft::move() {
  std::vector<Id> buffers = alive(state_.buffers());
  std::erase_if(buffers, [this](Id id) { return state_.buffer(id)->is_variable(); });
  if (buffers.empty()) return;
  MoveBuffers command;
  const std::uint64_t draw = choices_.below(100);
  if (draw < 40) {
    command.moves = {{pick(buffers), {}}};
  } else if (draw < 60) {
    for (const Id id : buffers) {
      if (choices_.percent(50)) command.moves.push_back({id, {}});
    }
  } else {
    rotate(buffers, command, draw < 85 ? 2 : choices_.between(2, 4), draw >= 95);
  }
  if (!command.moves.empty()) take(command, choices_.percent(5) ? 2 : 1);
}

// Moves buffers to each other's places in a ring; in an open chain the last one moves to a new place.
void Draft::rotate(std::vector<Id> buffers, MoveBuffers& command, std::uint64_t length, bool open) {
  std::vector<Id> ring;
  while (ring.size() < length && !buffers.empty()) {
    const std::size_t at = choices_.below(buffers.size());
    ring.push_back(buffers[at]);
    buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (ring.size() < 2) return;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const bool last = i + 1 == ring.size();
    BufferMove move{ring[i], ring[(i + 1) % ring.size()]};
    if (last && open) move.onto.reset();
    command.moves.push_back(move);
  }
}

// Frees a buffer, and mostly declares a new one that can get its address. A cache keyed by address confuses the two.
void Draft::free_buffer() {
  const std::vector<Id> buffers = alive(state_.buffers());
  if (buffers.size() < 3) return;
  const Id victim = pick(buffers);
  const std::uint64_t bytes = state_.buffer(victim)->bytes;
  const Id device = state_.buffer(victim)->device;
  for (const auto& [id, exec] : state_.execs()) {
    if (exec.alive && exec.graph.addresses.contains(victim) && !choices_.percent(10)) return;
  }
  if (take(Free{victim}) && choices_.percent(70)) {
    if (take(DeclareBuffer{next_.buffer, bytes, MemoryKind::kDevice, {}, device})) ++next_.buffer;
  }
}

}  // namespace verify
