// Counts the instructions of code objects that the interpreter does not know, without keeping what it decodes.
//
// A file is a code object, or anything that holds offload bundles (a library, a program, a .hsaco file of several
// targets): their entries for gfx942 are read. Bytes that two sections have are counted once. A compressed bundle is an
// error, wherever it begins; so are more entries or sections than the limits in the source, and sections outside of
// their code object or that overlap in part. An unknown *mnemonic* has no entry in
// the table of semantics; of an unknown *form* the table has the mnemonic, but not these operands or modifiers.
// Everything in an executable section is counted, the padding between functions included: bytes that are no instruction
// have the mnemonic ".long".
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/gfx942/types.h"

namespace gfx942 {

struct UnknownInstruction {
  u64 count = 0;
  bool form = false;    // the table has the mnemonic
  std::string example;  // the text of the first one
};

struct InstructionCount {
  u64 code_objects = 0;
  u64 instructions = 0;
  std::map<std::string, UnknownInstruction> unknown;  // by mnemonic
  std::vector<std::string> errors;
};

// Adds what `file` holds to `count`; bytes that are neither a code object for gfx942 nor a bundle add nothing.
void count_instructions(std::span<const std::byte> file, InstructionCount& count);

// One line for each unknown mnemonic, the most frequent first, and a last line of totals.
[[nodiscard]] std::string describe(const InstructionCount& count);

}  // namespace gfx942
