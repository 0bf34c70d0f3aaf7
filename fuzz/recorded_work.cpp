#include "fuzz/recorded_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "hip/code_object/code_object.h"
#include "hip/recorder/hash.h"
#include "verify/language/foreign_kernels.h"
#include "verify/language/kernel_spec.h"
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
#include "hip/kernels/device_kernels.h"
#endif

namespace fuzz {
namespace {

std::vector<std::byte> bytes_of(const std::string& hex) {
  std::vector<std::byte> bytes(hex.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint8_t value = 0;
    std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, value, 16);
    bytes[i] = std::byte{value};
  }
  return bytes;
}

}  // namespace

std::string own_code_object() {
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
  const hip::Result<std::span<const std::byte>> elf = hip::code_object::find_code_object(hg::device_code_object());
  if (elf) return fmt::format("{:016x}", hip::recorder::hash_of(elf.value()));
#endif
  return "none";
}

const std::pair<const std::uint64_t, RecordedObjects::Buffer>* RecordedObjects::buffer_at(std::uint64_t address) const {
  auto after = buffers.upper_bound(address);
  if (after == buffers.begin()) return nullptr;
  const auto& entry = *--after;
  return address - entry.first > entry.second.bytes ? nullptr : &entry;
}

std::optional<std::string> RecordedObjects::ref(std::uint64_t address) const {
  const auto* const entry = buffer_at(address);
  if (entry == nullptr) return std::nullopt;
  return fmt::format("b{}+{}", entry->second.id, address - entry->first);
}

std::string RecordedNames::of(std::uint64_t handle) const {
  const auto found = names_.find(handle);
  return found == names_.end() ? std::string() : found->second;
}

const char* copy_kind(std::uint64_t kind) {
  static constexpr const char* kKinds[] = {"h2h", "h2d", "d2h", "d2d", "default"};
  return kKinds[std::min<std::uint64_t>(kind, 4)];
}

WorkReader::WorkReader(const RecordedObjects& objects, std::function<void(const std::string&)> note)
    : objects_(objects), note_(std::move(note)), own_(own_code_object()) {}

Work WorkReader::read(LogWords& words) {
  const std::string kind = words.word();
  if (kind == "form") {
    const std::string form = words.word();
    Work work = read(words);
    work.form = " form=" + form;
    return work;
  }
  if (kind == "kernel") return kernel(words);
  if (kind == "cooperative") {
    Work work = kernel(words);
    work.rest += " cooperative";
    return work;
  }
  if (kind == "copy") return copy(words);
  if (kind == "copy3d") return Copy3d(objects_, words).work();
  if (kind == "fill") return fill(words);
  if (kind == "host") {
    const auto [tag, fresh] = tags_.try_emplace(words.number(), tags_.size() + 1);
    if (fresh) note_("what a host function does: a counting one stands for it");
    return {"host", fmt::format("tag={}", tag->second)};
  }
  if (kind == "empty") return {"empty", "", ""};
  if (kind == "child") {
    const std::string child = objects_.graphs.of(words.number());
    return {"child", child, child.empty() ? "a child graph that was not recorded" : ""};
  }
  if (kind == "eventrecord" || kind == "eventwait") {
    const std::string e = objects_.events.of(words.number());
    return {kind, e, e.empty() ? "an event node of an event that was not recorded" : ""};
  }
  return {"", "", kind == "array" ? "a copy of an array" : "a node of a type that has no command"};
}

Work WorkReader::copy(LogWords& words) const {
  const std::optional<std::string> dst = objects_.ref(words.number()), src = objects_.ref(words.number());
  const std::uint64_t bytes = words.number(), kind = words.number();
  if (!dst || !src) return {"", "", "a copy between memory that no call of HIP told of"};
  return {"memcpy", fmt::format("dst={} src={} bytes={} kind={}", *dst, *src, bytes, copy_kind(kind))};
}

// Reads one end. The language wants all its rows, with what is between them, in the buffer: where a copy begins within
// a row, it is told from the buffer's beginning, and a copy of one row has the pitch of that row.
static Copy3d::End read_end(const RecordedObjects& objects, LogWords& words, const Copy3d& copy) {
  const std::uint64_t address = words.number();
  Copy3d::End e{objects.ref(address)};
  for (std::uint64_t* field : {&e.pitch, &e.rows, &e.x, &e.y, &e.z}) *field = words.number();
  if (!e.place || copy.depth != 1 || e.z != 0 || e.pitch == 0) return e;
  const auto& [start, buffer] = *objects.buffer_at(address);
  const std::uint64_t offset = address - start;
  if (offset + e.pitch * e.rows <= buffer.bytes) return e;
  if (copy.height == 1 && e.y == 0) {
    e.pitch = e.x + copy.width, e.rows = 1;
    return e;
  }
  e.place = fmt::format("b{}+0", buffer.id);
  e.x += offset % e.pitch, e.y += offset / e.pitch, e.rows = e.y + copy.height;
  return e;
}

Copy3d::Copy3d(const RecordedObjects& objects, LogWords& words) {
  constexpr std::size_t kWordsOfEnds = 12;
  LogWords extent = words;
  for (std::size_t i = 0; i < kWordsOfEnds; ++i) static_cast<void>(extent.word());
  for (std::uint64_t* field : {&width, &height, &depth, &kind}) *field = extent.number();
  dst = read_end(objects, words, *this), src = read_end(objects, words, *this);
  words = extent;
}

Work Copy3d::work() const {
  if (!dst.place || !src.place) return {"", "", "a copy between memory that no call of HIP told of"};
  return {"memcpy3d",
          fmt::format("dst={} src={} width={} height={} depth={} dpitch={} spitch={} drows={} srows={} dpos={},{},{} "
                      "spos={},{},{} kind={}",
                      *dst.place, *src.place, width, height, depth, dst.pitch, src.pitch, dst.rows, src.rows, dst.x,
                      dst.y, dst.z, src.x, src.y, src.z, copy_kind(kind))};
}

Work WorkReader::fill(LogWords& words) const {
  const std::optional<std::string> dst = objects_.ref(words.number());
  const std::uint64_t value = words.number(), element = words.number(), width = words.number();
  const std::uint64_t height = words.number(), pitch = words.number();
  if (!dst) return {"", "", "a memset of memory that no call of HIP told of"};
  const std::uint64_t mask = element >= 4 ? 0xffffffff : (std::uint64_t{1} << (8 * element)) - 1;
  std::string rest = fmt::format("dst={} value={} element={} width={}", *dst, value & mask, element, width);
  if (height > 1) rest += fmt::format(" height={} pitch={}", height, pitch);
  if (words.word() == "wait") rest += " wait";
  return {"memset", rest};
}

Work WorkReader::kernel(LogWords& words) {
  std::uint64_t size[6];
  for (std::uint64_t& n : size) n = words.number();
  const std::uint64_t shared = words.number();
  const std::string kernel = words.word(), object = words.word();
  const std::uint64_t module_handle = words.number();  // 0: the program named the kernel by its symbol
  const std::string module = objects_.modules.of(module_handle), style = words.word();
  std::vector<std::byte> block;
  while (!words.at_end()) {
    const std::uint64_t offset = words.number();
    const std::string kind = words.word(), data = words.word();
    const std::vector<std::byte> bytes = bytes_of(data.starts_with("=") ? data.substr(1) : "");
    block.resize(std::max<std::size_t>(block.size(), offset + bytes.size()));
    if (!bytes.empty()) std::memcpy(block.data() + offset, bytes.data(), bytes.size());
  }
  const verify::KernelSpec* spec = verify::find_kernel(object == own_ ? kernel : kernel + "@" + object);
  if (spec == nullptr) return {"", "", "kernel " + kernel + ", whose code could not be read"};
  if (spec->object == nullptr && size[1] * size[2] * size[4] * size[5] != 1)
    return {"", "", "a launch of two or three dimensions"};
  std::string rest = spec->name;
  for (const verify::FieldSpec& field : spec->fields) {
    std::uint64_t value = 0;
    if (field.offset + field.size > block.size()) return {"", "", "a kernel's arguments"};
    std::memcpy(&value, block.data() + field.offset, field.size);
    const std::optional<std::string> place =
        field.kind == verify::FieldKind::kScalar ? std::nullopt : objects_.ref(value);
    const bool said = field.touch != verify::Touch::kNothing;  // the metadata says that it is a pointer, or null
    if (!place && (field.kind == verify::FieldKind::kPointer || (said && value != 0)))
      return {"", "", "a kernel with a pointer into memory that no call of HIP told of"};
    if (place && !said && field.kind == verify::FieldKind::kEither && doubtful_.insert(field.name + kernel).second) {
      note_(
          fmt::format("whether {} of {} is a pointer: it equals an address and is taken for one", field.name, kernel));
    }
    rest += fmt::format(" {}={}", field.name, place ? *place : std::to_string(value));
  }
  if (spec->object == nullptr) {
    rest += fmt::format(" grid={} block={}", size[0], size[3]);
  } else {
    rest += fmt::format(" grid={},{},{} block={},{},{}", size[0], size[1], size[2], size[3], size[4], size[5]);
  }
  rest += " style=" + style;
  if (shared != 0) rest += fmt::format(" shared={}", shared);
  if (!module.empty()) rest += " module=" + module;
  // A kernel that HIP finds by symbol sees the variables of the registered code; programs name those of a module.
  const bool of_module = spec->object != nullptr && spec->object->has_variables;
  if (module_handle == 0 && !of_module) rest += " by_symbol";
  return {"kernel", rest};
}

}  // namespace fuzz
