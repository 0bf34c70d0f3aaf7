// Code objects made by hand for tests: an ELF with one segment of notes, and metadata that is valid until a test
// changes one thing about it.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace fixture {

using Bytes = std::vector<std::byte>;
using Json = nlohmann::json;

inline Bytes bytes_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

struct Note {
  std::string owner{"AMDGPU", 7};
  std::uint32_t type = 32;
  std::string body{};
};

inline Elf64_Ehdr elf_header() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_AMDGPU;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  return header;
}

template <class T>
std::string raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

inline std::string padded(std::string text) {
  text.resize((text.size() + 3) / 4 * 4);
  return text;
}

inline Bytes elf_with(const std::vector<Note>& notes) {
  std::string body{};
  for (const Note& note : notes) {
    const Elf64_Nhdr header{static_cast<Elf64_Word>(note.owner.size()), static_cast<Elf64_Word>(note.body.size()),
                            note.type};
    body += raw(header) + padded(note.owner) + padded(note.body);
  }
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
  segment.p_filesz = body.size();
  segment.p_memsz = body.size();
  segment.p_align = 4;
  return bytes_of(raw(elf_header()) + raw(segment) + body);
}

// An ELF whose only symbol is `name`, in a section with these flags.
inline Bytes elf_with_symbol(const std::string& name, unsigned char type, unsigned char bind, std::uint64_t flags) {
  Elf64_Ehdr header = elf_header();
  header.e_phoff = header.e_phnum = 0;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  Elf64_Sym symbols[2] = {};
  symbols[1] = {1, static_cast<unsigned char>(ELF64_ST_INFO(bind, type)), 0, 3, 0, 16};
  const std::string strings = std::string(1, '\0') + name + std::string(1, '\0');
  Elf64_Shdr sections[4] = {};
  sections[1].sh_type = SHT_SYMTAB;
  sections[1].sh_offset = sizeof header;
  sections[1].sh_size = sizeof symbols;
  sections[1].sh_link = 2;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sizeof header + sizeof symbols;
  sections[2].sh_size = strings.size();
  sections[3].sh_type = SHT_NOBITS;
  sections[3].sh_flags = flags;
  header.e_shoff = sizeof header + sizeof symbols + strings.size();
  return bytes_of(raw(header) + raw(symbols) + strings + raw(sections));
}

inline Bytes elf_with_metadata(const std::string& msgpack) {
  return elf_with({Note{.body = msgpack}});
}

inline std::string packed(const Json& metadata) {
  const std::vector<std::uint8_t> bytes = Json::to_msgpack(metadata);
  return {bytes.begin(), bytes.end()};
}

inline Bytes elf_with_metadata(const Json& metadata) {
  return elf_with_metadata(packed(metadata));
}

inline Json argument(std::string name, std::uint32_t offset, std::uint32_t size, std::string kind) {
  return {{".name", std::move(name)}, {".offset", offset}, {".size", size}, {".value_kind", std::move(kind)}};
}

// Two kernels; the first has arguments of every kind.
inline Json valid_metadata() {
  Json kernel = {{".name", "first"},
                 {".symbol", "first.kd"},
                 {".kernarg_segment_size", 64},
                 {".kernarg_segment_align", 8},
                 {".group_segment_fixed_size", 1024},
                 {".private_segment_fixed_size", 16},
                 {".wavefront_size", 64}};
  Json second = kernel;
  second[".name"] = "second";
  second[".symbol"] = "second.kd";
  kernel[".args"] = Json::array({argument("out", 0, 8, "global_buffer"),
                                 argument("n", 8, 4, "by_value"),
                                 argument("p.coerce", 16, 16, "by_value"),
                                 argument("image", 32, 8, "image"),
                                 {{".offset", 40}, {".size", 4}, {".value_kind", "hidden_block_count_x"}}});
  return {{"amdhsa.version", {1, 2}},
          {"amdhsa.target", "amdgcn-amd-amdhsa--gfx942"},
          {"amdhsa.kernels", Json::array({kernel, second})}};
}

struct BundleEntry {
  std::string triple;
  Bytes image;
};

// A clang offload bundle; each entry starts on a page, as clang places them.
inline Bytes bundle(const std::vector<BundleEntry>& entries) {
  std::string header = "__CLANG_OFFLOAD_BUNDLE__" + raw(std::uint64_t{entries.size()});
  std::string images;
  for (const BundleEntry& entry : entries) {
    constexpr std::uint64_t kPage = 4096;
    images.resize((images.size() + kPage - 1) / kPage * kPage);
    header += raw(std::uint64_t{kPage + images.size()}) + raw(std::uint64_t{entry.image.size()}) +
              raw(std::uint64_t{entry.triple.size()}) + entry.triple;
    images.append(reinterpret_cast<const char*>(entry.image.data()), entry.image.size());
  }
  header.resize(4096);
  return bytes_of(header + images);
}

}  // namespace fixture
