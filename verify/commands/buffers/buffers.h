// The family of commands about buffers: memory that the program declares, moves, reads, writes and frees.
#pragma once

#include "verify/commands/fields.h"
#include "verify/language/foreign_kernels.h"

namespace verify {

// In the order of MemoryKind.
inline constexpr std::array<std::string_view, kMemoryKinds> kMemoryWords = {"device", "pinned", "pageable", "managed",
                                                                            "registered"};
struct DeclareBuffer {
  Id buffer = 0;
  std::uint64_t bytes = 0;
  MemoryKind memory = MemoryKind::kDevice;
  // A variable of the device code, by number; its address stays the same while the program runs.
  std::optional<std::uint32_t> symbol = {};
  Id device = 0;                  // the device that owns the memory; for device memory only
  std::optional<Id> module = {};  // the module that has the variable; none: the code that is always there
  std::optional<ForeignVariable> variable = {};  // a variable of a code object of a recorded program
  static constexpr auto spec() {
    return describe_command(
               "buffer",
               "A buffer and its size in bytes. It holds a fixed pattern that depends on its number. `registered` "
               "is pageable memory after `hipHostRegister`; `managed` memory is host and device memory to a copy's "
               "kind. `symbol=N` makes the buffer one of four variables of the device code (1,024 bytes each), or "
               "its first bytes. It is never moved or freed. Nodes name it by its address, linear copies also by "
               "its symbol. With `module=m0` it is that variable of the module (`hipModuleGetGlobal`), which no symbol "
               "names and which is gone when the module is. `variable=NAME@CODE_OBJECT` is a variable of a recorded "
               "program's code object, with the contents that it has there. `device=1` is memory of device 1; host "
               "memory belongs to "
               "every device.",
               kDrawnByHand, kNoDeviation, NameField{&DeclareBuffer::buffer, 'b', kIsNew},
               field::size(&DeclareBuffer::bytes, 1, kMaxBufferBytes, Simpler::kSmallSize),
               ChoiceKey{"memory", &DeclareBuffer::memory, kMemoryWords, "memory", "memory ", true},
               field::symbol_key(&DeclareBuffer::symbol),
               field::device_key(&DeclareBuffer::device, "memory of another device"),
               NameKey{"module", &DeclareBuffer::module, 'm', "variable of a module"},
               VariableKey{"variable", &DeclareBuffer::variable})
        .uncounted();
  }
  bool operator==(const DeclareBuffer&) const = default;
};
struct BufferMove {
  Id buffer = 0;
  std::optional<Id> onto;  // @b1: to where b1 is now (b1 has to move away in the same command)
  bool operator==(const BufferMove&) const = default;
};
struct MoveBuffers {
  std::vector<BufferMove> moves;
  static constexpr auto spec() {
    return describe_command(
        "move",
        "Buffers go elsewhere, all at once, with their contents. `b0=@b1` moves b0 to the place that b1 "
        "leaves in the same command. Old places are freed, and the next allocation may use them again.",
        kDrawnByHand, kNoDeviation, MovesField{&MoveBuffers::moves});
  }
  bool operator==(const MoveBuffers&) const = default;
};
struct Read {
  Id buffer = 0;
  static constexpr auto spec() {
    return describe_command("read", "The host waits for the device and reads the buffer; the bytes are an observation.",
                            drawn(Topic::kBytes, 4), kDescribedByFields,
                            NameField{&Read::buffer, 'b', meets("read", Leaves::kNothing)})
        .uncounted();
  }
  bool operator==(const Read&) const = default;
};
// Writes a pattern over the whole buffer, or given bytes (of a recorded program) from an offset on.
struct Write {
  Id buffer = 0;
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
  std::vector<std::uint8_t> data{};  // empty: the pattern
  static constexpr auto spec() {
    return describe_command(
        "write",
        "The host waits for the device and fills the buffer with the pattern of a seed, or writes these bytes "
        "(65,536 at most) from an offset on.",
        drawn(Topic::kBytes, 3), kNoDeviation, NameField{&Write::buffer, 'b', meets("write", Leaves::kNothing)},
        ContentsKey{&Write::seed, &Write::offset, &Write::data});
  }
  bool operator==(const Write&) const = default;
};
struct Free {
  Id buffer = 0;
  static constexpr auto spec() {
    return describe_command(
        "free",
        "Frees a buffer, or memory that a graph allocated and nobody has freed (`hipFree`, which waits for "
        "the device). HIP does not document what `hipFree` of a graph's memory leaves in the null stream, "
        "so `query s0` may not follow.",
        kDrawnByHand, kDescribedByFields, NameField{&Free::buffer, 'b', meets("free", Leaves::kNothing)});
  }
  bool operator==(const Free&) const = default;
};

using BuffersCommands = CommandList<DeclareBuffer, MoveBuffers, Read, Write, Free>;

}  // namespace verify
