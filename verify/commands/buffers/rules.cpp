// The rules of the commands about buffers. Moving, reading, writing and freeing wait for the devices first.
#include <fmt/format.h>

#include <map>
#include <set>

#include "verify/commands/define_rules.h"
#include "verify/commands/stream_memory/placed_memory.h"

namespace verify {

// ---- DeclareBuffer

template <>
constexpr Traits kTraits<DeclareBuffer>{kMemoryCall,   kSucceeds, kNeverRefused, kNothingSeen,
                                        kNamesDevices, kTwice,    kOnce};

static Reason check_symbol(const State& state, const DeclareBuffer& c) {
  if (c.memory != MemoryKind::kDevice) return "a variable of the device code is the device's memory";
  if (*c.symbol >= kSymbols || c.bytes > kSymbolBytes)
    return fmt::format("there are {} variables of {} bytes", kSymbols, kSymbolBytes);
  for (const auto& [id, buffer] : state.buffers()) {
    if (buffer.symbol == c.symbol && buffer.module == c.module) return fmt::format("b{} is that variable already", id);
  }
  return {};
}

static Reason check_foreign_variable(const State& state, const DeclareBuffer& c) {
  if (!c.variable) return {};
  if (c.symbol || c.memory != MemoryKind::kDevice) return "a variable of a code object takes no symbol= and no memory=";
  for (const auto& [id, buffer] : state.buffers()) {
    if (buffer.variable == c.variable) return fmt::format("b{} is that variable already", id);
  }
  return {};
}

template <>
Reason check(const State& state, const DeclareBuffer& c) {
  if (Reason reason = state.flaw_of_buffer(c.buffer, c.bytes)) return reason;
  if (Reason reason = state.flaw_of_other_memory(c.bytes)) return reason;
  if (c.symbol) {
    if (Reason reason = check_symbol(state, c)) return reason;
  }
  if (c.module) {
    if (!c.symbol) return "memory of a module is a variable, by its number";
    if (Reason reason = state.missing_module(*c.module)) return reason;
  }
  if (Reason reason = check_foreign_variable(state, c)) return reason;
  if (c.device != 0 && (c.memory != MemoryKind::kDevice || c.symbol || c.variable))
    return "memory of the host is every device's, and a variable is device 0's";
  return unknown_device(c.device);
}

template <>
Id highest_device(const DeclareBuffer& c) {
  return c.device;
}

template <>
void apply(State& state, const DeclareBuffer& c) {
  BufferState& buffer = state.change().memory.buffers[c.buffer];
  buffer = {c.bytes, c.bytes, c.memory, 0, true};
  buffer.symbol = c.symbol;
  buffer.module = c.module;
  buffer.variable = c.variable;
  buffer.device = c.device;
}

// ---- MoveBuffers

// Each repetition moves the buffers to other places than the one before.
template <>
constexpr Traits kTraits<MoveBuffers>{kMemoryCall, kSucceeds, kNeverRefused, kNothingSeen,
                                      kNoDevice,   kEachTime, kAgain};

static Reason check_moving(const State& state, const MoveBuffers& c) {
  std::set<Id> moving;
  for (const BufferMove& move : c.moves) {
    if (Reason reason = state.missing_buffer(move.buffer)) return reason;
    if (!moving.insert(move.buffer).second) return fmt::format("b{} is moved twice", move.buffer);
    if (state.buffer(move.buffer)->is_variable()) return fmt::format("b{} is a variable, which stays", move.buffer);
  }
  std::set<Id> taken;
  for (const BufferMove& move : c.moves) {
    if (!move.onto) continue;
    if (!moving.contains(*move.onto) || *move.onto == move.buffer) {
      return fmt::format("b{} can take the place of another buffer that moves in the same command", move.buffer);
    }
    if (!taken.insert(*move.onto).second) return fmt::format("two buffers would take the place of b{}", *move.onto);
    const BufferState &from = *state.buffer(move.buffer), &to = *state.buffer(*move.onto);
    if (from.memory != to.memory || from.device != to.device)
      return "buffers of different memory cannot take each other's place";
    if (from.bytes > to.capacity) return fmt::format("b{} does not fit where b{} is", move.buffer, *move.onto);
  }
  return {};
}

template <>
Reason check(const State& state, const MoveBuffers& c) {
  if (Reason reason = check_moving(state, c)) return reason;
  for (const BufferMove& move : c.moves) {
    if (state.buffer(move.buffer)->runtime_places())
      return fmt::format("where b{} is is the runtime's business", move.buffer);
  }
  return {};
}

template <>
void apply(State& state, const MoveBuffers& c) {
  StateParts& parts = state.change();
  parts.finish_all();
  std::map<Id, BufferState>& buffers = parts.memory.buffers;
  std::map<Id, std::uint64_t> capacities;
  for (const BufferMove& move : c.moves) {
    capacities[move.buffer] = move.onto ? buffers.at(*move.onto).capacity : buffers.at(move.buffer).bytes;
  }
  for (const BufferMove& move : c.moves) {
    BufferState& buffer = buffers.at(move.buffer);
    buffer.capacity = capacities.at(move.buffer);
    ++buffer.version;
  }
}

// ---- Read

template <>
constexpr Traits kTraits<Read>{kMemoryCall, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kAgain};

template <>
Reason check(const State& state, const Read& c) {
  if (Reason reason = state.missing_buffer(c.buffer)) return reason;
  if (Reason reason = not_there(state, c.buffer)) return reason;
  if (Reason reason = state.without_right(c.buffer, state.buffer(c.buffer)->device, false)) return reason;
  return holds_anything(state, c.buffer);
}

template <>
void apply(State& state, const Read&) {
  state.change().finish_all();
}

// ---- Write

template <>
constexpr Traits kTraits<Write>{kMemoryCall, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kAgain};

template <>
Reason check(const State& state, const Write& c) {
  if (Reason reason = state.missing_buffer(c.buffer)) return reason;
  const std::uint64_t bytes = state.buffer(c.buffer)->bytes;
  if (c.offset > bytes || c.data.size() > bytes - c.offset) return fmt::format("b{} has {} bytes", c.buffer, bytes);
  if (graph_memory(state, c.buffer) != nullptr) return fmt::format("b{} is written by nodes and streams", c.buffer);
  if (Reason reason = state.without_right(c.buffer, state.buffer(c.buffer)->device, true)) return reason;
  return c.data.empty() ? Reason() : holds_anything(state, c.buffer);
}

template <>
void apply(State& state, const Write& c) {
  state.change().finish_all();
  BufferState& buffer = state.change().memory.buffers.at(c.buffer);
  buffer.filled = buffer.filled || c.data.empty();
}

// ---- Free

template <>
constexpr Traits kTraits<Free>{kMemoryCall, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State& state, const Free& c) {
  if (Reason reason = state.missing_buffer(c.buffer)) return reason;
  if (state.buffer(c.buffer)->is_variable()) return fmt::format("b{} is a variable, which stays", c.buffer);
  if (state.buffer(c.buffer)->view)
    return fmt::format("b{} is a view of r{}: unmap what is mapped there", c.buffer,
                       state.buffer(c.buffer)->view->range);
  return not_there(state, c.buffer);
}

template <>
void apply(State& state, const Free& c) {
  StateParts& parts = state.change();
  parts.finish_all();
  BufferState& buffer = parts.memory.buffers.at(c.buffer);
  buffer.unfreed = false;
  buffer.freed_by_program = true;
  if (buffer.graph) {
    parts.streams.give_work(kNullStream, {}, {});  // hipFree leaves work there, which is not documented
  } else {
    buffer.alive = false;
  }
}

template struct Rules<DeclareBuffer>;
template struct Rules<MoveBuffers>;
template struct Rules<Read>;
template struct Rules<Write>;
template struct Rules<Free>;

}  // namespace verify
