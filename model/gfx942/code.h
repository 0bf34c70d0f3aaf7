// The decoded instructions of a program, and look-ups by address.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "model/gfx942/instruction.h"

namespace gfx942 {

class Code {
 public:
  // Decodes `bytes`, which lie at `address`, from front to end. An invalid encoding takes one dword.
  void add_section(u64 address, std::vector<std::byte> bytes);
  // Resolves branch targets. Call it after the last add_section().
  void link();
  // The same code at addresses that are `distance` higher; nothing else changes.
  [[nodiscard]] Code moved(u64 distance) const;
  // Whether exactly these bytes were added as the `index`th section, at `address`.
  [[nodiscard]] bool has_section(std::size_t index, u64 address, std::span<const std::byte> bytes) const;

  [[nodiscard]] const Instruction* instructions() const { return instructions_.data(); }
  // The index of the instruction at `address`; kNoTarget when none starts there.
  [[nodiscard]] u32 index_of(u64 address) const;
  // The text of an instruction. It is disassembled again, because only faults need the text.
  [[nodiscard]] std::string text_of(const Instruction& in) const;
  [[nodiscard]] std::vector<std::string> unknown_instructions() const;

 private:
  struct Section {
    u64 address;
    std::vector<std::byte> bytes;
    std::vector<u32> starts;  // for each dword the index of the instruction that starts there, or kNoTarget
  };
  [[nodiscard]] const Section* section_of(u64 address) const;

  std::vector<Section> sections_;
  std::vector<Instruction> instructions_;
};

}  // namespace gfx942
