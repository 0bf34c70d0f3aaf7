// Metadata: libelf reads the ELF note, msgpack-cxx decodes its msgpack within limits, and this file checks the content.
#include "hip/code_object/code_object.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <msgpack.hpp>
#include <optional>
#include <utility>

#include "hip/code_object/elf_header.h"

namespace hip::code_object {
namespace {

// From the documentation of LLVM's AMDGPU backend, "Code Object V3 and Above Note Records".
constexpr GElf_Word kNtAmdgpuMetadata = 32;
constexpr std::string_view kNoteOwner{"AMDGPU", 7};  // with its terminating zero

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMaxQuoted = 128;  // an error message stays readable whatever the names are
  const std::string head(text.substr(0, kMaxQuoted));
  return "'" + head + (text.size() > kMaxQuoted ? "...'" : "'");
}

// The metadata of all notes of one segment, appended to `found`.
Status collect_metadata(Elf* elf, const GElf_Phdr& segment, std::size_t& notes, std::vector<std::string>& found) {
  const Elf_Type type = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
  Elf_Data* data = elf_getdata_rawchunk(elf, static_cast<int64_t>(segment.p_offset), segment.p_filesz, type);
  if (data == nullptr) return invalid_image(std::string("its notes cannot be read: ") + elf_errmsg(-1));
  GElf_Nhdr note;
  std::size_t name = 0;
  std::size_t body = 0;
  for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &body)) > 0;) {
    if (++notes > kMaxNotes) return invalid_image("more than " + std::to_string(kMaxNotes) + " notes");
    if (!inside(name, note.n_namesz, data->d_size) || !inside(body, note.n_descsz, data->d_size)) {
      return invalid_image("a note lies outside of its segment");
    }
    const char* bytes = static_cast<const char*>(data->d_buf);
    if (note.n_type != kNtAmdgpuMetadata || std::string_view(bytes + name, note.n_namesz) != kNoteOwner) continue;
    if (note.n_descsz > kMaxMetadataBytes) {
      return invalid_image("metadata of " + std::to_string(note.n_descsz) + " bytes, of at most " +
                           std::to_string(kMaxMetadataBytes));
    }
    found.emplace_back(bytes + body, note.n_descsz);
  }
  return {};
}

// The one metadata note of a code object.
Result<std::string> find_metadata(std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxImageBytes) return invalid_image("it is larger than any code object");
  const Result<Elf64_Ehdr> header = read_elf_header(bytes);
  if (!header) return header.error();
  static const bool version_agreed = elf_version(EV_CURRENT) != EV_NONE;
  if (!version_agreed) return invalid_image("the installed libelf is of another version of ELF");
  // A copy, because libelf writes into the buffer that it is given.
  std::vector<char> copy(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  const std::unique_ptr<Elf, ElfEnd> elf(elf_memory(copy.data(), copy.size()));
  if (elf == nullptr) return invalid_image(elf_errmsg(-1));

  std::size_t notes = 0;
  std::vector<std::string> found;
  for (int i = 0; i < header.value().e_phnum; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf.get(), i, &segment) == nullptr) return invalid_image(elf_errmsg(-1));
    if (segment.p_type != PT_NOTE || segment.p_filesz == 0) continue;
    if (!inside(segment.p_offset, segment.p_filesz, bytes.size())) {
      return invalid_image("segment " + std::to_string(i) + " (notes) lies outside of the image");
    }
    const Status collected = collect_metadata(elf.get(), segment, notes, found);
    if (!collected) return collected.error();
    if (found.size() > 1) return invalid_image("two metadata notes");
  }
  if (found.empty()) return invalid_image("no note holds AMDGPU metadata of code object version 3 or later");
  return std::move(found.front());
}

// Reads maps of the metadata. Keeps the first error, with its place. Results after an error have no meaning, so one
// check at the end is enough, instead of one after every field.
class Reader {
 public:
  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  [[nodiscard]] const Error& error() const { return *error_; }

  // The reader's place in the metadata, for messages.
  void enter(std::string place) { place_ = std::move(place); }
  void fail(const std::string& what) {
    if (ok()) error_ = invalid_image(place_ + ": " + what);
  }

  // Checks that `object` is a map with text keys, none twice.
  void check_map(const msgpack::object& object) {
    if (object.type != msgpack::type::MAP) return fail("is not a map");
    std::vector<std::string_view> keys;
    keys.reserve(object.via.map.size);
    for (const msgpack::object_kv& pair : entries(object)) {
      if (pair.key.type != msgpack::type::STR) return fail("has a key that is not text");
      keys.push_back(text_of(pair.key));
    }
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    if (twice != keys.end()) fail("has " + in_quotes(*twice) + " twice");
  }

  static const msgpack::object* find(const msgpack::object& map, std::string_view key) {
    for (const msgpack::object_kv& pair : entries(map)) {
      if (text_of(pair.key) == key) return &pair.val;
    }
    return nullptr;
  }

  std::string text(const msgpack::object& map, std::string_view key) {
    const msgpack::object* value = find(map, key);
    if (value == nullptr || value->type != msgpack::type::STR) {
      fail("has no text " + in_quotes(key));
      return {};
    }
    return std::string(text_of(*value));
  }

  std::uint32_t number(const msgpack::object& map, std::string_view key, std::uint32_t limit) {
    const msgpack::object* value = find(map, key);
    if (value == nullptr || value->type != msgpack::type::POSITIVE_INTEGER) {
      fail("has no number " + in_quotes(key) + " that is not negative");
      return 0;
    }
    if (value->via.u64 > limit) {
      fail(in_quotes(key) + " is " + std::to_string(value->via.u64) + ", of at most " + std::to_string(limit));
      return 0;
    }
    return static_cast<std::uint32_t>(value->via.u64);
  }

  // The elements of an array; empty if the key is missing and not required.
  std::span<const msgpack::object> array(const msgpack::object& map, std::string_view key, bool required,
                                         std::size_t limit) {
    const msgpack::object* value = find(map, key);
    if (value == nullptr && !required) return {};
    if (value == nullptr || value->type != msgpack::type::ARRAY) {
      fail("has no array " + in_quotes(key));
      return {};
    }
    if (value->via.array.size > limit) {
      fail(in_quotes(key) + " has " + std::to_string(value->via.array.size) + " elements, of at most " +
           std::to_string(limit));
      return {};
    }
    return {value->via.array.ptr, value->via.array.size};
  }

 private:
  static std::span<const msgpack::object_kv> entries(const msgpack::object& map) {
    return {map.via.map.ptr, map.via.map.size};
  }
  static std::string_view text_of(const msgpack::object& text) { return {text.via.str.ptr, text.via.str.size}; }

  std::string place_ = "metadata";
  std::optional<Error> error_;
};

ArgumentKind kind_of(std::string_view value_kind) {
  if (value_kind == "global_buffer") return ArgumentKind::kPointer;
  if (value_kind == "by_value") return ArgumentKind::kValue;
  return value_kind.starts_with("hidden_") ? ArgumentKind::kHidden : ArgumentKind::kOther;
}

Argument read_argument(Reader& reader, const msgpack::object& map) {
  Argument argument;
  reader.check_map(map);
  if (!reader.ok()) return argument;
  argument.offset = reader.number(map, ".offset", kMaxKernargBytes);
  argument.size = reader.number(map, ".size", kMaxKernargBytes);
  argument.kind = kind_of(reader.text(map, ".value_kind"));
  if (Reader::find(map, ".name") != nullptr) argument.name = reader.text(map, ".name");
  // Clang's suffix for an argument that it passes as another type.
  constexpr std::string_view kCoerced = ".coerce";
  if (argument.name.ends_with(kCoerced)) argument.name.resize(argument.name.size() - kCoerced.size());
  if (argument.size == 0) reader.fail("has no bytes");
  if (argument.kind == ArgumentKind::kPointer && argument.size != sizeof(std::uint64_t)) {
    reader.fail("is a pointer of " + std::to_string(argument.size) + " bytes");
  }
  return argument;
}

// Checks that no two arguments share a byte and that all lie in the argument block, and puts them in order.
void place_arguments(Reader& reader, KernelMetadata& kernel) {
  std::vector<Argument>& arguments = kernel.arguments;
  std::ranges::sort(arguments, {}, &Argument::offset);
  std::uint32_t end = 0;
  for (const Argument& argument : arguments) {
    const std::string which = "the argument at offset " + std::to_string(argument.offset);
    if (argument.offset < end) return reader.fail(which + " overlaps the one before it");
    if (!inside(argument.offset, argument.size, kernel.kernarg_bytes)) {
      return reader.fail(which + " ends outside of the argument block of " + std::to_string(kernel.kernarg_bytes) +
                         " bytes");
    }
    end = argument.offset + argument.size;
    if (argument.kind != ArgumentKind::kHidden) kernel.explicit_bytes = end;
  }
  std::ranges::sort(arguments, [](const Argument& a, const Argument& b) {
    return std::pair(a.kind == ArgumentKind::kHidden, a.offset) < std::pair(b.kind == ArgumentKind::kHidden, b.offset);
  });
}

KernelMetadata read_kernel(Reader& reader, const msgpack::object& map, std::size_t index) {
  KernelMetadata kernel;
  std::string place = "kernel " + std::to_string(index);
  reader.enter(place);
  reader.check_map(map);
  if (!reader.ok()) return kernel;
  constexpr std::uint32_t kAny = ~std::uint32_t{0};
  kernel.name = reader.text(map, ".name");
  place += " " + in_quotes(kernel.name);
  reader.enter(place);
  kernel.symbol = reader.text(map, ".symbol");
  kernel.kernarg_bytes = reader.number(map, ".kernarg_segment_size", kMaxKernargBytes);
  kernel.kernarg_align = reader.number(map, ".kernarg_segment_align", kMaxKernargAlign);
  kernel.group_bytes = reader.number(map, ".group_segment_fixed_size", kAny);
  kernel.private_bytes = reader.number(map, ".private_segment_fixed_size", kAny);
  kernel.wavefront_size = reader.number(map, ".wavefront_size", kAny);
  if (kernel.name.empty()) reader.fail("has an empty name");
  if (std::popcount(kernel.kernarg_align) != 1) reader.fail("'.kernarg_segment_align' is not a power of two");
  if (kernel.wavefront_size != 32 && kernel.wavefront_size != 64) reader.fail("'.wavefront_size' is not 32 or 64");

  const std::span<const msgpack::object> arguments = reader.array(map, ".args", false, kMaxArguments);
  for (std::size_t i = 0; i < arguments.size() && reader.ok(); ++i) {
    reader.enter(place + ", argument " + std::to_string(i));
    kernel.arguments.push_back(read_argument(reader, arguments[i]));
  }
  reader.enter(std::move(place));
  if (reader.ok()) place_arguments(reader, kernel);
  return kernel;
}

// Checks that no two kernels have the same name, or symbol: a loader finds kernels by them.
void check_distinct(Reader& reader, const std::vector<KernelMetadata>& kernels, std::string KernelMetadata::* field) {
  std::vector<std::string_view> all;
  all.reserve(kernels.size());
  for (const KernelMetadata& kernel : kernels) all.push_back(kernel.*field);
  std::ranges::sort(all);
  const auto twice = std::ranges::adjacent_find(all);
  if (twice != all.end()) reader.fail("two kernels are called " + in_quotes(*twice));
}

Result<std::vector<KernelMetadata>> read_metadata(const msgpack::object& root) {
  Reader reader;
  reader.check_map(root);
  if (!reader.ok()) return reader.error();
  const std::span<const msgpack::object> version = reader.array(root, "amdhsa.version", true, 2);
  const bool version_1 =
      version.size() == 2 && version[0].type == msgpack::type::POSITIVE_INTEGER && version[0].via.u64 == 1;
  if (!version_1) reader.fail("'amdhsa.version' is not 1.x");
  std::vector<KernelMetadata> kernels;
  const std::span<const msgpack::object> maps = reader.array(root, "amdhsa.kernels", true, kMaxKernels);
  for (std::size_t i = 0; i < maps.size() && reader.ok(); ++i) kernels.push_back(read_kernel(reader, maps[i], i));
  reader.enter("metadata");
  if (reader.ok()) check_distinct(reader, kernels, &KernelMetadata::name);
  if (reader.ok()) check_distinct(reader, kernels, &KernelMetadata::symbol);
  if (!reader.ok()) return reader.error();
  return kernels;
}

}  // namespace

Result<std::vector<KernelMetadata>> read_kernels(std::span<const std::byte> elf) {
  const Result<std::string> metadata = find_metadata(elf);
  if (!metadata) return metadata.error();
  const std::string& bytes = metadata.value();
  // Text is not copied from `bytes`. Memory is bounded: the size of an element times the number of elements that are
  // there, plus one longest array for each level of nesting.
  const msgpack::unpack_limit limits(kMaxKernels, kMaxMapEntries, kMaxNameBytes, 0, 0, kMaxMetadataDepth);
  const auto by_reference = [](msgpack::type::object_type, std::size_t, void*) { return true; };
  try {
    bool referenced = false;
    std::size_t end = 0;
    const msgpack::object_handle root =
        msgpack::unpack(bytes.data(), bytes.size(), end, referenced, by_reference, nullptr, limits);
    if (end != bytes.size()) return invalid_image("bytes after the end of the metadata");
    return read_metadata(root.get());
  } catch (const msgpack::unpack_error& error) {
    return invalid_image(std::string("its metadata is not msgpack within bounds: ") + error.what());
  }
}

}  // namespace hip::code_object
