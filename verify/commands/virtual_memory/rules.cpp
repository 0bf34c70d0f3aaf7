// The rules of the commands about virtual memory.
//
// The documentation of HIP and CUDA names no wait of any of these calls, so a program has waited for all work on a part
// of a range before it changes the part. In a capture they are allowed and make no node (neither documentation forbids
// them). A call that HIP documents as refused does not stand in a program.
#include <fmt/format.h>

#include "verify/commands/define_rules.h"

namespace verify {

namespace {

Reason missing_range(const State& state, Id id) {
  const auto found = state.ranges().find(id);
  if (found == state.ranges().end()) return fmt::format("r{} is not reserved", id);
  if (!found->second.alive) return fmt::format("the addresses of r{} were given back", id);
  return {};
}

// Why no mapping begins at a page, or nothing.
Reason no_mapping(const State& state, Id range, std::uint32_t page) {
  if (Reason reason = missing_range(state, range)) return reason;
  if (state.ranges().at(range).mappings.contains(page)) return {};
  return fmt::format("no mapping begins at page {} of r{}", page, range);
}

Reason missing_memory(const State& state, Id id) {
  const auto found = state.memories().find(id);
  if (found == state.memories().end()) return fmt::format("h{} was never created", id);
  if (!found->second.alive) return fmt::format("h{} was released", id);
  return {};
}

Reason page_outside(const State& state, Id range, std::uint64_t end) {
  const std::uint32_t pages = state.ranges().at(range).pages;
  return end <= pages ? Reason() : fmt::format("r{} has {} pages", range, pages);
}

Reason flaw_of_pages(std::uint32_t pages) {
  return pages >= 1 && pages <= kMaxPages ? Reason() : fmt::format("a range or memory has 1 to {} pages", kMaxPages);
}

// Why the mapping that begins at a page may not be changed, or nothing.
Reason no_idle_mapping(const State& state, Id range, std::uint32_t page) {
  if (Reason reason = no_mapping(state, range, page)) return reason;
  if (!state.range_in_use(range, page, state.ranges().at(range).mappings.at(page).pages)) return {};
  return fmt::format("work that nothing has waited for uses what is mapped at page {} of r{}: synchronise first", page,
                     range);
}

}  // namespace

// ---- ReserveRange

template <>
constexpr Traits kTraits<ReserveRange>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                       kNamesDevices,   kTwice,    kOnce};

template <>
Reason check(const State& state, const ReserveRange& c) {
  if (state.ranges().contains(c.range)) return fmt::format("r{} is reserved already", c.range);
  if (Reason reason = flaw_of_pages(c.pages)) return reason;
  return unknown_device(c.device);
}

template <>
Id highest_device(const ReserveRange& c) {
  return c.device;
}

template <>
void apply(State& state, const ReserveRange& c) {
  state.change().memory.mapped.ranges[c.range] = {c.pages, c.device};
}

// ---- FreeRange

template <>
constexpr Traits kTraits<FreeRange>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State& state, const FreeRange& c) {
  if (Reason reason = missing_range(state, c.range)) return reason;
  const std::map<std::uint32_t, MappingState>& mappings = state.ranges().at(c.range).mappings;
  if (mappings.empty()) return {};
  return fmt::format("memory is mapped at page {} of r{}: unmap it first", mappings.begin()->first, c.range);
}

template <>
void apply(State& state, const FreeRange& c) {
  MemoryState& memory = state.change().memory;
  memory.mapped.ranges.at(c.range).alive = false;
  for (auto& [id, buffer] : memory.buffers)
    buffer.alive = buffer.alive && !(buffer.view && buffer.view->range == c.range);
}

// ---- CreatePhysical

template <>
constexpr Traits kTraits<CreatePhysical>{kMemoryCall,   kSucceeds, kNeverRefused, kNothingSeen,
                                         kNamesDevices, kTwice,    kOnce};

template <>
Reason check(const State& state, const CreatePhysical& c) {
  if (state.memories().contains(c.memory)) return fmt::format("h{} was created already", c.memory);
  if (Reason reason = flaw_of_pages(c.pages)) return reason;
  if (state.parts().memory.left_free) return "behind device_memory no physical memory is created";
  return unknown_device(c.device);
}

template <>
Id highest_device(const CreatePhysical& c) {
  return c.device;
}

template <>
void apply(State& state, const CreatePhysical& c) {
  state.change().finish_all();
  state.change().memory.mapped.memories[c.memory] = {c.pages, c.device};
}

// ---- ReleasePhysical

template <>
constexpr Traits kTraits<ReleasePhysical>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                          kNoDevice,       kTwice,    kOnce};

template <>
Reason check(const State& state, const ReleasePhysical& c) {
  return missing_memory(state, c.memory);
}

template <>
void apply(State& state, const ReleasePhysical& c) {
  PhysicalState& memory = state.change().memory.mapped.memories.at(c.memory);
  memory.alive = --memory.handles != 0;
}

// ---- RetainMemory

template <>
constexpr Traits kTraits<RetainMemory>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                       kNoDevice,       kEachTime, kOnce};

template <>
Reason check(const State& state, const RetainMemory& c) {
  return no_mapping(state, c.range, c.page);
}

template <>
void apply(State& state, const RetainMemory& c) {
  VirtualState& mapped = state.change().memory.mapped;
  PhysicalState& memory = mapped.memories.at(mapped.ranges.at(c.range).mappings.at(c.page).memory);
  ++memory.handles;
  memory.alive = true;
}

// ---- MapMemory

template <>
constexpr Traits kTraits<MapMemory>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State& state, const MapMemory& c) {
  if (Reason reason = missing_range(state, c.range)) return reason;
  if (Reason reason = missing_memory(state, c.memory)) return reason;
  const PhysicalState& memory = state.memories().at(c.memory);
  if (memory.device != state.ranges().at(c.range).device)
    return fmt::format("r{} is reserved for memory of device {}, and h{} is device {}'s", c.range,
                       state.ranges().at(c.range).device, c.memory, memory.device);
  if (Reason reason = page_outside(state, c.range, std::uint64_t{c.page} + memory.pages)) return reason;
  if (!state.parts().memory.mapped.any_mapped(c.range, c.page, memory.pages)) return {};
  return fmt::format("memory is mapped in these pages of r{} already: unmap it first", c.range);
}

template <>
void apply(State& state, const MapMemory& c) {
  VirtualState& mapped = state.change().memory.mapped;
  mapped.ranges.at(c.range).mappings[c.page] = {c.memory, mapped.memories.at(c.memory).pages};
}

// ---- UnmapMemory

template <>
constexpr Traits kTraits<UnmapMemory>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                      kNoDevice,       kTwice,    kOnce};

template <>
Reason check(const State& state, const UnmapMemory& c) {
  return no_idle_mapping(state, c.range, c.page);
}

template <>
void apply(State& state, const UnmapMemory& c) {
  state.change().memory.mapped.ranges.at(c.range).mappings.erase(c.page);
}

// ---- SetAccess

template <>
constexpr Traits kTraits<SetAccess>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                    kNamesDevices,   kTwice,    kAgain};

template <>
Reason check(const State& state, const SetAccess& c) {
  if (Reason reason = no_idle_mapping(state, c.range, c.page)) return reason;
  return unknown_device(c.device);
}

template <>
Id highest_device(const SetAccess& c) {
  return c.device;
}

template <>
void apply(State& state, const SetAccess& c) {
  state.change().memory.mapped.ranges.at(c.range).mappings.at(c.page).rights[c.device] = c.right;
}

// ---- DeclareView

template <>
constexpr Traits kTraits<DeclareView>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                      kNoDevice,       kTwice,    kOnce};

template <>
Reason check(const State& state, const DeclareView& c) {
  if (Reason reason = state.flaw_of_buffer(c.buffer, c.bytes)) return reason;
  if (Reason reason = missing_range(state, c.range)) return reason;
  return page_outside(state, c.range, std::uint64_t{c.page} + pages_of(c.bytes));
}

template <>
void apply(State& state, const DeclareView& c) {
  MemoryState& memory = state.change().memory;
  BufferState& buffer = memory.buffers[c.buffer];
  buffer = {c.bytes, c.bytes, MemoryKind::kDevice, 0, true};
  buffer.device = memory.mapped.ranges.at(c.range).device;
  buffer.view = ViewPlace{c.range, c.page};
}

template struct Rules<ReserveRange>;
template struct Rules<FreeRange>;
template struct Rules<CreatePhysical>;
template struct Rules<ReleasePhysical>;
template struct Rules<RetainMemory>;
template struct Rules<MapMemory>;
template struct Rules<UnmapMemory>;
template struct Rules<SetAccess>;
template struct Rules<DeclareView>;

}  // namespace verify
