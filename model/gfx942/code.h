// The instructions of a program, which are decoded when control first reaches them, and look-ups by address.
//
// Decoding goes in runs: from an address that was jumped to until control cannot go on, or a bound. The last slot of a
// run that goes on is a joint: no instruction and not counted, it leads to the next run. An address may be decoded as
// two instructions: where control enters GPR-index mode at its front, and where a jump lands in the middle.
//
// Addresses are those of a load at 0; a wave adds its code_base. So all loads of a code object share this code. Any
// number of threads may execute it and look up addresses; decoding is behind one lock for the process (it is LLVM's).
// The lock is a std::mutex: this leaf has no hip/sync, and no explorer of schedules runs it. A process that forks while
// another of its threads decodes leaves its child a lock that nobody opens: rest all launches before a fork.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "model/gfx942/instruction.h"
#include "model/gfx942/zero_pages.h"

namespace gfx942 {

class Code {
 public:
  Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  // Adds the code at `address`, a multiple of 4, where no other section lies: Program::load() refuses others. Bytes
  // behind the last whole dword are padded with zeroes.
  void add_section(u64 address, std::vector<std::byte> bytes);
  // Makes room for decoded instructions. Call it after the last add_section(). False when there is no address space.
  [[nodiscard]] bool reserve();
  // Whether exactly these bytes were added as the `index`th section, at `address`.
  [[nodiscard]] bool has_section(std::size_t index, u64 address, std::span<const std::byte> bytes) const;

  // Slots: an instruction is followed by the next one of its run.
  [[nodiscard]] const Instruction* instructions() const { return slots_.as<Instruction>(); }
  // The slot of the instruction at `address`, which is decoded now if it never was; kNoTarget outside of the code and
  // between dwords.
  [[nodiscard]] u32 index_of(u64 address) const;
  // The same for the target of a branch; the branch remembers the answer.
  [[nodiscard]] u32 target_of(const Instruction& branch) const;
  // The text of an instruction. It is disassembled again, because only faults need the text.
  [[nodiscard]] std::string text_of(const Instruction& in) const;
  // All code, front to end, whether it was executed or not.
  [[nodiscard]] std::vector<std::string> unknown_instructions() const;
  // Slots that are filled.
  [[nodiscard]] u32 decoded() const;

 private:
  struct Section {
    u64 address;
    std::vector<std::byte> bytes;
    ZeroPages starts;  // for each dword a u32: the slot of the instruction that starts there, or 0

    [[nodiscard]] std::size_t dwords() const { return bytes.size() / sizeof(u32); }
  };
  struct Place {
    const Section* section = nullptr;  // null: none
    std::size_t dword = 0;
  };
  [[nodiscard]] Place place_of(u64 address) const;
  [[nodiscard]] u32 find(const Place& place, bool indexed) const;
  [[nodiscard]] u32 find_or_decode(const Place& place, bool indexed) const;
  void decode_run(const Place& place, bool indexed) const;
  u32 append(const Instruction& in) const;

  std::vector<Section> sections_;
  ZeroPages slots_;
  mutable u32 filled_ = 0;  // behind the lock of decoding; slot 0 stays empty
};

}  // namespace gfx942
