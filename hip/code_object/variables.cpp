// Variables: symbols of data that no kernel descriptor has. The symbol tables name them.
#include <algorithm>
#include <cstdint>

#include "hip/code_object/code_object.h"
#include "hip/code_object/elf_header.h"

namespace hip::code_object {
namespace {

// The identifier that clang adds to each translation unit (its documentation, HIP support, -cuid).
constexpr std::string_view kUnitId = "__hip_cuid_";

bool holds(std::span<const std::byte> bytes, const Elf64_Shdr& section) {
  return section.sh_type != SHT_NOBITS && inside(section.sh_offset, section.sh_size, bytes.size());
}

// The text at `offset` of a table of strings; empty if it does not end inside of the table, or is too long.
std::string_view name_at(std::span<const std::byte> strings, std::size_t offset) {
  if (offset >= strings.size()) return {};
  const auto rest = strings.subspan(offset).first(std::min(strings.size() - offset, kMaxNameBytes));
  const auto end = std::ranges::find(rest, std::byte{0});
  if (end == rest.end()) return {};
  return {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin())};
}

}  // namespace

bool has_variables(std::span<const std::byte> elf) {
  const Result<Elf64_Ehdr> read = read_elf_header(elf);
  if (!read) return false;
  const Elf64_Ehdr& header = read.value();
  const auto section_of = [&](std::size_t i) { return read_entry<Elf64_Shdr>(elf, header.e_shoff, i); };
  const auto is_variable = [&](const Elf64_Sym& symbol, std::span<const std::byte> strings) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0) return false;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= header.e_shnum) return false;
    const std::string_view name = name_at(strings, symbol.st_name);
    if (name.ends_with(".kd") || name.starts_with(kUnitId)) return false;
    // Nothing outside of the code can reach a local constant, such as the text of a printf.
    const bool constant = (section_of(symbol.st_shndx).sh_flags & SHF_WRITE) == 0;
    return !(constant && ELF64_ST_BIND(symbol.st_info) == STB_LOCAL);
  };
  std::size_t symbols = 0;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section_of(i);
    if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) continue;
    if (!holds(elf, table) || table.sh_link >= header.e_shnum) continue;
    const Elf64_Shdr text = section_of(table.sh_link);
    if (!holds(elf, text)) continue;
    const std::span<const std::byte> strings = elf.subspan(text.sh_offset, text.sh_size);
    for (std::size_t k = 0; k < table.sh_size / sizeof(Elf64_Sym); ++k) {
      if (++symbols > kMaxSymbols) return true;
      if (is_variable(read_entry<Elf64_Sym>(elf, table.sh_offset, k), strings)) return true;
    }
  }
  return false;
}

}  // namespace hip::code_object
