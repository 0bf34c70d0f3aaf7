#include "fuzz/recorded_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "verify/language/foreign_kernels.h"
#include "verify/language/node_params.h"

namespace fuzz {

void RecordedMemory::line(const std::string& verb, LogWords& words) {
  if (verb == "alloc") return allocate(words);
  if (verb == "variable") return variable(words);
  if (verb == "adopt") return adopt(words);
  if (verb == "free" || verb == "freeasync") return free(words, verb == "freeasync");
  if (verb == "copied") return copied(words);
  if (verb == "copied3d") return copied3d(words);
  const std::uint64_t address = words.number(), bytes = words.number();
  if (out_.objects.buffer_at(address) != nullptr) written(address, bytes, words.word());
}

// ---- memory that begins and ends

// Memory of a graph that a node freed, and variables of a module that was unloaded, are still listed.
void RecordedMemory::place(std::uint64_t address, const RecordedObjects::Buffer& buffer) {
  auto& buffers = out_.objects.buffers;
  buffers.erase(buffers.lower_bound(address), buffers.lower_bound(address + std::max<std::uint64_t>(buffer.bytes, 1)));
  buffers[address] = buffer;
}

std::string RecordedMemory::declare(const std::string& kind, std::uint64_t address, std::uint64_t bytes, bool of_graph,
                                    std::uint64_t room) {
  place(address, {next_, bytes, of_graph});
  if (of_graph) fresh_[next_] = bytes;
  return fmt::format("buffer b{} {}{}", next_++, bytes + room, kind == "device" ? "" : " memory=" + kind);
}

void RecordedMemory::allocate(LogWords& words) {
  const std::string kind = words.word();
  if (kind == "async") return allocate_async(words);
  const std::uint64_t address = words.number(), bytes = words.number();
  std::string text = declare(kind, address, bytes, kind == "graph");
  if (kind == "graph") return;  // the node's line comes next
  captures_.any() ? out_.text.say_first(std::move(text)) : out_.text.say(std::move(text));
}

// A variable of the project's code object is 0 at first. The code object says what another variable holds.
void RecordedMemory::variable(LogWords& words) {
  constexpr std::string_view kOwn = "hg_symbol";
  const std::uint64_t address = words.number(), bytes = words.number();
  const std::string name = words.word(), code = words.word(), module = out_.objects.modules.of(words.number());
  const bool own = !module.empty() && name.starts_with(kOwn);
  if (!own && verify::find_code_object(code) == nullptr)
    return out_.text.note(fmt::format("variable {}, whose code could not be read", name));
  const std::string how = own ? fmt::format("symbol={} module={}", name.substr(kOwn.size()), module)
                              : fmt::format("variable={}@{}", name, code);
  const auto [known, fresh] = variables_.try_emplace(how, next_);
  if (!fresh) return place(address, {known->second, bytes});
  std::string text = declare("device", address, bytes) + " " + how;
  if (!own) return captures_.any() ? out_.text.say_first(std::move(text)) : out_.text.say(std::move(text));
  std::string zeros = fmt::format("write b{} at=0 hex={}", known->second, std::string(2 * bytes, '0'));
  if (captures_.any()) return out_.text.say_before_captures("module " + module, {std::move(text), std::move(zeros)});
  out_.text.say(std::move(text));
  out_.text.say(std::move(zeros));
}

void RecordedMemory::allocate_async(LogWords& words) {
  const std::uint64_t address = words.number(), bytes = words.number(), stream = words.number();
  if (address == 0) return;  // of no bytes
  const bool captured = captures_.capturing(stream);
  if (captured) captures_.settle(stream);
  std::string text = declare("device", address, bytes, captured);
  if (!captured) return captures_.any() ? out_.text.say_first(std::move(text)) : out_.text.say(std::move(text));
  const RecordedObjects::Buffer& buffer = out_.objects.buffers.at(address);
  const std::string s = out_.stream(stream);
  out_.text.say(fmt::format("malloc_async b{} {} {}{}", buffer.id, bytes, s, resources_.pool_of(words.number())));
  captures_.add(stream);
  if (const Work fill = fill_of(buffer); !fill.word.empty()) {
    out_.text.say(fmt::format("on {} {} {}", s, fill.word, fill.rest));
    captures_.add(stream);
  }
}

void RecordedMemory::free(LogWords& words, bool async) {
  const std::uint64_t address = words.number(), stream = async ? words.number() : 0;
  const auto known = out_.objects.buffers.find(address);
  if (known == out_.objects.buffers.end()) return out_.text.note("freed memory that no call allocated");
  const auto [id, bytes, of_graph] = known->second;
  if (async && of_graph) {  // it stays listed: a launch may allocate it again
    captures_.settle(stream);
    out_.text.say(fmt::format("free_async b{} {}", id, out_.stream(stream)));
    return captures_.add(stream);
  }
  std::string text = fmt::format("free b{}", id);
  if (of_graph) return out_.text.say(std::move(text));
  captures_.any() ? out_.text.say_later(std::move(text)) : out_.text.say(std::move(text));
  out_.objects.buffers.erase(known);
}

// Pageable memory is declared at the beginning, with the room that its last row needs.
void RecordedMemory::adopt(LogWords& words) {
  const std::uint64_t address = words.number(), bytes = words.number(), room = words.number();
  const auto& buffers = out_.objects.buffers;
  const auto after = buffers.lower_bound(address + bytes);
  const bool overlaps = after != buffers.begin() && std::prev(after)->first + std::prev(after)->second.bytes > address;
  if (overlaps) return out_.text.note("host memory that overlaps other host memory of a copy");
  out_.text.say_first(declare("pageable", address, bytes, false, room));
}

// ---- memory of graphs

const RecordedObjects::Buffer* RecordedMemory::of_node(std::uint64_t address) const {
  const auto found = out_.objects.buffers.find(address);
  return found == out_.objects.buffers.end() || !found->second.of_graph ? nullptr : &found->second;
}

Work RecordedMemory::fill_of(const RecordedObjects::Buffer& buffer) {
  if (!unfilled_.contains(buffer.id)) return {"", ""};
  out_.text.note("the contents of new memory of a graph: a memset of all of it is added");
  fresh_.erase(buffer.id);
  return {"memset", fmt::format("dst=b{}+0 value=0 element=1 width={}", buffer.id, buffer.bytes)};
}

void RecordedMemory::used_by(const Work& work) {
  for (std::size_t at = 0; !fresh_.empty() && (at = work.rest.find("=b", at)) != std::string::npos; ++at) {
    std::uint32_t id = 0;
    std::from_chars(work.rest.data() + at + 2, work.rest.data() + work.rest.size(), id);
    const auto found = fresh_.find(id);
    if (found == fresh_.end()) continue;
    const auto [buffer, bytes] = *found;
    const auto fills = [&](unsigned element) {
      return work.rest.ends_with(fmt::format(" element={} width={}", element, bytes / element)) && bytes % element == 0;
    };
    const bool filled = work.word == "memset" && work.rest.starts_with(fmt::format("dst=b{}+0 ", buffer)) &&
                        (fills(1) || fills(2) || fills(4));
    if (!filled) found_unfilled_.insert(buffer);
    fresh_.erase(found);
  }
}

// ---- copies that the host waits for

void RecordedMemory::copied(LogWords& words) {
  const std::uint64_t to = words.number(), from = words.number(), bytes = words.number(), kind = words.number();
  const std::uint64_t handle = words.number();
  const std::string stream = out_.stream(handle);
  const std::optional<std::string> dst = out_.objects.ref(to), src = out_.objects.ref(from);
  const bool from_host = kind <= 1, to_host = kind == 2;
  captures_.settle(handle);
  if (dst && src && !from_host)
    out_.text.say(
        fmt::format("on {} memcpy dst={} src={} bytes={} kind={} wait", stream, *dst, *src, bytes, copy_kind(kind)));
  if (from_host && dst) return copied_to_device(to, bytes, stream, words.word());
  if (to_host && src) return copied_to_host(from, bytes, stream, words.number());
  if (!dst || !src) out_.text.note("a copy between memory that no call of HIP told of");
}

// In a capture, and to memory of a graph, the bytes come from pageable memory that holds them from the beginning.
void RecordedMemory::copied_to_device(std::uint64_t to, std::uint64_t bytes, const std::string& stream,
                                      const std::string& data) {
  if (!captures_.any() && !out_.objects.buffer_at(to)->second.of_graph) return written(to, bytes, data);
  const std::uint32_t own = next_++;
  out_.text.say_first(fmt::format("buffer b{} {} memory=pageable", own, bytes));
  for (std::string& text : write(own, 0, data, true)) out_.text.say_first(std::move(text));
  out_.text.say(
      fmt::format("on {} memcpy dst={} src=b{}+0 bytes={} kind=h2d wait", stream, *out_.objects.ref(to), own, bytes));
}

void RecordedMemory::copied_to_host(std::uint64_t from, std::uint64_t bytes, const std::string& stream,
                                    std::uint64_t hash) {
  const auto& [start, buffer] = *out_.objects.buffer_at(from);
  if (!captures_.any())
    return out_.text.say(fmt::format("read b{}", buffer.id), RecordedBytes{buffer.id, from - start, bytes, hash});
  const std::uint32_t own = next_++;
  out_.text.say_first(fmt::format("buffer b{} {} memory=pageable", own, bytes));
  out_.text.say(
      fmt::format("on {} memcpy dst=b{}+0 src={} bytes={} kind=d2h wait", stream, own, *out_.objects.ref(from), bytes));
  out_.text.say_later(fmt::format("read b{}", own), RecordedBytes{own, 0, bytes, hash});
}

// Pageable memory that stands for the host's end of a copy. Nothing uses it any more when the next copy comes, unless a
// capture is open.
std::uint32_t RecordedMemory::end_of_host(std::uint64_t bytes) {
  if (!captures_.any()) {
    const auto [known, fresh] = ends_of_host_.try_emplace(bytes, next_);
    if (!fresh) return known->second;
  }
  out_.text.say_first(fmt::format("buffer b{} {} memory=pageable", next_, bytes));
  return next_++;
}

void RecordedMemory::copied3d(LogWords& words) {
  captures_.settle(0);
  if (words.word() != "copy3d") return out_.text.note("a copy of an array");
  const Copy3d copy(out_.objects, words);
  const std::uint64_t bytes = copy.width * copy.height * copy.depth;
  if (bytes == 0) return;
  const bool from_host = copy.kind <= 1, to_host = copy.kind == 2;
  if ((!from_host && !copy.src.place) || (!to_host && !copy.dst.place))
    return out_.text.note("a copy between memory that no call of HIP told of");
  const auto say = [this](const Copy3d& each) {
    out_.text.say(fmt::format("on {} memcpy3d {} wait", out_.stream(0), each.work().rest));
  };
  if (!from_host && copy.dst.place) say(copy);
  if (!from_host && !to_host) return;
  const std::uint32_t own = end_of_host(bytes);
  Copy3d with_own = copy;
  (from_host ? with_own.src : with_own.dst) = {fmt::format("b{}+0", own), copy.width, copy.height};
  if (from_host) {
    for (std::string& text : write(own, 0, words.word(), true))
      captures_.any() ? out_.text.say_first(std::move(text)) : out_.text.say(std::move(text));
    return say(with_own);
  }
  say(with_own);
  const RecordedBytes read{own, 0, bytes, words.number()};
  captures_.any() ? out_.text.say_later(fmt::format("read b{}", own), read)
                  : out_.text.say(fmt::format("read b{}", own), read);
}

void RecordedMemory::written(std::uint64_t address, std::uint64_t bytes, const std::string& data) {
  const auto& [start, buffer] = *out_.objects.buffer_at(address);
  for (std::string& text : write(buffer.id, address - start, data, address == start && bytes >= buffer.bytes))
    out_.text.say(std::move(text));
}

// The commands that write bytes of a log. `whole`: they are all of the buffer's.
std::vector<std::string> RecordedMemory::write(std::uint32_t buffer, std::uint64_t offset, const std::string& data,
                                               bool whole) {
  std::vector<std::string> texts;
  if (data.starts_with("=")) {
    constexpr std::size_t kPiece = 2 * verify::kMaxWrittenBytes;  // digits of one command
    for (std::size_t i = 1; i < data.size(); i += kPiece)
      texts.push_back(fmt::format("write b{} at={} hex={}", buffer, offset + i / 2, data.substr(i, kPiece)));
    return texts;
  }
  constexpr std::string_view kTooLarge = "contents past 4 MiB at once or 8 MiB in all: ";
  // A pattern fills a whole buffer: none can stand for a part of one.
  if (!whole) {
    out_.text.note(fmt::format("{}nothing stands for them, for they are a part of a buffer", kTooLarge));
    return texts;
  }
  std::uint64_t hash = 0;
  std::from_chars(data.data() + 1, data.data() + data.size(), hash, 16);
  texts.push_back(fmt::format("write b{} seed={}", buffer, hash));
  out_.text.note(fmt::format("{}a pattern of their hash stands for them", kTooLarge));
  return texts;
}

}  // namespace fuzz
