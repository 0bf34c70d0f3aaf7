#include "verify/export/memory.h"

#include <fmt/format.h>

#include <cassert>
#include <iterator>

namespace verify {
static std::string arena_name(MemoryKind kind, Id device) {
  static constexpr const char* kNames[] = {"device", "pinned", "pageable", "managed", "registered"};
  static_assert(std::size(kNames) == kMemoryKinds);
  return kNames[static_cast<std::size_t>(kind)] + (device == 0 ? std::string() : fmt::format("{}", device));
}

ReproducerMemory::ReproducerMemory(ReproducerText& text, NeedsOfFile& needs, const Reproducer& reproducer)
    : text_(text),
      needs_(needs),
      reproducer_(reproducer),
      in_arena_(reproducer.program.setting.placement == Placement::kArena),
      contents_matter_(!reproducer.bytes.empty()),
      places_(reproducer.places.begin(), reproducer.places.end()) {}

void ReproducerMemory::declare_arenas(const NeedsOfFile& known) {
  for (std::size_t arena = 0; arena < kArenas; ++arena) {
    if (!known.uses_arena(arena)) continue;
    const bool other = arena >= kMemoryKinds;
    const auto memory = other ? MemoryKind::kDevice : static_cast<MemoryKind>(arena);
    const Id device = other ? static_cast<Id>(arena - kMemoryKinds + 1) : 0;
    allocate(arena_name(memory, device), memory, reproducer_.arena_bytes[arena], device);
  }
}

void ReproducerMemory::allocate(const std::string& name, MemoryKind memory, std::uint64_t bytes, Id device) {
  constexpr std::uint64_t kAlignment = 256;
  if (memory == MemoryKind::kPageable || memory == MemoryKind::kRegistered) {
    const std::uint64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    text_.line(fmt::format("char* {} = static_cast<char*>(aligned_alloc({}, {}));", name, kAlignment, rounded));
    if (memory == MemoryKind::kRegistered) text_.must(fmt::format("hipHostRegister({}, {}, 0)", name, bytes));
    return;
  }
  text_.line(fmt::format("char* {};", name));
  if (memory == MemoryKind::kPinned) return text_.must(fmt::format("hipHostMalloc(&{}, {}, 0)", name, bytes));
  if (memory == MemoryKind::kManaged) return text_.must(fmt::format("hipMallocManaged(&{}, {})", name, bytes));
  text_.on_device(device, [&] { text_.must(fmt::format("hipMalloc(&{}, {})", name, bytes)); });
}

void ReproducerMemory::place(const std::string& name, MemoryKind memory, std::uint64_t bytes, Id device) {
  if (!in_arena_) return allocate(name, memory, bytes, device);
  needs_.use_arena(arena_of(memory, device));
  assert(!places_.empty());
  const std::uint64_t offset = places_.front();
  places_.pop_front();
  // In a file that checks no bytes, a buffer may be moved and have no other use.
  text_.line(fmt::format("{}char* {} = {}{};", contents_matter_ ? "" : "[[maybe_unused]] ", name,
                         arena_name(memory, device), offset == 0 ? std::string() : fmt::format(" + {}", offset)));
}

void ReproducerMemory::fill(Id buffer, std::uint64_t bytes, std::uint64_t seed) {
  if (!contents_matter_) return;
  text_.need(HelperFunction::kFill);
  std::string number = fmt::format("{}", buffer);  // the pattern depends on it
  if (const auto later = numbers_.find(buffer); later != numbers_.end())
    number = fmt::format("round == 0 ? {} : {} + (round - 1) * {}", buffer, later->second.second, later->second.growth);
  text_.line(fmt::format("fill(b{}, {}, {}, {}{});", buffer, bytes, number, seed, seed >> 63 == 0 ? "" : "ull"));
}

void ReproducerMemory::release(Id buffer, MemoryKind memory) {
  if (memory == MemoryKind::kRegistered) text_.must(fmt::format("hipHostUnregister(b{})", buffer));
  if (memory == MemoryKind::kPageable || memory == MemoryKind::kRegistered) {
    return text_.line(fmt::format("free(b{});", buffer));
  }
  text_.must(fmt::format("{}(b{})", memory == MemoryKind::kPinned ? "hipHostFree" : "hipFree", buffer));
}

}  // namespace verify
