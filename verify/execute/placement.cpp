#include "verify/execute/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "hip/errors.h"
#include "verify/execute/devices.h"
#include "verify/program/names.h"
#include "verify/program/state_devices.h"

namespace verify {

namespace {

constexpr std::uint64_t kPlaceAlignment = 256;
// Room for every buffer at its old and its new place at once, and as much again for fragmentation.
constexpr std::uint64_t kArenaFactor = 4;

void* pointer(hip::DeviceAddress address) {
  return reinterpret_cast<void*>(address);
}

hip::Status status_of(hipError_t code, const char* what) {
  if (code == hipSuccess) return {};
  return hip::Error{code, fmt::format("{} failed with {}", what, hip::status_name(code))};
}

Id highest_buffer(const Program& program) {
  Id highest = 0;
  for (const Step& step : program.steps) {
    Command command = step.command;
    for_each_name(command, [&highest](char letter, const Id& id, bool is_made) {
      if (letter == 'b' && is_made) highest = std::max(highest, id);
    });
  }
  return highest;
}

}  // namespace

void fill_pattern(Id buffer, std::uint64_t seed, std::vector<std::byte>& bytes) {
  std::uint64_t state = (seed + 1) * 0x9e3779b97f4a7c15ULL + (std::uint64_t{buffer} << 32);
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    state += 0x9e3779b97f4a7c15ULL;
    std::uint64_t word = state;  // SplitMix64's finaliser
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
    word ^= word >> 31;
    std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(8, bytes.size() - at));
  }
}

std::uint64_t BestFit::rounded(std::uint64_t bytes) {
  return (bytes + kPlaceAlignment - 1) / kPlaceAlignment * kPlaceAlignment;
}

std::optional<hip::DeviceAddress> BestFit::allocate(std::uint64_t bytes) {
  const std::uint64_t needed = rounded(bytes);
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second >= needed && (best == free_.end() || it->second < best->second)) best = it;
  }
  if (best == free_.end()) return {};
  const hip::DeviceAddress address = best->first;
  const std::uint64_t rest = best->second - needed;
  free_.erase(best);
  if (rest != 0) free_.emplace(address + needed, rest);
  return address;
}

void BestFit::release(hip::DeviceAddress address, std::uint64_t bytes) {
  if (!reuse_) return;
  auto [at, inserted] = free_.emplace(address, rounded(bytes));
  if (const auto next = std::next(at); next != free_.end() && at->first + at->second == next->first) {
    at->second += next->second;
    free_.erase(next);
  }
  if (at != free_.begin()) {
    const auto before = std::prev(at);
    if (before->first + before->second == at->first) {
      before->second += at->second;
      free_.erase(at);
    }
  }
}

BufferMemory::BufferMemory(Platform& platform, const Program& program, PlacementOptions options, AddressScript script)
    : platform_(platform), options_(options), script_(std::move(script)), replaying_(!script_.empty()) {
  places_.resize(highest_buffer(program) + std::size_t{1});
  addresses_.resize(places_.size(), 0);
  frozen_.resize(places_.size(), 0);
  devices_ = devices_needed(program);
  if (options.mapped && options.placement == Placement::kNative) mapped_.emplace(platform, devices_);
  std::uint64_t moved = 0;
  for (const Step& step : program.steps) {
    if (const auto* buffer = std::get_if<DeclareBuffer>(&step.command)) {
      if (buffer->symbol || buffer->variable) continue;
      arena_bytes_[{buffer->memory, buffer->device}] += BestFit::rounded(buffer->bytes) * kArenaFactor;
      if (buffer->memory == MemoryKind::kDevice) most_device_bytes_ = std::max(most_device_bytes_, buffer->bytes);
    } else if (const auto* move = std::get_if<MoveBuffers>(&step.command)) {
      moved += move->moves.size() * step.repeat;
    }
  }
  if (!options_.fresh_addresses) return;
  // Every move needs a place of its own. The arena refuses moves beyond this bound.
  constexpr std::uint64_t kMostFresh = 4096;
  for (auto& [kind, bytes] : arena_bytes_) bytes *= 1 + std::min(moved, kMostFresh);
}

hip::Status BufferMemory::wait() {
  return synchronize_devices(platform_.api(), devices_);
}

hipError_t BufferMemory::allocate_of_kind(std::uint64_t bytes, MemoryKind memory, void** allocated) {
  const hip::Api& api = platform_.api();
  switch (memory) {
    case MemoryKind::kDevice:
      return api.hipMalloc(allocated, bytes);
    case MemoryKind::kPinned:
      return api.hipHostMalloc(allocated, bytes, 0);
    case MemoryKind::kManaged:
      return api.hipMallocManaged(allocated, bytes, hipMemAttachGlobal);
    case MemoryKind::kPageable:
    case MemoryKind::kRegistered:
      break;
  }
  *allocated = pointer(platform_.allocate_pageable(bytes));
  if (*allocated == nullptr) return hipErrorOutOfMemory;
  if (memory == MemoryKind::kPageable) return hipSuccess;
  const hipError_t registered = api.hipHostRegister(*allocated, bytes, hipHostRegisterDefault);
  if (registered != hipSuccess) platform_.free_pageable(reinterpret_cast<hip::DeviceAddress>(*allocated));
  return registered;
}

// The scripted address of the next allocation, where the platform cannot place the allocation there; else 0. A subject
// that failed midway made fewer allocations: after the end of its script the baseline chooses addresses itself.
hip::DeviceAddress BufferMemory::place_as_scripted() {
  const hip::DeviceAddress scripted = take_scripted();
  return scripted == 0 || platform_.place_next(scripted) ? 0 : scripted;
}

hip::DeviceAddress BufferMemory::take_scripted() {
  return replaying_ && script_next_ < script_.size() ? script_[script_next_++] : 0;
}

hip::DeviceAddress BufferMemory::note_in_script(void* allocated, hip::DeviceAddress scripted) {
  const auto address = reinterpret_cast<hip::DeviceAddress>(allocated);
  if (!replaying_) script_.push_back(address);
  scripted_.erase(address);  // of an allocation that was freed since
  if (scripted != 0) scripted_[address] = scripted;
  return address;
}

hip::Result<hip::DeviceAddress> BufferMemory::runtime_allocate(std::uint64_t bytes, Kind kind) {
  const hip::DeviceAddress scripted = place_as_scripted();
  if (is_mapped(kind)) {
    const hip::Result<void*> mapped = mapped_->allocate(bytes, kind.device);
    if (!mapped) return mapped.error();
    return note_in_script(mapped.value(), scripted);
  }
  void* allocated = nullptr;
  const hip::Status status = on_device(platform_.api(), kind.device, [&]() -> hip::Status {
    const hipError_t code = allocate_of_kind(bytes, kind.memory, &allocated);
    if (code == hipSuccess) return {};
    return hip::Error{code, fmt::format("allocating {} bytes failed with {}", bytes, hip::status_name(code))};
  });
  if (!status) return status.error();
  return note_in_script(allocated, scripted);
}

hip::Result<hip::DeviceAddress> BufferMemory::kept_or_new(std::uint64_t bytes, Kind kind) {
  KeptMemory* const kept = platform_.kept_memory();
  const std::optional<hip::DeviceAddress> address = kept == nullptr ? std::nullopt : kept->take(kind, bytes);
  if (!address) return runtime_allocate(bytes, kind);
  return note_in_script(pointer(*address), place_as_scripted());
}

hip::Status BufferMemory::runtime_free(hip::DeviceAddress address, MemoryKind memory) {
  if (is_mapped({memory, 0})) return mapped_->free(pointer(address));
  switch (memory) {
    case MemoryKind::kDevice:
      return status_of(platform_.api().hipFree(pointer(address)), "hipFree");
    case MemoryKind::kManaged:
      return status_of(platform_.api().hipFree(pointer(address)), "hipFree of managed memory");
    case MemoryKind::kPinned:
      return status_of(platform_.api().hipHostFree(pointer(address)), "hipHostFree");
    case MemoryKind::kPageable:
    case MemoryKind::kRegistered:
      break;
  }
  hip::Status status;
  if (memory == MemoryKind::kRegistered) {
    status = status_of(platform_.api().hipHostUnregister(pointer(address)), "hipHostUnregister");
  }
  platform_.free_pageable(address);
  return status;
}

hip::Result<hip::DeviceAddress> BufferMemory::place(std::uint64_t bytes, Kind kind) {
  if (options_.placement == Placement::kNative) {
    return freed_some_ || is_mapped(kind) ? runtime_allocate(bytes, kind) : kept_or_new(bytes, kind);
  }
  auto arena = arenas_.find(kind);
  if (arena == arenas_.end()) {
    if (platform_.kept_memory() != nullptr) arena_bytes_[kind] = KeptMemory::rounded(arena_bytes_[kind]);
    const hip::Result<hip::DeviceAddress> base = kept_or_new(arena_bytes_[kind], kind);
    if (!base) return base.error();
    arena = arenas_.emplace(kind, Arena{base.value(), BestFit(base.value(), arena_bytes_[kind])}).first;
    if (options_.fresh_addresses) arena->second.space.never_reuse();
  }
  const std::optional<hip::DeviceAddress> address = arena->second.space.allocate(bytes);
  if (!address) return hip::Error{hipErrorOutOfMemory, "the arena is too fragmented for this program"};
  return *address;
}

hip::Status BufferMemory::unplace(hip::DeviceAddress address, std::uint64_t capacity, Kind kind) {
  if (options_.placement == Placement::kNative) {
    freed_some_ = true;
    return options_.fresh_addresses ? hip::Status{} : runtime_free(address, kind.memory);
  }
  arenas_.at(kind).space.release(address, capacity);
  return {};
}

hip::Status BufferMemory::store(hip::DeviceAddress address, MemoryKind memory, const std::byte* bytes,
                                std::uint64_t size) {
  if (memory == MemoryKind::kDevice) return platform_.store(address, bytes, size);
  std::byte* view = platform_.host_view(address, size);
  if (view == nullptr) return hip::Error{hipErrorInvalidValue, "host memory cannot be seen"};
  std::memcpy(view, bytes, size);
  return {};
}

hip::Status BufferMemory::load(hip::DeviceAddress address, MemoryKind memory, std::byte* bytes, std::uint64_t size) {
  if (memory == MemoryKind::kDevice) return platform_.load(address, bytes, size);
  const std::byte* view = platform_.host_view(address, size);
  if (view == nullptr) return hip::Error{hipErrorInvalidValue, "host memory cannot be seen"};
  std::memcpy(bytes, view, size);
  return {};
}

void BufferMemory::settle(Id buffer, hip::DeviceAddress address) {
  addresses_[buffer] = frozen_[buffer] = address;
  const auto above = scripted_.upper_bound(address);
  if (above == scripted_.begin()) return;
  const auto& [base, scripted] = *std::prev(above);
  frozen_[buffer] = scripted + (address - base);
}

hip::Status BufferMemory::declare(Id buffer, std::uint64_t bytes, MemoryKind memory, Id device) {
  const hip::Result<hip::DeviceAddress> address = place(bytes, {memory, device});
  if (!address) return address.error();
  places_[buffer] = {bytes, bytes, {memory, device}, true};
  settle(buffer, address.value());
  return write(buffer, 0);
}

hip::Status BufferMemory::declare_symbol(Id buffer, std::uint64_t bytes, std::uint32_t n) {
  const hip::Api& api = platform_.api();
  const void* symbol = platform_.symbol(n);
  assert(symbol != nullptr);
  // A model allocates a variable's memory when its address is first asked for.
  const hip::DeviceAddress scripted = place_as_scripted();
  void* found = nullptr;
  std::size_t size = 0;
  if (hip::Status s = status_of(api.hipGetSymbolAddress(&found, symbol), "hipGetSymbolAddress"); !s) return s;
  if (hip::Status s = status_of(api.hipGetSymbolSize(&size, symbol), "hipGetSymbolSize"); !s) return s;
  if (size != kSymbolBytes) return hip::Error{hipErrorInvalidSymbol, fmt::format("a variable has {} bytes", size)};
  places_[buffer] = {bytes, bytes, {}, true, symbol};
  settle(buffer, note_in_script(found, scripted));
  return write(buffer, 0);
}

// A variable is somewhere in its module, which no platform places.
hip::Status BufferMemory::declare_variable(Id buffer, std::uint64_t bytes, const std::string& name, Id module,
                                           hipModule_t loaded) {
  const hip::DeviceAddress scripted = take_scripted();
  hipDeviceptr_t found = nullptr;
  std::size_t size = 0;
  const hipError_t code = platform_.api().hipModuleGetGlobal(&found, &size, loaded, name.c_str());
  if (hip::Status s = status_of(code, "hipModuleGetGlobal"); !s) return s;
  if (size < bytes)
    return hip::Error{hipErrorInvalidSymbol, fmt::format("{} has {} bytes and not {}", name, size, bytes)};
  places_[buffer] = {bytes, bytes, {}, true, nullptr, module};
  settle(buffer, note_in_script(found, scripted));
  return {};
}

void BufferMemory::module_gone(Id module) {
  for (Place& place : places_) place.alive = place.alive && place.module != module;
}

hip::Result<hip::DeviceAddress> BufferMemory::place_range(const std::function<hip::Status(void** range)>& reserve) {
  if (!next_range_) next_range_ = place_as_scripted();  // else a call that failed has left it to the next one
  void* range = nullptr;
  if (hip::Status status = reserve(&range); !status) return status.error();
  return note_in_script(range, *std::exchange(next_range_, {}));
}

void BufferMemory::show_elsewhere(Id buffer, std::uint64_t bytes, hip::DeviceAddress address, Id device) {
  places_[buffer].bytes = bytes;
  places_[buffer].kind.device = device;
  places_[buffer].elsewhere = true;
  addresses_[buffer] = frozen_[buffer] = address;
}

hip::Status BufferMemory::write(Id buffer, std::uint64_t seed, std::uint64_t offset,
                                std::span<const std::uint8_t> data) {
  if (hip::Status status = wait(); !status) return status;
  std::span<const std::byte> bytes = std::as_bytes(data);
  if (data.empty()) {
    scratch_.resize(places_[buffer].bytes);
    fill_pattern(buffer, seed, scratch_);
    bytes = scratch_;
    offset = 0;
  }
  return on_device(platform_.api(), copying_device(buffer), [&] {
    return store(addresses_[buffer] + offset, places_[buffer].kind.memory, bytes.data(), bytes.size());
  });
}

hip::Status BufferMemory::read(Id buffer, std::vector<std::byte>& bytes) {
  if (hip::Status status = wait(); !status) return status;
  bytes.resize(places_[buffer].bytes);
  return on_device(platform_.api(), copying_device(buffer),
                   [&] { return load(addresses_[buffer], places_[buffer].kind.memory, bytes.data(), bytes.size()); });
}
hip::Status BufferMemory::read_by_runtime(Id buffer, std::vector<std::byte>& bytes) {
  bytes.resize(places_[buffer].bytes);
  return on_device(platform_.api(), copying_device(buffer),
                   [&] { return platform_.load(addresses_[buffer], bytes.data(), bytes.size()); });
}

hip::Status BufferMemory::find_places(const std::vector<BufferMove>& moves, std::vector<NewPlace>& targets) {
  const std::size_t noted = script_.size();
  for (const BufferMove& move : moves) {
    if (move.onto && !options_.fresh_addresses) {
      targets.push_back({addresses_[*move.onto], places_[*move.onto].capacity, false});
      continue;
    }
    const Place& place_of = places_[move.buffer];
    const hip::Result<hip::DeviceAddress> fresh = place(place_of.bytes, place_of.kind);
    if (fresh) {
      targets.push_back({fresh.value(), place_of.bytes, true});
      continue;
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (!targets[i].fresh) continue;
      hip::Status s = unplace(targets[i].address, targets[i].capacity, places_[moves[i].buffer].kind);
      if (!s) return s;
    }
    if (!replaying_) script_.resize(noted);
    return fresh.error();
  }
  return {};
}

hip::Status BufferMemory::move(const std::vector<BufferMove>& moves) {
  if (hip::Status status = wait(); !status) return status;
  for (const BufferMove& move : moves) {
    if (!is_mapped(places_[move.buffer].kind)) continue;
    if (hip::Status given = mapped_->give_up(pointer(addresses_[move.buffer])); !given) return given;
  }
  std::vector<std::vector<std::byte>> contents(moves.size());
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Place& place_of = places_[moves[i].buffer];
    contents[i].resize(place_of.bytes);
    if (hip::Status s = load(addresses_[moves[i].buffer], place_of.kind.memory, contents[i].data(), place_of.bytes); !s)
      return s;
  }
  std::vector<NewPlace> targets;
  if (hip::Status s = find_places(moves, targets); !s) return s;
  for (const BufferMove& old : moves) {  // places that no buffer takes over are freed
    const bool taken =
        std::ranges::any_of(targets, [&](const NewPlace& t) { return t.address == addresses_[old.buffer]; });
    const Place& place_of = places_[old.buffer];
    if (taken) continue;
    if (hip::Status s = unplace(addresses_[old.buffer], place_of.capacity, place_of.kind); !s) return s;
  }
  for (std::size_t i = 0; i < moves.size(); ++i) {
    Place& place_of = places_[moves[i].buffer];
    settle(moves[i].buffer, targets[i].address);
    place_of.capacity = targets[i].capacity;
    if (hip::Status s = store(targets[i].address, place_of.kind.memory, contents[i].data(), contents[i].size()); !s)
      return s;
  }
  return {};
}

hip::Status BufferMemory::release(Id buffer) {
  if (hip::Status status = wait(); !status) return status;
  places_[buffer].alive = false;
  return unplace(addresses_[buffer], places_[buffer].capacity, places_[buffer].kind);
}

hip::Status BufferMemory::release_everything() {
  hip::Status first;
  KeptMemory* const kept = platform_.kept_memory();
  const auto release = [&](hip::DeviceAddress address, std::uint64_t bytes, Kind kind) {
    if (kept != nullptr && !is_mapped(kind)) {
      kept->give(kind, bytes, address);
    } else if (hip::Status status = runtime_free(address, kind.memory); first && !status) {
      first = std::move(status);
    }
  };
  if (options_.placement == Placement::kNative) {
    for (Id id = 0; id < places_.size(); ++id) {
      const bool ours = places_[id].alive && places_[id].symbol == nullptr && !places_[id].module;
      if (ours) release(addresses_[id], places_[id].capacity, places_[id].kind);
      places_[id].alive = false;
    }
  }
  for (const auto& [kind, arena] : arenas_) release(arena.base, arena_bytes_[kind], kind);
  arenas_.clear();
  if (mapped_) first = hip::both(std::move(first), mapped_->free_all());  // of places that moves have left
  return first;
}

}  // namespace verify
