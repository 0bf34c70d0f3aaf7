// The virtual memory of a program: reserved ranges of addresses, physical memory, and the memory that is mapped where.
//
// Ranges, memory and places in them are counted in pages. A mapping begins at the first byte of its memory and takes
// all of it: HIP requires the offset 0, and CUDA refuses to map a part. A range is for memory of one device, so that a
// node keeps its devices, whatever is mapped under its buffers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "verify/language/node_params.h"
#include "verify/language/pages.h"

namespace verify {

inline constexpr std::uint64_t kSeedOfPhysical = 1000003;  // of the pattern that new physical memory holds
// Stands in ranges of bytes for every view: any two of them may be the same memory when the work runs.
inline constexpr Id kAnyView = kMaxId + 2;

struct PhysicalState {
  std::uint32_t pages = 0;
  Id device = 0;
  bool alive = true;  // the program has a handle; without one, the memory lives as long as it is mapped
  std::uint32_t handles = 1;
};
struct MappingState {
  Id memory = 0;
  std::uint32_t pages = 0;
  std::map<Id, AccessRight> rights = {};  // by device; a device that is not there has none
  [[nodiscard]] bool allows(Id device, bool write) const;
};
struct RangeState {
  std::uint32_t pages = 0;
  Id device = 0;
  bool alive = true;
  std::map<std::uint32_t, MappingState> mappings = {};  // by their first pages
};
// The place of a view: the first bytes of it are those of this page.
struct ViewPlace {
  Id range = 0;
  std::uint32_t page = 0;
};

struct VirtualState {
  std::map<Id, RangeState> ranges;
  std::map<Id, PhysicalState> memories;

  // The mapping that holds a page of a range, and its first page; null where nothing is mapped.
  [[nodiscard]] std::pair<const MappingState*, std::uint32_t> at(Id range, std::uint32_t page) const;
  // Whether memory is mapped in one of `pages` pages from `page` on.
  [[nodiscard]] bool any_mapped(Id range, std::uint32_t page, std::uint32_t pages) const;
};

// The pages that so many bytes take.
[[nodiscard]] constexpr std::uint32_t pages_of(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + kPageBytes - 1) / kPageBytes);
}

}  // namespace verify
