// Differential capture: finds the addresses in a library's work by capturing the work more than once.
//
// Only the library knows the meaning of its kernels' arguments. Its work is captured for buffers at some addresses, and
// again for the same buffers at other addresses; bytes that moved with a buffer are that buffer's address:
//
//   shadows    tables of addresses for the buffers; no memory range occurs twice in them. Two tables are enough; a
//              third makes coincidences rarer. The work does not run, but runtimes look at addresses: give addresses of
//              real memory. The lowest byte of each buffer's address differs between two tables: otherwise a number in
//              units of 256 bytes, read from the byte before it, looks like an address. Moves by multiples of 64 do
//              this and keep every alignment that libraries choose by.
//   attribute  every byte that differs between the captures has to lie in exactly one 8-byte word that is, in every
//              capture, one buffer's address plus the same addend (from its begin to one past its end). A word may
//              begin at any byte. Otherwise the block is opaque: it is never guessed.
//   kinds      the metadata of a code object may tell the kind of an argument. It is compared with the result, and can
//              only reject it: an address lies within one argument, and an address in a pointer is the whole pointer.
//              (A struct by value may hold addresses.) A pointer that is the same in every capture is the library's own
//              and stays; if it lies in a shadow it may come from an earlier capture, and the block is opaque. So no
//              kind, right or wrong, turns a number into an address.
//   A1         a scalar that equals an address by chance is the same in every capture and is never taken for an
//              address. If it overlaps an address, a byte has two candidate words, and the block is opaque.
//
// Undecidable, and left to the caller:
//   - a scalar that is computed from an address and is, in all captures, that address plus an offset within its buffer
//     (a tag made of the pointer's own bits, say) is taken for an address;
//   - so is the low half of an address with a smaller scalar behind it that equals the high half in all captures;
//     shadows that differ in their high halves tell the two apart;
//   - an address of an earlier capture in a struct by value is taken for a number;
//   - AMD's 7.2 and 6.4 do not report that a kernel was launched cooperatively (their getter answers 0; 6.4 does not
//     capture hipModuleLaunchCooperativeKernel): where it matters, leave that kernel out of `layouts`;
//   - a choice that a library makes by alignment or overlap of buffers shows only in a capture at such addresses
//     (does_as_known), and a choice by sizes or by data shows in no capture.
//
// With the quirks of the release, work with a node that its getters report wrongly (ReleaseQuirks::of_read) is opaque.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "hip/captured_graph.h"
#include "hip/recording.h"

namespace hip {

struct Shadows {
  std::vector<AddressTable> tables;    // two or more, by buffer index
  std::vector<std::uint64_t> bytes;    // of each buffer
  std::vector<BufferIndex> buffers{};  // the buffers that the work uses
};

// Why the tables cannot be used, or null: fewer than two tables, a table without one of the buffers, buffers that
// overlap (also between tables), a buffer with one lowest byte in all tables, or two that move alike at some byte.
[[nodiscard]] const char* flaw_of(const Shadows& shadows);

// The relocations of a block of bytes, of which blocks[k] was captured for tables[k]; an error says why it is opaque.
// The shadows have no flaw (asserted). Takes time linear in the block's size, for a fixed number of buffers.
[[nodiscard]] Result<std::vector<Relocation>> attribute(std::span<const std::vector<std::byte>> blocks,
                                                        const Shadows& shadows);
// The same for the arguments of a kernel; `slots` has all of them, in any order.
[[nodiscard]] Result<std::vector<Relocation>> attribute(std::span<const std::vector<std::byte>> blocks,
                                                        const Shadows& shadows, std::span<const ArgumentSlot> slots);

// The places and kinds of a kernel's arguments, from its code object's metadata (hip/metadata_slots.h); nullopt where
// they are not known. Lists all arguments and no others: the runtime's array of arguments does not tell its length.
using KernelLayouts = std::function<std::optional<std::vector<ArgumentSlot>>(hipFunction_t)>;

// The enqueued work as a command for a recording: a child whose nodes have their relocations, or, where something
// is opaque, captured_command() with the reason. An error is one of capturing or of the runtime's getters.
[[nodiscard]] Result<RecordedNode> differential_command(const Api& api, hipStream_t stream, const EnqueueAt& work,
                                                        const Shadows& shadows, const KernelLayouts& layouts,
                                                        ErrorSink errors = {}, const ReleaseQuirks& quirks = {});

// Whether the work, captured once more with its buffers at `addresses`, equals `known` (a child of
// differential_command) at these addresses. Shadows do not show the choices that a library makes by its addresses.
[[nodiscard]] Result<bool> does_as_known(const Api& api, hipStream_t stream, const EnqueueAt& work,
                                         const Recording& known, std::span<const DeviceAddress> addresses,
                                         const KernelLayouts& layouts, ErrorSink errors = {},
                                         const ReleaseQuirks& quirks = {});

}  // namespace hip
