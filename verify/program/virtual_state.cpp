// Views of mapped memory in verify::State; the contracts are in the headers.
#include "verify/program/virtual_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "verify/program/state.h"

namespace verify {

bool MappingState::allows(Id device, bool write) const {
  const auto right = rights.find(device);
  return right != rights.end() && right->second >= (write ? AccessRight::kReadWrite : AccessRight::kRead);
}

std::pair<const MappingState*, std::uint32_t> VirtualState::at(Id range, std::uint32_t page) const {
  const std::map<std::uint32_t, MappingState>& mappings = ranges.at(range).mappings;
  const auto above = mappings.upper_bound(page);
  if (above == mappings.begin()) return {};
  const auto& [first, mapping] = *std::prev(above);
  return page - first < mapping.pages ? std::pair(&mapping, first) : std::pair<const MappingState*, std::uint32_t>();
}

bool VirtualState::any_mapped(Id range, std::uint32_t page, std::uint32_t pages) const {
  for (std::uint32_t i = 0; i < pages; ++i) {
    if (at(range, page + i).first != nullptr) return true;
  }
  return false;
}

namespace {

// Calls visit(page, mapping, its first page) for each page of a view that memory is mapped at, else visit(page, null).
template <class Visit>
void for_each_page(const State& state, const BufferState& view, const Visit& visit) {
  const auto [range, first] = *view.view;
  for (std::uint32_t i = 0; i < pages_of(view.bytes); ++i) {
    const auto [mapping, begin] = state.parts().memory.mapped.at(range, first + i);
    visit(first + i, mapping, begin);
  }
}

// The pages of physical memory that a view shows: (memory, page of it).
std::set<std::pair<Id, std::uint32_t>> memory_of(const State& state, const BufferState& view) {
  std::set<std::pair<Id, std::uint32_t>> pages;
  for_each_page(state, view, [&](std::uint32_t page, const MappingState* mapping, std::uint32_t begin) {
    if (mapping != nullptr) pages.emplace(mapping->memory, page - begin);
  });
  return pages;
}

bool share(const State& state, const BufferState& a, const BufferState& b) {
  const std::set<std::pair<Id, std::uint32_t>> one = memory_of(state, a), other = memory_of(state, b);
  return std::ranges::any_of(one, [&other](const auto& page) { return other.contains(page); });
}

// Whether a page of memory is mapped at two pages of the view: a write to all of it has no stated order.
bool repeats(const State& state, const BufferState& view) {
  std::size_t mapped = 0;
  for_each_page(state, view, [&mapped](std::uint32_t, const MappingState* mapping, std::uint32_t) {
    if (mapping != nullptr) ++mapped;
  });
  return memory_of(state, view).size() != mapped;
}

}  // namespace

Reason State::unmapped(Id id) const {
  const BufferState* view = buffer(id);
  if (view == nullptr || !view->view || !view->alive) return {};
  Reason reason;
  for_each_page(*this, *view, [&](std::uint32_t page, const MappingState* mapping, std::uint32_t) {
    if (!reason && mapping == nullptr)
      reason = fmt::format("nothing is mapped at page {} of r{}, which b{} is a view of: map memory there first", page,
                           view->view->range, id);
  });
  return reason;
}

Reason State::unmapped(const GraphState& graph) const {
  if (ranges().empty()) return {};  // as in most programs, some of which have graphs of thousands of nodes
  for (const auto& [id, version] : graph.addresses) {
    if (Reason reason = unmapped(id)) return reason;
  }
  return {};
}

Reason State::without_right(Id id, Id device, bool write) const {
  if (Reason reason = unmapped(id)) return reason;
  const BufferState* view = buffer(id);
  if (view == nullptr || !view->view) return {};
  if (write && repeats(*this, *view))
    return fmt::format("b{} is a view that shows the same memory twice: it may be read only", id);
  Reason reason;
  for_each_page(*this, *view, [&](std::uint32_t page, const MappingState* mapping, std::uint32_t begin) {
    if (!reason && !mapping->allows(device, write))
      reason = fmt::format("device {} has no right to {} page {} of r{}, which b{} is a view of: 'access r{} {} {}{}'",
                           device, write ? "write" : "read", page, view->view->range, id, view->view->range, begin,
                           write ? "readwrite" : "read", device == 0 ? "" : fmt::format(" device={}", device));
  });
  return reason;
}

// HIP's header, hipMemSetAccess: a device needs a right to memory that it reads or writes. hip-tests copies memory to
// which its own device has a right on streams of other devices (hipMemSetGetAccess.cc, Vmm2PeerDevMemCpy).
Reason State::views_out_of_reach(const NodeParams& params) const {
  if (this->ranges().empty()) return {};
  std::vector<ByteRange> ranges;
  append_ranges(params, 1, ranges);
  const auto* kernel = std::get_if<KernelParams>(&params);
  for (const ByteRange& range : ranges) {
    const BufferState& view = buffers().at(range.buffer);
    if (!view.view) continue;
    if (Reason reason = without_right(range.buffer, kernel == nullptr ? view.device : kernel->device, range.write))
      return reason;
    for (const ByteRange& other : ranges) {
      const BufferState& beside = buffers().at(other.buffer);
      if (other.buffer == range.buffer || !beside.view || !(range.write || other.write)) continue;
      if (share(*this, view, beside))
        return fmt::format("b{} and b{} are views of one memory, and one operation writes to one and uses the other",
                           std::min(range.buffer, other.buffer), std::max(range.buffer, other.buffer));
    }
  }
  return {};
}

bool State::range_in_use(Id range, std::uint32_t page, std::uint32_t pages) const {
  return std::ranges::any_of(buffers(), [&](const auto& entry) {
    const auto& [id, view] = entry;
    if (!view.view || view.view->range != range || !buffer_in_use(id)) return false;
    return view.view->page < page + pages && page < view.view->page + pages_of(view.bytes);
  });
}

}  // namespace verify
