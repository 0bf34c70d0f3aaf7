// Finding code objects in a file, and decoding them front to end; the contract is in the header.
#include "model/gfx942/instruction_count.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
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
constexpr u64 kMaxEntries = 256;       // of one bundle
constexpr u64 kMaxSections = 1024;     // of one code object
constexpr std::size_t kMaxName = 256;  // of a target; the rest of a longer name is not read
constexpr u32 kMachine = 0x4c;         // EF_AMDGPU_MACH_AMDGCN_GFX942

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
    const std::string_view mnemonic = std::string_view(d.text).substr(0, d.text.find_first_of(" \t"));
    if (decode(d.text, encoded).handler == &run_unknown) note(count, d.text, knows_mnemonic(mnemonic));
    offset += d.bytes;
  }
}

// Whether a compressed bundle begins here: the magic, its version and method, from version 2 on the size of the whole
// (4 bytes, or 8 from version 3 on), then the size of the decompressed bundle and a hash of 8 bytes. Three letters of a
// string are no bundle, so the numbers have to make sense.
bool is_compressed(Bytes bundle) {
  constexpr u64 kSizes = kCompressedBundle.size() + 2 * sizeof(u16);
  const auto version = field_at<u16>(bundle, kCompressedBundle.size());
  const auto method = field_at<u16>(bundle, kCompressedBundle.size() + sizeof(u16));
  if (!version || *version < 1 || *version > 3 || !method || *method > 1) return false;
  const u64 width = *version == 3 ? sizeof(u64) : sizeof(u32);
  const u64 header = kSizes + (*version == 1 ? 1 : 2) * width + sizeof(u64);
  if (bundle.size() < header) return false;
  if (*version == 1) return *field_at<u32>(bundle, kSizes) != 0;
  const u64 whole = *version == 3 ? *field_at<u64>(bundle, kSizes) : *field_at<u32>(bundle, kSizes);
  return whole >= header && whole <= bundle.size();
}

// One file on its way. Bytes that several entries or sections name are counted once, so that the time is bounded by the
// size of the file.
class File {
 public:
  File(Bytes bytes, InstructionCount& count) : bytes_(bytes), count_(count) {}
  // Whether a code object for gfx942 is in these bytes of the file; then its executable sections are counted.
  bool count_code_object(u64 begin, Bytes object);
  void count_bundles();
  void find_compressed();

 private:
  void fail(const std::string& why);
  void count_sections(u64 begin, Bytes object, const Elf64_Ehdr& header);
  void count_code(u64 begin, Bytes code, u64 address);
  u64 count_bundle(u64 begin);

  Bytes bytes_;
  InstructionCount& count_;
  std::set<std::string> failures_;
  std::set<u64> objects_;        // where the code objects that were counted begin
  std::map<u64, u64> sections_;  // the bytes that were counted: begin and end
};

// Once for each file and reason.
void File::fail(const std::string& why) {
  if (failures_.insert(why).second) count_.errors.push_back(why);
}

bool File::count_code_object(u64 begin, Bytes object) {
  const auto header = field_at<Elf64_Ehdr>(object, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_machine != EM_AMDGPU ||
      (header->e_flags & 0xff) != kMachine) {
    return false;
  }
  if (!objects_.insert(begin).second) return true;
  ++count_.code_objects;
  count_sections(begin, object, *header);
  return true;
}

void File::count_sections(u64 begin, Bytes object, const Elf64_Ehdr& header) {
  if (header.e_shnum > kMaxSections) return fail("a code object has too many sections");
  for (u64 i = 0; i < header.e_shnum; ++i) {
    const auto section = field_at<Elf64_Shdr>(object, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return fail("the sections of a code object lie outside of it");
    if (section->sh_type != SHT_PROGBITS || (section->sh_flags & SHF_EXECINSTR) == 0) continue;
    const std::optional<Bytes> code = part_of(object, section->sh_offset, section->sh_size);
    if (!code) fail("a section lies outside of its code object");
    if (code && !code->empty()) count_code(begin + section->sh_offset, *code, section->sh_addr);
  }
}

void File::count_code(u64 begin, Bytes code, u64 address) {
  const u64 end = begin + code.size();
  const auto next = sections_.lower_bound(begin);
  if (next != sections_.end() && next->first == begin && next->second == end) return;
  const bool behind = next != sections_.end() && next->first < end;
  if (behind || (next != sections_.begin() && std::prev(next)->second > begin)) return fail("two sections overlap");
  sections_.emplace(begin, end);
  count_section(code, address, count_);
}

// A bundle: the magic, the number of entries, and of each its offset, its size and its target's name. Returns where to
// look for the next bundle: behind the names where all entries are good, else behind the magic.
u64 File::count_bundle(u64 begin) {
  const Bytes bundle = bytes_.subspan(begin);
  const u64 entries = field_at<u64>(bundle, kBundle.size()).value_or(0);
  u64 at = kBundle.size() + sizeof(u64);
  for (u64 i = 0; i < entries; ++i) {
    if (i == kMaxEntries) {
      fail("a bundle has too many entries");
      break;
    }
    const auto fields = field_at<std::array<u64, 3>>(bundle, at);
    if (!fields) return begin + kBundle.size();
    const std::optional<Bytes> name = part_of(bundle, at + sizeof(*fields), (*fields)[2]);
    const std::optional<Bytes> entry = part_of(bundle, (*fields)[0], (*fields)[1]);
    if (!name || !entry) return begin + kBundle.size();
    if (text_of(name->first(std::min(name->size(), kMaxName))).find(kTarget) != std::string_view::npos) {
      (void)count_code_object(begin + (*fields)[0], *entry);
    }
    at += sizeof(*fields) + (*fields)[2];
  }
  return begin + at;
}

void File::count_bundles() {
  const std::string_view text = text_of(bytes_);
  for (u64 at = text.find(kBundle); at != std::string_view::npos; at = text.find(kBundle, at)) at = count_bundle(at);
}

void File::find_compressed() {
  const std::string_view text = text_of(bytes_);
  for (u64 at = text.find(kCompressedBundle); at != std::string_view::npos; at = text.find(kCompressedBundle, at + 1)) {
    if (is_compressed(bytes_.subspan(at))) return fail("a compressed bundle: decompress it");
  }
}

}  // namespace

void count_instructions(Bytes bytes, InstructionCount& count) {
  File file(bytes, count);
  if (file.count_code_object(0, bytes)) return;
  file.find_compressed();
  file.count_bundles();
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
