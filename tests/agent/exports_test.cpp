// The exports of the library: exactly the HSA functions that AMD's runtimes import, with their versions, and our own.
//
// Reads dynamic symbol tables itself. The runtimes of the capsule that are there (RUNTIMES) are compared; each imports
// a different set, and all of them must be covered.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace {

// A file's dynamic symbols of version ROCR_1 or without one, as NAME@VERSION.
class Symbols {
 public:
  explicit Symbols(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    if (bytes_.size() < sizeof(Elf64_Ehdr)) return;
    const auto header = read<Elf64_Ehdr>(0);
    for (unsigned i = 0; i < header.e_shnum; ++i) sections_.push_back(read<Elf64_Shdr>(header.e_shoff + i * 64));
    read_needed();
    const Elf64_Shdr* symbols = section(SHT_DYNSYM);
    const Elf64_Shdr* versions = section(SHT_GNU_versym);
    if (symbols == nullptr || versions == nullptr) return;
    read_versions();
    for (std::size_t i = 1; i < symbols->sh_size / sizeof(Elf64_Sym); ++i) {
      const auto s = read<Elf64_Sym>(symbols->sh_offset + i * sizeof(Elf64_Sym));
      const auto version = read<Elf64_Half>(versions->sh_offset + i * 2) & 0x7fff;
      const std::string name = text(*symbols, s.st_name) + "@" + names_[version];
      if (s.st_shndx == SHN_UNDEF) {
        imported.insert(name);
      } else if (ELF64_ST_TYPE(s.st_info) != STT_OBJECT || s.st_shndx != SHN_ABS) {
        exported.insert(name);
      }
    }
  }

  std::set<std::string> imported;
  std::set<std::string> exported;
  std::set<std::string> needed;  // libraries

 private:
  template <class T>
  T read(std::size_t offset) const {
    T value{};
    if (offset <= bytes_.size() && sizeof(T) <= bytes_.size() - offset) std::memcpy(&value, &bytes_[offset], sizeof(T));
    return value;
  }
  const Elf64_Shdr* section(unsigned type) const {
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type == type) return &s;
    }
    return nullptr;
  }
  std::string text(const Elf64_Shdr& of, std::size_t offset) const {
    return bytes_.c_str() + sections_.at(of.sh_link).sh_offset + offset;
  }
  void read_needed() {
    const Elf64_Shdr* dynamic = section(SHT_DYNAMIC);
    if (dynamic == nullptr) return;
    for (std::size_t i = 0; i < dynamic->sh_size / sizeof(Elf64_Dyn); ++i) {
      const auto entry = read<Elf64_Dyn>(dynamic->sh_offset + i * sizeof(Elf64_Dyn));
      if (entry.d_tag == DT_NEEDED) needed.insert(text(*dynamic, entry.d_un.d_val));
    }
  }
  void read_versions() {
    names_.resize(0x8000);
    if (const Elf64_Shdr* files = section(SHT_GNU_verneed)) {
      for (std::size_t at = files->sh_offset, i = 0; i < files->sh_info; ++i) {
        const auto file = read<Elf64_Verneed>(at);
        for (std::size_t aux = at + file.vn_aux, j = 0; j < file.vn_cnt; ++j) {
          const auto version = read<Elf64_Vernaux>(aux);
          names_[version.vna_other & 0x7fff] = text(*files, version.vna_name);
          aux += version.vna_next;
        }
        at += file.vn_next;
      }
    }
    if (const Elf64_Shdr* defined = section(SHT_GNU_verdef)) {
      for (std::size_t at = defined->sh_offset, i = 0; i < defined->sh_info; ++i) {
        const auto version = read<Elf64_Verdef>(at);
        names_[version.vd_ndx & 0x7fff] = text(*defined, read<Elf64_Verdaux>(at + version.vd_aux).vda_name);
        at += version.vd_next;
      }
    }
  }

  std::string bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<std::string> names_;
};

TEST(ExportsTest, OnlyHsasFunctionsAndOursAreExported) {
  const Symbols library(AGENT_LIBRARY);
  std::size_t hsa = 0;
  std::size_t ours = 0;
  for (const std::string& name : library.exported) {
    const bool is_hsa = name.starts_with("hsa_") && name.ends_with("@ROCR_1");
    const bool is_ours = name.starts_with("hgagent_") && name.ends_with("@HGAGENT_1");
    EXPECT_TRUE(is_hsa || is_ours) << name;
    hsa += is_hsa ? 1 : 0;
    ours += is_ours ? 1 : 0;
  }
  EXPECT_EQ(hsa, 99u);
  EXPECT_EQ(ours, 9u);
}

TEST(ExportsTest, EveryFunctionThatARuntimeImportsIsExported) {
  const Symbols library(AGENT_LIBRARY);
  const std::vector<std::string> runtimes = {RUNTIMES};
  ASSERT_FALSE(runtimes.empty());
  for (const std::string& runtime : runtimes) {
    std::size_t imported = 0;
    for (const std::string& name : Symbols(runtime).imported) {
      if (!name.starts_with("hsa_")) continue;
      ++imported;
      EXPECT_TRUE(library.exported.contains(name)) << runtime << " imports " << name;
    }
    EXPECT_GE(imported, 79u) << runtime;
  }
}

TEST(ExportsTest, NothingButTheSystemsLibrariesIsNeeded) {
  // Beside the runtime of another release there is no libLLVM of ours.
  const std::set<std::string> system = {"libstdc++.so.6", "libgcc_s.so.1",        "libc.so.6",
                                        "libm.so.6",      "ld-linux-x86-64.so.2", "libpthread.so.0"};
  const std::set<std::string> needed = Symbols(AGENT_LIBRARY).needed;
  EXPECT_TRUE(needed.contains("libc.so.6"));
  for (const std::string& library : needed) EXPECT_TRUE(system.contains(library)) << library;
}

}  // namespace
