// Finding code objects in a file, and decoding them front to end; the contract is in the header.
#include "model/gfx942/instruction_count.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "model/gfx942/decode.h"
#include "model/gfx942/disassembler.h"
#include "model/gfx942/table.h"

namespace gfx942 {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kBundle = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedBundle = "CCOB";
constexpr std::string_view kTarget = "gfx942";
constexpr u32 kMachine = 0x4c;  // EF_AMDGPU_MACH_AMDGCN_GFX942

template <class T>
std::optional<T> field_at(Bytes bytes, u64 offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}
std::optional<Bytes> part_of(Bytes bytes, u64 offset, u64 size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(offset, size);
}

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void note(InstructionCount& count, const std::string& text, bool in_table) {
  const std::string mnemonic = text.substr(0, text.find_first_of(" \t"));
  UnknownInstruction& unknown = count.unknown[mnemonic];
  if (unknown.count++ == 0) unknown.example = text;
  unknown.form = in_table;
}

// The name without the suffix of an encoding, as decode() looks it up.
bool has_entry(const std::string& text) {
  const std::string_view name = std::string_view(text).substr(0, text.find_first_of(" \t"));
  for (const std::string_view suffix : {"_e32", "_e64", "_sdwa", "_dpp", ""}) {
    if (!name.ends_with(suffix)) continue;
    if (semantics_table().find(name.substr(0, name.size() - suffix.size())) != nullptr) return true;
  }
  return false;
}

void count_section(Bytes code, u64 address, InstructionCount& count) {
  const Disassembler disassembler;
  for (u64 offset = 0; offset + sizeof(u32) <= code.size();) {
    const Disassembled d = disassembler.next(code.subspan(offset), address + offset);
    ++count.instructions;
    if (d.bytes == 0) {
      note(count, ".long", false);
      offset += sizeof(u32);
      continue;
    }
    const Encoded encoded{address + offset, *field_at<u32>(code, offset), static_cast<u8>(d.bytes / sizeof(u32))};
    if (decode(d.text, encoded).handler == &run_unknown) note(count, d.text, has_entry(d.text));
    offset += d.bytes;
  }
}

// Whether `bytes` is an ELF file for gfx942; then its executable sections are counted.
bool count_code_object(Bytes bytes, InstructionCount& count) {
  const auto header = field_at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_machine != EM_AMDGPU ||
      (header->e_flags & 0xff) != kMachine) {
    return false;
  }
  ++count.code_objects;
  for (u32 i = 0; i < header->e_shnum; ++i) {
    const auto section = field_at<Elf64_Shdr>(bytes, header->e_shoff + u64{i} * sizeof(Elf64_Shdr));
    if (!section || section->sh_type != SHT_PROGBITS || (section->sh_flags & SHF_EXECINSTR) == 0) continue;
    const std::optional<Bytes> code = part_of(bytes, section->sh_offset, section->sh_size);
    if (code) {
      count_section(*code, section->sh_addr, count);
    } else {
      count.errors.emplace_back("a section lies outside of its code object");
    }
  }
  return true;
}

// A bundle: the magic, the number of entries, and of each its offset, its size and its target's name.
void count_bundle(Bytes bundle, InstructionCount& count) {
  const std::optional<u64> entries = field_at<u64>(bundle, kBundle.size());
  u64 at = kBundle.size() + sizeof(u64);
  for (u64 i = 0; entries && i < *entries; ++i) {
    const auto fields = field_at<std::array<u64, 3>>(bundle, at);
    if (!fields) break;
    const std::optional<Bytes> name = part_of(bundle, at + sizeof(*fields), (*fields)[2]);
    const std::optional<Bytes> entry = part_of(bundle, (*fields)[0], (*fields)[1]);
    if (!name || !entry) break;
    if (text_of(*name).find(kTarget) != std::string_view::npos) (void)count_code_object(*entry, count);
    at += sizeof(*fields) + (*fields)[2];
  }
}

}  // namespace

void count_instructions(Bytes file, InstructionCount& count) {
  if (count_code_object(file, count)) return;
  if (text_of(file).starts_with(kCompressedBundle)) count.errors.emplace_back("a compressed bundle: decompress it");
  const std::string_view text = text_of(file);
  for (std::size_t at = text.find(kBundle); at != std::string_view::npos; at = text.find(kBundle, at + 1)) {
    count_bundle(file.subspan(at), count);
  }
}

std::string describe(const InstructionCount& count) {
  std::vector<std::pair<std::string, UnknownInstruction>> all(count.unknown.begin(), count.unknown.end());
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return a.second.count != b.second.count ? a.second.count > b.second.count : a.first < b.first;
  });
  std::string text;
  u64 unknown = 0;
  for (const auto& [mnemonic, u] : all) {
    unknown += u.count;
    text +=
        std::to_string(u.count) + (u.form ? "  form      " : "  mnemonic  ") + mnemonic + "  e.g. " + u.example + "\n";
  }
  return text + std::to_string(count.code_objects) + " code objects, " + std::to_string(count.instructions) +
         " instructions, " + std::to_string(unknown) + " of them unknown\n";
}

}  // namespace gfx942
