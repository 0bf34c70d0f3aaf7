#include "verify/generate/virtual_memory.h"

#include <algorithm>
#include <array>
#include <map>

namespace verify {

namespace {

constexpr std::size_t kMaxRanges = 3, kMaxMemories = 4, kMaxViews = 4, kMaxHandles = 4;
// The size of a memory. Beside memory of another size, hipMemSetAccess of AMD's 7.2 answers hipErrorInvalidValue for a
// mapping that is there. The cause is not known.
constexpr std::uint32_t kPagesOfMemory = 1;

bool overlaps(const BufferState& view, std::uint32_t page, std::uint32_t pages) {
  return view.view->page < page + pages && page < view.view->page + pages_of(view.bytes);
}

}  // namespace

// ---- what is there

std::vector<VirtualMemoryDraft::Place> VirtualMemoryDraft::places() const {
  std::vector<Place> all;
  for (const auto& [id, range] : state_.ranges()) {
    if (!range.alive) continue;
    for (const auto& [page, mapping] : range.mappings) all.push_back({id, page, mapping});
  }
  return all;
}

std::vector<Id> VirtualMemoryDraft::views() const {
  std::vector<Id> ids;
  for (const auto& [id, buffer] : state_.buffers()) {
    if (buffer.alive && buffer.view) ids.push_back(id);
  }
  return ids;
}

bool VirtualMemoryDraft::uses(const GraphState& graph, Id range) const {
  return std::ranges::any_of(graph.addresses, [&](const auto& named) {
    const BufferState* buffer = state_.buffer(named.first);
    return buffer != nullptr && buffer->view && buffer->view->range == range;
  });
}

bool VirtualMemoryDraft::wait_for(const Place& place) {
  const auto busy = [&] { return state_.range_in_use(place.range, place.page, place.mapping.pages); };
  if (!busy()) return true;
  if (!state_.captures().empty()) return false;
  if (choices_.percent(40)) take(Synchronize{Target::kStream, pick(state_.live_streams())});
  if (busy()) take(Synchronize{Target::kDevice, 0});
  return !busy();
}

std::optional<std::uint32_t> VirtualMemoryDraft::room(Id range, std::uint32_t pages) {
  std::vector<std::uint32_t> free;
  for (std::uint32_t page = 0; page + pages <= state_.ranges().at(range).pages; ++page) {
    if (!state_.parts().memory.mapped.any_mapped(range, page, pages)) free.push_back(page);
  }
  if (free.empty()) return {};
  return choices_.percent(60) ? free.front() : free[choices_.below(free.size())];
}

// ---- what is made

std::optional<Id> VirtualMemoryDraft::reserve() {
  if (alive(state_.ranges()).size() >= kMaxRanges) return {};
  const Id device = swarm_.devices && choices_.percent(40) ? 1 : 0;
  if (!take(ReserveRange{next_.range, static_cast<std::uint32_t>(choices_.between(2, 6)), device})) return {};
  return next_.range++;
}

std::optional<Id> VirtualMemoryDraft::create(Id device, std::uint32_t pages) {
  const CreatePhysical command{next_.memory, pages, device};
  if (alive(state_.memories()).size() >= kMaxMemories) return {};
  if (!state_.captures().empty() && state_.answer(command).status != 0) return {};
  if (!take(command)) return {};
  return next_.memory++;
}

std::optional<Id> VirtualMemoryDraft::memory_for(Id device, std::uint32_t pages, std::optional<Id> but_not) {
  std::vector<Id> fit = alive(state_.memories());
  std::erase_if(fit, [&](Id id) {
    const PhysicalState& memory = state_.memories().at(id);
    return id == but_not || memory.device != device || memory.pages != pages;
  });
  if (fit.empty() || choices_.percent(15)) {
    if (const std::optional<Id> made = create(device, pages)) return made;
  }
  return fit.empty() ? std::nullopt : std::optional<Id>(pick(fit));
}

void VirtualMemoryDraft::give_rights(Id range, std::uint32_t page) {
  const Id own = state_.ranges().at(range).device;
  const std::uint64_t draw = choices_.below(100);
  if (draw < 95) take(SetAccess{range, page, draw < 85 ? AccessRight::kReadWrite : AccessRight::kRead, own});
  if (swarm_.devices && choices_.percent(60)) {
    const AccessRight right = choices_.percent(75) ? AccessRight::kReadWrite : AccessRight::kRead;
    take(SetAccess{range, page, right, other_device(own)});
  }
}

bool VirtualMemoryDraft::map_somewhere(Id range, Id memory) {
  const std::optional<std::uint32_t> page = room(range, state_.memories().at(memory).pages);
  if (!page || !take(MapMemory{range, *page, memory})) return false;
  give_rights(range, *page);
  return true;
}

// Mostly a view of mapped pages; some end inside of a page, and some cross into the mapping behind.
void VirtualMemoryDraft::view(Id range) {
  if (views().size() >= kMaxViews) return;
  const RangeState& in = state_.ranges().at(range);
  std::uint32_t page = static_cast<std::uint32_t>(choices_.below(in.pages));
  std::uint64_t bytes = kPageBytes;
  if (!in.mappings.empty() && !choices_.percent(5)) {
    const auto mapped = std::next(in.mappings.begin(), static_cast<std::ptrdiff_t>(choices_.below(in.mappings.size())));
    page = mapped->first;
    const bool crosses = in.mappings.contains(page + mapped->second.pages) && choices_.percent(50);
    bytes = (mapped->second.pages + (crosses ? 1 : 0)) * kPageBytes;
  }
  static constexpr std::array<std::uint64_t, 4> kLess = {64, 256, 1000, kPageBytes};
  if (choices_.percent(35)) bytes = std::min(bytes, kLess[choices_.below(kLess.size())]);
  if (take(DeclareView{next_.buffer, range, page, bytes})) ++next_.buffer;
}

void VirtualMemoryDraft::declare_mapped_memory() {
  for (std::uint64_t ranges = choices_.percent(30) ? 2 : 1; ranges > 0; --ranges) {
    const std::optional<Id> range = reserve();
    if (!range) return;
    const std::optional<Id> memory = create(state_.ranges().at(*range).device, kPagesOfMemory);
    if (!memory || !map_somewhere(*range, *memory)) return;
    view(*range);
    if (choices_.percent(60)) view(*range);
  }
}

// ---- what is changed

// The mappings in ranges that executable graphs use, or all where there is none.
std::vector<VirtualMemoryDraft::Place> VirtualMemoryDraft::used(std::vector<Place> all) const {
  std::vector<Place> some = all;
  std::erase_if(some, [&](const Place& place) {
    return std::ranges::none_of(
        state_.execs(), [&](const auto& entry) { return entry.second.alive && uses(entry.second.graph, place.range); });
  });
  return some.empty() ? all : some;
}

// The executable graphs that name a view of the range.
std::vector<Id> VirtualMemoryDraft::users_of(Id range) const {
  std::vector<Id> users = alive(state_.execs());
  std::erase_if(users, [&](Id exec) { return !uses(state_.exec(exec)->graph, range); });
  return users;
}

void VirtualMemoryDraft::launch_user(Id range) {
  if (!state_.captures().empty()) return;
  const std::vector<Id> users = users_of(range);
  if (!users.empty()) launch_exec(pick(users));
}

void VirtualMemoryDraft::set_user(Id range) {
  const std::vector<Id> users = users_of(range);
  if (!users.empty()) set_node(Target::kExec, pick(users));
}

void VirtualMemoryDraft::remap() {
  std::vector<Place> all = places();
  if (all.empty()) return extend();
  if (choices_.percent(80)) all = used(std::move(all));
  const Place place = all[choices_.below(all.size())];
  if (choices_.percent(50)) launch_user(place.range);
  // The launch may have mapped memory or given rights.
  const auto [mapping, first] = state_.parts().memory.mapped.at(place.range, place.page);
  if (mapping == nullptr || first != place.page || !wait_for(place)) return;
  const std::map<Id, AccessRight> rights = mapping->rights;
  if (!take(UnmapMemory{place.range, place.page})) return;
  if (choices_.percent(8)) return;  // nothing is mapped there for a while
  const Id device = state_.ranges().at(place.range).device;
  const std::optional<Id> before = choices_.percent(85) ? std::optional<Id>(place.mapping.memory) : std::nullopt;
  const std::optional<Id> memory = memory_for(device, place.mapping.pages, before);
  if (!memory || !take(MapMemory{place.range, place.page, *memory})) return;
  if (choices_.percent(8)) {
    give_rights(place.range, place.page);
  } else {
    for (const auto& [to, right] : rights) take(SetAccess{place.range, place.page, right, to});
  }
  if (choices_.percent(30)) set_user(place.range);
  if (choices_.percent(45)) return launch_user(place.range);
  const std::vector<Id> users = users_of(place.range);
  if (!users.empty() && choices_.percent(8)) take(Destroy{Target::kExec, pick(users)});
}

// Maps a memory a second time, and views it there.
void VirtualMemoryDraft::alias() {
  const std::vector<Place> all = places();
  const std::vector<Id> ranges = alive(state_.ranges());
  if (all.empty()) return extend();
  const Id range = pick(ranges);
  if (map_somewhere(range, all[choices_.below(all.size())].mapping.memory)) view(range);
}

void VirtualMemoryDraft::change_right() {
  const std::vector<Place> all = places();
  if (all.empty()) return extend();
  const Place place = all[choices_.below(all.size())];
  const Id own = state_.ranges().at(place.range).device;
  const Id device = swarm_.devices && choices_.percent(50) ? other_device(own) : own;
  if (wait_for(place))
    take(SetAccess{place.range, place.page, static_cast<AccessRight>(choices_.below(kRightWords.size())), device});
}

// Releases a handle, or gets another one, which is mostly of memory that has none.
void VirtualMemoryDraft::change_handles() {
  std::vector<Place> all = places();
  if (!all.empty() && choices_.percent(40)) {
    std::vector<Place> released = all;
    std::erase_if(released, [this](const Place& each) { return state_.memories().at(each.mapping.memory).alive; });
    if (!released.empty() && choices_.percent(60)) all = released;
    const Place& place = all[choices_.below(all.size())];
    if (state_.memories().at(place.mapping.memory).handles < kMaxHandles) take(RetainMemory{place.range, place.page});
    return;
  }
  const std::vector<Id> memories = alive(state_.memories());
  if (!memories.empty()) take(ReleasePhysical{pick(memories)});
}

// More of what is there: a range, memory that is mapped, or a view.
void VirtualMemoryDraft::extend() {
  const std::vector<Id> ranges = alive(state_.ranges());
  if (ranges.empty() || choices_.percent(25)) {
    if (!reserve() && !ranges.empty()) view(pick(ranges));
    return;
  }
  const Id range = pick(ranges);
  if (choices_.percent(40)) return view(range);
  const Id device = state_.ranges().at(range).device;
  if (const std::optional<Id> memory = memory_for(device, kPagesOfMemory, {})) map_somewhere(range, *memory);
}

void VirtualMemoryDraft::use_view() {
  const std::vector<Id> all = views();
  if (all.empty()) return extend();
  const Id id = pick(all);
  if (choices_.percent(55)) {
    take(Read{id});
  } else {
    take(Write{id, choices_.below(1000)});
  }
}

// Takes all mappings of a range away and gives its addresses back, mostly where no graph names a view of it.
void VirtualMemoryDraft::give_range_back() {
  const std::vector<Id> ranges = alive(state_.ranges());
  if (ranges.empty()) return extend();
  const Id range = pick(ranges);
  for (const auto& [id, exec] : state_.execs()) {
    if (exec.alive && uses(exec.graph, range) && !choices_.percent(10)) return;
  }
  for (const Place& place : places()) {
    if (place.range == range && (!wait_for(place) || !take(UnmapMemory{range, place.page}))) return;
  }
  if (!take(FreeRange{range}) || !choices_.percent(70)) return;
  const std::optional<Id> again = reserve();
  if (!again) return;
  const std::optional<Id> memory = memory_for(state_.ranges().at(*again).device, kPagesOfMemory, {});
  if (memory && map_somewhere(*again, *memory)) view(*again);
}

void VirtualMemoryDraft::mapped_memory() {
  const std::uint64_t draw = choices_.below(100);
  if (draw < 50) {
    remap();
  } else if (draw < 60) {
    use_view();
  } else if (draw < 70) {
    extend();
  } else if (draw < 79) {
    alias();
  } else if (draw < 86) {
    change_right();
  } else if (draw < 93) {
    change_handles();
  } else {
    give_range_back();
  }
}

void VirtualMemoryDraft::map_during_capture() {
  if (choices_.percent(50)) return remap();
  if (choices_.percent(15)) return give_range_back();
  if (choices_.percent(15)) return change_handles();
  mapped_memory();
}

// ---- what a launch needs

void VirtualMemoryDraft::map_missing(const BufferState& view) {
  const auto [range, first] = *view.view;
  for (std::uint32_t page = first; page < first + pages_of(view.bytes); ++page) {
    if (state_.parts().memory.mapped.any_mapped(range, page, 1)) continue;
    const std::optional<Id> memory = memory_for(state_.ranges().at(range).device, 1, {});
    if (!memory || !take(MapMemory{range, page, *memory})) return;
  }
}

void VirtualMemoryDraft::give_missing(const BufferState& view, Id device) {
  for (const Place& place : places()) {
    if (place.range != view.view->range || !overlaps(view, place.page, place.mapping.pages)) continue;
    if (place.mapping.allows(device, true) || !wait_for(place)) continue;
    take(SetAccess{place.range, place.page, AccessRight::kReadWrite, device});
  }
}

void VirtualMemoryDraft::reach_views(Id exec) {
  if (choices_.percent(5)) return;
  std::vector<Id> named;
  for (const auto& [id, version] : state_.exec(exec)->graph.addresses) {
    const BufferState* buffer = state_.buffer(id);
    if (buffer != nullptr && buffer->view && buffer->alive) named.push_back(id);
  }
  for (const Id id : named) {
    if (state_.unmapped(id)) map_missing(*state_.buffer(id));
    const Id own = state_.buffer(id)->device;
    if (state_.without_right(id, own, true)) give_missing(*state_.buffer(id), own);
    if (swarm_.devices && choices_.percent(50)) give_missing(*state_.buffer(id), other_device(own));
  }
}

}  // namespace verify
