// Images: finds the bytes of the code object in an image for hipModuleLoadData.
//
// The tables of an ELF give its length; a clang offload bundle gives the places of its entries. Compressed bundles
// ("CCOB") are refused by name: AMD's runtime decompresses them, this project's own code objects are never compressed.
#include <algorithm>
#include <cstdint>

#include "hip/code_object/code_object.h"
#include "hip/code_object/elf_header.h"

namespace hip::code_object {
namespace {

constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedMagic = "CCOB";
constexpr std::uint64_t kMaxTripleBytes = 4096;

bool starts_with(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

// The size of the ELF at the start of `bytes`, by its own tables.
Result<std::uint64_t> claimed_size(std::span<const std::byte> bytes) {
  const Result<Elf64_Ehdr> checked = read_elf_header(bytes);
  if (!checked) return checked.error();
  const Elf64_Ehdr& header = checked.value();
  std::uint64_t end = std::max<std::uint64_t>({sizeof(Elf64_Ehdr), header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr),
                                               header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr)});
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = read_entry<Elf64_Phdr>(bytes, header.e_phoff, i);
    if (!inside(segment.p_offset, segment.p_filesz, bytes.size())) {
      return invalid_image("segment " + std::to_string(i) + " lies outside of the image");
    }
    end = std::max(end, segment.p_offset + segment.p_filesz);
  }
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read_entry<Elf64_Shdr>(bytes, header.e_shoff, i);
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;  // they occupy no bytes of the file
    if (!inside(section.sh_offset, section.sh_size, bytes.size())) {
      return invalid_image("section " + std::to_string(i) + " lies outside of the image");
    }
    end = std::max(end, section.sh_offset + section.sh_size);
  }
  return end;
}

// How well the triple of a bundle's entry ("hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-") suits a processor.
enum class Suits { kNot, kWithFeatures, kPlainly };
Suits suits(std::string_view triple, std::string_view processor) {
  if (triple.find("amdgcn") == std::string_view::npos) return Suits::kNot;
  const std::size_t dash = triple.rfind("--");
  if (dash == std::string_view::npos) return Suits::kNot;
  const std::string_view target = triple.substr(dash + 2);
  if (target == processor) return Suits::kPlainly;
  return target.substr(0, target.find(':')) == processor ? Suits::kWithFeatures : Suits::kNot;
}

// Reads numbers and strings one after the other; ok() is false after the first that lies outside of the bytes.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, std::uint64_t at) : bytes_(bytes), at_(at) {}
  [[nodiscard]] bool ok() const { return ok_; }

  std::uint64_t number() {
    std::uint64_t value = 0;
    if (take(sizeof(value))) std::memcpy(&value, bytes_.data() + at_ - sizeof(value), sizeof(value));
    return value;
  }
  std::string text(std::uint64_t size) {
    if (!take(size)) return {};
    std::string value(size, '\0');
    std::memcpy(value.data(), bytes_.data() + at_ - size, size);
    return value;
  }

 private:
  bool take(std::uint64_t size) {
    ok_ = ok_ && inside(at_, size, bytes_.size());
    if (ok_) at_ += size;
    return ok_;
  }

  std::span<const std::byte> bytes_;
  std::uint64_t at_;
  bool ok_ = true;
};

// The entry of a bundle that suits best, not yet known to be an ELF.
Result<std::span<const std::byte>> find_bundle_entry(std::span<const std::byte> bundle, std::string_view processor) {
  Cursor cursor(bundle, kBundleMagic.size());
  const std::uint64_t count = cursor.number();
  if (!cursor.ok() || count > kMaxBundleEntries) {
    return invalid_image("an offload bundle with " + std::to_string(count) + " entries, of at most " +
                         std::to_string(kMaxBundleEntries));
  }
  std::span<const std::byte> best;
  Suits how = Suits::kNot;
  std::string seen;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t offset = cursor.number();
    const std::uint64_t size = cursor.number();
    const std::uint64_t triple_bytes = cursor.number();
    const std::string triple = triple_bytes <= kMaxTripleBytes ? cursor.text(triple_bytes) : std::string();
    if (!cursor.ok() || triple_bytes > kMaxTripleBytes || !inside(offset, size, bundle.size())) {
      return invalid_image("entry " + std::to_string(i) + " of the offload bundle lies outside of the image");
    }
    if (suits(triple, processor) > how) {
      how = suits(triple, processor);
      best = bundle.subspan(offset, size);
    }
    if (seen.size() < kMaxTripleBytes) seen += " " + triple;
  }
  if (how != Suits::kNot) return best;
  return Error{kNoBinaryForGpu, "the offload bundle has no entry for " + std::string(processor) + "; it has:" + seen};
}

}  // namespace

Result<Elf64_Ehdr> read_elf_header(std::span<const std::byte> bytes) {
  if (!starts_with(bytes, ELFMAG)) return invalid_image("it does not start with the magic bytes of ELF");
  if (bytes.size() < sizeof(Elf64_Ehdr)) return invalid_image("it ends inside of the ELF header");
  const auto header = read_entry<Elf64_Ehdr>(bytes, 0, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return invalid_image("the ELF is not 64-bit little-endian");
  }
  if (header.e_machine != EM_AMDGPU) {
    return invalid_image("the ELF is for machine " + std::to_string(header.e_machine) + ", not for AMD GPUs");
  }
  if (header.e_phnum > kMaxProgramHeaders) {
    return invalid_image(std::to_string(header.e_phnum) + " segments, of at most " +
                         std::to_string(kMaxProgramHeaders));
  }
  if ((header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr)) ||
      !inside(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), bytes.size())) {
    return invalid_image("its table of segments does not fit");
  }
  // A section count of zero with a table says that the count is elsewhere; no code object has that many sections.
  if (header.e_shnum == 0 && header.e_shoff != 0) return invalid_image("its sections use extended numbering");
  if ((header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr)) ||
      !inside(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), bytes.size())) {
    return invalid_image("its table of sections does not fit");
  }
  return header;
}

Result<std::span<const std::byte>> find_code_object(std::span<const std::byte> image, std::string_view processor) {
  if (starts_with(image, kCompressedMagic)) {
    return invalid_image("a compressed offload bundle; compile with --no-offload-compress");
  }
  if (starts_with(image, kBundleMagic)) {
    const Result<std::span<const std::byte>> entry = find_bundle_entry(image, processor);
    if (!entry) return entry.error();
    image = entry.value();
  }
  const Result<std::uint64_t> size = claimed_size(image);
  if (!size) return size.error();
  return image.first(size.value());
}

Result<std::span<const std::byte>> find_code_object(const void* image, std::string_view processor) {
  if (image == nullptr) return invalid_image("the image is null");
  return find_code_object(std::span(static_cast<const std::byte*>(image), kMaxImageBytes), processor);
}

Result<std::size_t> elf_size(const void* image) {
  const Result<std::span<const std::byte>> found = find_code_object(image);
  if (!found) return found.error();
  return found.value().size();
}

}  // namespace hip::code_object
