// The family of commands about virtual memory: reserved addresses, physical memory, and which memory is mapped where.
//
// verify/program/virtual_state.h has the terms: pages, ranges, mappings, views.
#pragma once

#include "verify/commands/fields.h"
#include "verify/language/pages.h"

namespace verify {

// The number of a page of a range, from 0.
template <class At>
constexpr NumberField<At> page_number(At at) {
  return {at, "PAGE", "the number of a page", "the number of a page", 0, kMaxPages - 1, "", Simpler::kLess};
}
// A number of pages.
template <class At>
constexpr NumberField<At> page_count(At at) {
  return {at, "PAGES", "a number of pages", "a number of pages", 1, kMaxPages, "one page is the least", Simpler::kLess};
}

// hipMemAddressReserve: addresses for memory of one device.
struct ReserveRange {
  Id range = 0;
  std::uint32_t pages = 1;
  Id device = 0;
  static constexpr auto spec() {
    return describe_command(
        "reserve",
        "Reserves addresses (`hipMemAddressReserve`) for memory of a device. A page has 4,096 bytes; a runtime with "
        "another granularity is `unsupported`. The family's commands do not stand in a thread.",
        kDrawnByHand, kNoDeviation, NameField{&ReserveRange::range, 'r', kIsNew}, page_count(&ReserveRange::pages),
        field::device_key(&ReserveRange::device, ""));
  }
  bool operator==(const ReserveRange&) const = default;
};
// hipMemAddressFree of a whole range where nothing is mapped.
struct FreeRange {
  Id range = 0;
  static constexpr auto spec() {
    return describe_command("unreserve",
                            "Gives the addresses back (`hipMemAddressFree`). Nothing is mapped there any more, and the "
                            "views of the range are gone.",
                            kDrawnByHand, kDescribedByHand,
                            NameField{&FreeRange::range, 'r', met_by_word(Leaves::kNothing)});
  }
  bool operator==(const FreeRange&) const = default;
};
bool describe_events(EventEmitter& out, const FreeRange& c);
// hipMemCreate. The harness fills the memory, through a mapping of its own.
struct CreatePhysical {
  Id memory = 0;
  std::uint32_t pages = 1;
  Id device = 0;
  static constexpr auto spec() {
    return describe_command(
        "physical",
        "Physical memory of a device (`hipMemCreate`). It holds a fixed pattern that depends on its number. Waits for "
        "all work first.",
        kDrawnByHand, kNoDeviation, NameField{&CreatePhysical::memory, 'h', kIsNew}, page_count(&CreatePhysical::pages),
        field::device_key(&CreatePhysical::device, ""));
  }
  bool operator==(const CreatePhysical&) const = default;
};
// hipMemRelease of the newest handle.
struct ReleasePhysical {
  Id memory = 0;
  static constexpr auto spec() {
    return describe_command("release",
                            "Releases the newest handle of physical memory (`hipMemRelease`). Memory that is mapped "
                            "stays, with its contents, until it has no handle and is mapped nowhere.",
                            kDrawnByHand, kNoDeviation,
                            NameField{&ReleasePhysical::memory, 'h', met_by_word(Leaves::kNothing)});
  }
  bool operator==(const ReleasePhysical&) const = default;
};
// hipMemRetainAllocationHandle with the first address of a mapping.
struct RetainMemory {
  Id range = 0;
  std::uint32_t page = 0;
  static constexpr auto spec() {
    return describe_command("retain",
                            "Gets one more handle of the memory whose mapping begins at a page "
                            "(`hipMemRetainAllocationHandle`), also where all its handles were released. It is to be "
                            "released like the first, and is the one that `map` then uses.",
                            kDrawnByHand, kDescribedByHand,
                            NameField{&RetainMemory::range, 'r', met_by_word(Leaves::kNothing)},
                            page_number(&RetainMemory::page));
  }
  bool operator==(const RetainMemory&) const = default;
};
bool describe_events(EventEmitter& out, const RetainMemory& c);
// hipMemMap of a whole memory from a page on.
struct MapMemory {
  Id range = 0;
  std::uint32_t page = 0;
  Id memory = 0;
  static constexpr auto spec() {
    return describe_command(
        "map",
        "Maps all of a physical memory at a page of a range (`hipMemMap`). No device has a right to it before "
        "`access`. A memory may be mapped at several places: their bytes are the same. An operation does not use two "
        "views of one memory and write to one of them.",
        kDrawnByHand, kNoDeviation, NameField{&MapMemory::range, 'r', met_by_word(Leaves::kNothing)},
        page_number(&MapMemory::page), NameField{&MapMemory::memory, 'h', meets("map the memory", Leaves::kNothing)});
  }
  bool operator==(const MapMemory&) const = default;
};
// hipMemUnmap of one whole mapping.
struct UnmapMemory {
  Id range = 0;
  std::uint32_t page = 0;
  static constexpr auto spec() {
    return describe_command("unmap",
                            "Takes the mapping away that begins at a page (`hipMemUnmap`). The host has waited for "
                            "work on its views. Graphs that name them stay, and are launched, set, enabled, patched or "
                            "instantiated when something is mapped there again.",
                            kDrawnByHand, kNoDeviation,
                            NameField{&UnmapMemory::range, 'r', met_by_word(Leaves::kNothing)},
                            page_number(&UnmapMemory::page));
  }
  bool operator==(const UnmapMemory&) const = default;
};
// In the order of AccessRight.
inline constexpr std::array<std::string_view, 3> kRightWords = {"none", "read", "readwrite"};
// hipMemSetAccess for one mapping and device, then hipMemGetAccess.
struct SetAccess {
  Id range = 0;
  std::uint32_t page = 0;
  AccessRight right = AccessRight::kReadWrite;
  Id device = 0;
  static constexpr auto spec() {
    return describe_command(
        "access",
        "Gives a device a right to the mapping that begins at a page (`hipMemSetAccess`); the answer of "
        "`hipMemGetAccess` is an observation. The host has waited for work on its views. A kernel needs the right of "
        "its own device; copies, memsets, `read` and `write` need that of the memory's device.",
        kDrawnByHand, kNoDeviation, NameField{&SetAccess::range, 'r', met_by_word(Leaves::kNothing)},
        page_number(&SetAccess::page),
        ChoiceField{&SetAccess::right, kRightWords, "a right", "the rights are none, read and readwrite", ""},
        field::device_key(&SetAccess::device, ""));
  }
  bool operator==(const SetAccess&) const = default;
};
// A part of a range as a buffer. Calls no function.
struct DeclareView {
  Id buffer = 0;
  Id range = 0;
  std::uint32_t page = 0;
  std::uint64_t bytes = 0;
  static constexpr auto spec() {
    return describe_command(
               "view",
               "The bytes from a page of a range on are a buffer from here on, whatever is mapped there. All its "
               "pages must be mapped when it is used. It has one address, which never moves, and no `addr`.",
               kDrawnByHand, kNoDeviation, NameField{&DeclareView::buffer, 'b', kIsNew},
               NameField{&DeclareView::range, 'r', met_by_word(Leaves::kNothing)}, page_number(&DeclareView::page),
               field::size(&DeclareView::bytes, 1, kMaxPages * kPageBytes, Simpler::kSmallSize))
        .uncounted();
  }
  bool operator==(const DeclareView&) const = default;
};

using VirtualMemoryCommands = CommandList<ReserveRange, FreeRange, CreatePhysical, ReleasePhysical, RetainMemory,
                                          MapMemory, UnmapMemory, SetAccess, DeclareView>;

}  // namespace verify
