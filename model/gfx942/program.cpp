// Reading the ELF file: segments, relocations, symbols and kernel descriptors; the contract is in the header.
#include "model/gfx942/program.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "model/gfx942/code.h"

namespace gfx942 {
namespace {

constexpr u16 kMachineAmdgpu = 224;
constexpr u32 kMachineGfx942 = 0x4c;
constexpr u32 kMachineMask = 0xff;
constexpr std::size_t kDescriptorBytes = 64;
constexpr std::size_t kMaxProgramHeaders = 256;

// Relocations of AMDGPU's usage document that a linked code object may hold.
constexpr u32 kRelocationAbs64 = 3;
constexpr u32 kRelocationRelative64 = 13;

template <class T>
std::optional<T> read_at(std::span<const std::byte> bytes, u64 offset) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return std::nullopt;
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// A string of a string table; empty when `offset` lies outside of the table.
std::string string_at(std::span<const std::byte> table, u64 offset) {
  if (offset >= table.size()) return {};
  const auto* const begin = reinterpret_cast<const char*>(table.data()) + offset;
  return {begin, strnlen(begin, table.size() - offset)};
}

struct Elf {
  std::span<const std::byte> bytes;
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Shdr> sections;

  [[nodiscard]] std::span<const std::byte> contents(u64 offset, u64 size) const {
    if (offset > bytes.size() || size > bytes.size() - offset) return {};
    return bytes.subspan(offset, size);
  }
  [[nodiscard]] std::span<const std::byte> contents(const Elf64_Shdr& s) const {
    return s.sh_type == SHT_NOBITS ? std::span<const std::byte>{} : contents(s.sh_offset, s.sh_size);
  }
};

std::string read_header(std::span<const std::byte> bytes, Elf& elf) {
  elf.bytes = bytes;
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return "not an ELF file";
  elf.header = *header;
  const bool fits = header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;
  if (!fits || header->e_machine != kMachineAmdgpu) return "not a code object of AMD's";
  if ((header->e_flags & kMachineMask) != kMachineGfx942) return "a code object for another processor than gfx942";
  const bool sizes =
      header->e_phentsize == sizeof(Elf64_Phdr) && (header->e_shnum == 0 || header->e_shentsize == sizeof(Elf64_Shdr));
  if (!sizes || header->e_phnum > kMaxProgramHeaders) {
    return "headers of an unexpected size or number";
  }
  for (u64 i = 0; i < header->e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(bytes, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return "program headers outside of the file";
    elf.segments.push_back(*segment);
  }
  for (u64 i = 0; i < header->e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return "section headers outside of the file";
    elf.sections.push_back(*section);
  }
  return {};
}

// Code is looked up by its address in dwords: one answer, whatever the order of the program headers.
std::string check_code_place(const Elf64_Phdr& p, u64 base, const std::vector<LoadedSegment>& loaded) {
  if (p.p_vaddr % sizeof(u32) != 0) return "an executable segment at an address that is no multiple of 4";
  const u64 begin = base + p.p_vaddr, end = begin + p.p_memsz;
  for (const LoadedSegment& s : loaded) {
    if (s.executable && std::max(begin, s.address) < std::min(end, s.address + s.size)) {
      return "two executable segments overlap";
    }
  }
  return {};
}

std::string load_segments(const Elf& elf, u64 base, std::vector<LoadedSegment>& loaded, u64& extent) {
  std::size_t total = 0;
  for (const Elf64_Phdr& p : elf.segments) {
    if (p.p_type != PT_LOAD) continue;
    const std::span<const std::byte> contents = elf.contents(p.p_offset, p.p_filesz);
    if (contents.size() != p.p_filesz || p.p_memsz < p.p_filesz) return "a segment lies outside of the file";
    const bool executable = (p.p_flags & PF_X) != 0;
    if (p.p_memsz > kMaxImageBytes - total || p.p_vaddr > kMaxImageBytes || (executable && p.p_memsz > kMaxCodeBytes)) {
      return "a segment is larger than this interpreter takes";
    }
    if (executable) {
      if (std::string error = check_code_place(p, base, loaded); !error.empty()) return error;
    }
    total += p.p_memsz;
    LoadedSegment segment{base + p.p_vaddr, p.p_memsz, {}, (p.p_flags & PF_W) != 0, executable};
    segment.bytes.assign(contents.begin(), contents.end());
    segment.bytes.resize(p.p_memsz);
    loaded.push_back(std::move(segment));
    extent = std::max(extent, p.p_vaddr + p.p_memsz);
  }
  return loaded.empty() ? "no segment to load" : "";
}

// The bytes at an address of the loaded image; empty when no segment holds all of them.
std::span<std::byte> image_bytes(std::vector<LoadedSegment>& loaded, u64 address, std::size_t size) {
  for (LoadedSegment& s : loaded) {
    if (address < s.address || address - s.address > s.bytes.size()) continue;
    const std::size_t offset = address - s.address;
    if (size <= s.bytes.size() - offset) return std::span(s.bytes).subspan(offset, size);
  }
  return {};
}

struct Symbols {
  std::span<const std::byte> table;
  std::span<const std::byte> names;
  [[nodiscard]] std::size_t count() const { return table.size() / sizeof(Elf64_Sym); }
  [[nodiscard]] std::optional<Elf64_Sym> at(u64 index) const {
    if (index >= count()) return std::nullopt;
    return read_at<Elf64_Sym>(table, index * sizeof(Elf64_Sym));
  }
};

Symbols find_symbols(const Elf& elf) {
  for (const Elf64_Shdr& s : elf.sections) {
    if (s.sh_type != SHT_DYNSYM || s.sh_link >= elf.sections.size()) continue;
    return {elf.contents(s), elf.contents(elf.sections[s.sh_link])};
  }
  return {};
}

std::string apply_relocation(const Elf64_Rela& rela, const Symbols& symbols, u64 base,
                             std::vector<LoadedSegment>& image) {
  const std::span<std::byte> place = image_bytes(image, base + rela.r_offset, sizeof(u64));
  if (place.empty()) return "a relocation lies outside of the image";
  u64 value = base + static_cast<u64>(rela.r_addend);
  const u32 type = ELF64_R_TYPE(rela.r_info);
  if (type == kRelocationAbs64) {
    const std::optional<Elf64_Sym> symbol = symbols.at(ELF64_R_SYM(rela.r_info));
    if (!symbol || symbol->st_shndx == SHN_UNDEF) {
      return "undefined symbol '" + (symbol ? string_at(symbols.names, symbol->st_name) : std::string("?")) + "'";
    }
    value += symbol->st_value;
  } else if (type != kRelocationRelative64) {
    return "a relocation of type " + std::to_string(type) + ", which this interpreter does not know";
  }
  std::memcpy(place.data(), &value, sizeof(value));
  return {};
}

std::string relocate(const Elf& elf, const Symbols& symbols, u64 base, std::vector<LoadedSegment>& image) {
  for (const Elf64_Shdr& s : elf.sections) {
    if (s.sh_type != SHT_RELA || (s.sh_flags & SHF_ALLOC) == 0) continue;
    const std::span<const std::byte> table = elf.contents(s);
    for (u64 at = 0; at + sizeof(Elf64_Rela) <= table.size(); at += sizeof(Elf64_Rela)) {
      if (std::string error = apply_relocation(*read_at<Elf64_Rela>(table, at), symbols, base, image); !error.empty()) {
        return error;
      }
    }
  }
  return {};
}

// The three words of compute_pgm_rsrc, and kernel_code_properties.
void read_properties(std::span<const std::byte> d, Kernel& k) {
  const u32 rsrc3 = *read_at<u32>(d, 44);
  const u32 rsrc1 = *read_at<u32>(d, 48);
  const u32 rsrc2 = *read_at<u32>(d, 52);
  const u32 properties = *read_at<u16>(d, 56);
  const u32 preload = *read_at<u16>(d, 58);
  k.accum_offset = ((rsrc3 & 0x3f) + 1) * 4;
  k.vgprs = ((rsrc1 & 0x3f) + 1) * 8;
  const u32 clamp_and_ieee = (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9;
  k.mode = (rsrc1 >> 12 & 0xff) | clamp_and_ieee;
  k.user_sgprs = rsrc2 >> 1 & 0x1f;
  for (u32 i = 0; i < 3; ++i) k.work_group_id[i] = (rsrc2 >> (7 + i) & 1) != 0;
  k.work_group_info = (rsrc2 >> 10 & 1) != 0;
  k.private_segment_buffer = (properties & 1) != 0;
  k.dispatch_ptr = (properties >> 1 & 1) != 0;
  k.queue_ptr = (properties >> 2 & 1) != 0;
  k.kernarg_ptr = (properties >> 3 & 1) != 0;
  k.dispatch_id = (properties >> 4 & 1) != 0;
  k.flat_scratch_init = (properties >> 5 & 1) != 0;
  k.private_segment_size = (properties >> 6 & 1) != 0;
  k.wave32 = (properties >> 10 & 1) != 0;
  k.dynamic_stack = (properties >> 11 & 1) != 0;
  k.preload_words = preload & 0x7f;
  k.preload_offset = preload >> 7;
}

Kernel read_descriptor(std::span<const std::byte> d, u64 address, std::string name) {
  Kernel k;
  k.name = std::move(name);
  k.descriptor = address;
  k.group_bytes = *read_at<u32>(d, 0);
  k.private_bytes = *read_at<u32>(d, 4);
  k.kernarg_bytes = *read_at<u32>(d, 8);
  k.entry = address + static_cast<u64>(*read_at<i64>(d, 16));
  read_properties(d, k);
  return k;
}

// Whether `code` was made at address 0 of the same bytes as the code of `segments`, which is loaded at `base`.
bool same_code(const std::vector<LoadedSegment>& segments, u64 base, const Code& code) {
  std::size_t section = 0;
  for (const LoadedSegment& s : segments) {
    if (s.executable && !code.has_section(section++, s.address - base, s.bytes)) return false;
  }
  return true;
}

// Null when there is no address space for it.
std::shared_ptr<const Code> code_of(const std::vector<LoadedSegment>& segments, u64 base) {
  auto code = std::make_shared<Code>();
  for (const LoadedSegment& s : segments) {
    if (s.executable) code->add_section(s.address - base, s.bytes);
  }
  if (!code->reserve()) return nullptr;
  return code;
}

}  // namespace

Program::Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

std::variant<Program, LoadError> Program::load(std::span<const std::byte> bytes, u64 base, const Program* twin) {
  Elf elf;
  Program program;
  if (std::string error = read_header(bytes, elf); !error.empty()) return LoadError{error};
  if (std::string error = load_segments(elf, base, program.segments_, program.extent_); !error.empty()) {
    return LoadError{error};
  }
  const Symbols symbols = find_symbols(elf);
  if (std::string error = relocate(elf, symbols, base, program.segments_); !error.empty()) return LoadError{error};
  for (u64 i = 0; i < symbols.count(); ++i) {
    const Elf64_Sym symbol = *symbols.at(i);
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) continue;
    std::string name = string_at(symbols.names, symbol.st_name);
    const u64 address = base + symbol.st_value;
    const std::span<const std::byte> descriptor = image_bytes(program.segments_, address, kDescriptorBytes);
    if (name.ends_with(".kd") && symbol.st_size == kDescriptorBytes && !descriptor.empty()) {
      name.resize(name.size() - 3);
      program.kernels_.push_back(read_descriptor(descriptor, address, std::move(name)));
    } else {
      program.variables_.push_back({std::move(name), address, symbol.st_size});
    }
  }
  if (twin != nullptr && same_code(program.segments_, base, twin->code())) {
    program.code_ = twin->code_;
  } else {
    program.code_ = code_of(program.segments_, base);
  }
  if (program.code_ == nullptr) return LoadError{"no address space for the decoded code"};
  program.base_ = base;
  return program;
}

const Kernel* Program::find_kernel(std::string_view name) const {
  const auto it = std::ranges::find(kernels_, name, &Kernel::name);
  return it == kernels_.end() ? nullptr : &*it;
}

void Program::drop_bytes() {
  for (LoadedSegment& s : segments_) std::vector<std::byte>().swap(s.bytes);
}

std::vector<std::string> Program::unknown_instructions() const {
  return code_->unknown_instructions();
}

const Kernel* Program::kernel_at(u64 descriptor) const {
  const auto it = std::ranges::find(kernels_, descriptor, &Kernel::descriptor);
  return it == kernels_.end() ? nullptr : &*it;
}

}  // namespace gfx942
