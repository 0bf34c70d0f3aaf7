// Calls LLVM's C interface; the contract is in the header.
#include "model/gfx942/disassembler.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <algorithm>
#include <cstring>

namespace gfx942 {
namespace {

constexpr std::size_t kLongestText = 512;
constexpr std::size_t kLongestInstruction = 20;

void initialize_llvm() {
  [[maybe_unused]] static const bool kDone = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    return true;
  }();
}

// LLVM's printer assumes valid values in the selectors of an SDWA encoding; invalid values crash it (LLVM 19).
bool selectors_exist(u32 dword, u32 sdwa) {
  constexpr u32 kSdwa = 0xf9;
  constexpr u32 kCompare = 0x3e;
  constexpr u32 kUnary = 0x3f;
  const bool vector = dword >> 31 == 0;
  if (!vector || (dword & 0x1ff) != kSdwa) return true;
  const u32 operation = dword >> 25;
  const bool destination = (sdwa >> 8 & 7) != 7 && (sdwa >> 11 & 3) != 3;
  const bool first = (sdwa >> 16 & 7) != 7;
  const bool second = (sdwa >> 24 & 7) != 7;
  return (destination || operation == kCompare) && first && (second || operation == kUnary);
}

}  // namespace

Disassembler::Disassembler() {
  initialize_llvm();
  context_ = LLVMCreateDisasmCPU("amdgcn-amd-amdhsa", "gfx942", nullptr, 0, nullptr, nullptr);
}

Disassembler::~Disassembler() {
  if (context_ != nullptr) LLVMDisasmDispose(context_);
}

Disassembled Disassembler::next(std::span<const std::byte> code, u64 address) const {
  // A copy, because the library takes a pointer to writable bytes. The bytes behind the end are zero.
  unsigned char bytes[kLongestInstruction] = {};
  const std::size_t size = std::min(code.size(), sizeof(bytes));
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(code[i]);
  u32 dwords[2] = {};
  std::memcpy(dwords, bytes, sizeof(dwords));
  if (!selectors_exist(dwords[0], dwords[1])) return {};
  char text[kLongestText] = {};
  const std::size_t used = LLVMDisasmInstruction(context_, bytes, size, address, text, sizeof(text));
  Disassembled result;
  if (used == 0) return result;
  result.bytes = static_cast<u32>(used);
  result.text = text;
  result.text.erase(0, result.text.find_first_not_of(" \t"));
  return result;
}

}  // namespace gfx942
