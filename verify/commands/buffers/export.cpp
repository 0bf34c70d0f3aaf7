// How the commands about buffers are written as HIP calls (verify/commands/export.h).
#include "verify/commands/export.h"

#include <fmt/format.h>

#include <algorithm>

#include "verify/export/exporter.h"
#include "verify/program/state_devices.h"

namespace verify {
namespace {

// The variable that holds the new place of a buffer until all moves of the command have their places.
std::string place_name(const BufferMove& move) {
  return fmt::format("to{}", move.buffer);
}

void choose_places(Exporter& out, const MoveBuffers& c) {
  for (const BufferMove& move : c.moves) {
    const BufferState& buffer = *out.before().buffer(move.buffer);
    if (move.onto && !out.memory().in_arena()) {
      out.text().line(fmt::format("char* {} = b{};", place_name(move), *move.onto));
    } else {
      out.memory().place(place_name(move), buffer.memory, buffer.bytes, buffer.device);
    }
  }
}

void release_left_places(Exporter& out, const MoveBuffers& c) {
  if (out.memory().in_arena()) return;
  for (const BufferMove& move : c.moves) {
    const auto takes = [&](const BufferMove& other) { return other.onto == move.buffer; };
    if (std::ranges::any_of(c.moves, takes)) continue;
    out.memory().release(move.buffer, out.before().buffer(move.buffer)->memory);
  }
}

}  // namespace

template <>
void export_command(Exporter& out, const DeclareBuffer& c) {
  if (c.variable) return out.refuse("only the variable's code object is known, and not its source");
  if (c.symbol) {
    out.text().need_variable(c.buffer, *c.symbol);
    const std::string variable = out.text().variable_of(c.buffer);
    out.text().line(fmt::format("char* b{};", c.buffer));
    if (c.module) out.text().line(fmt::format("size_t b{}_bytes;", c.buffer));
    out.text().must(c.module
                        ? fmt::format("hipModuleGetGlobal((hipDeviceptr_t*)&b{0}, &b{0}_bytes, module{1}, \"{2}\")",
                                      c.buffer, *c.module, variable)
                        : fmt::format("hipGetSymbolAddress((void**)&b{}, HIP_SYMBOL({}))", c.buffer, variable));
  } else {
    out.memory().place(fmt::format("b{}", c.buffer), c.memory, c.bytes, c.device);
  }
  out.memory().fill(c.buffer, c.bytes, 0);
}

template <>
void export_command(Exporter& out, const MoveBuffers& c) {
  out.write_out_repetitions();
  ReproducerText& text = out.text();
  text.wait();
  text.line("{");
  const std::size_t from = text.size();
  for (const BufferMove& move : c.moves) {
    if (!out.memory().contents_matter()) break;
    text.need(HelperFunction::kLoad);
    text.line(fmt::format("auto c{0} = load(b{0}, {1});", move.buffer, out.before().buffer(move.buffer)->bytes));
  }
  choose_places(out, c);
  release_left_places(out, c);
  for (const BufferMove& move : c.moves) text.line(fmt::format("b{} = {};", move.buffer, place_name(move)));
  for (const BufferMove& move : c.moves) {
    if (!out.memory().contents_matter()) break;
    text.need(HelperFunction::kStore);
    text.line(fmt::format("store(b{0}, c{0});", move.buffer));
  }
  for (const std::string& line : text.take(from)) text.line("  " + line);
  text.line("}");
}

template <>
void export_command(Exporter& out, const Read& /*command*/) {
  out.text().wait();
  out.check_bytes();
}

template <>
void export_command(Exporter& out, const Write& c) {
  if (!c.data.empty()) return out.refuse("bytes of a recorded program has no stand-alone form yet");
  out.text().wait();
  out.text().on_device(device_of_view(out.before(), c.buffer),
                       [&] { out.memory().fill(c.buffer, out.before().buffer(c.buffer)->bytes, c.seed); });
}

template <>
void export_command(Exporter& out, const Free& c) {
  const BufferState& buffer = *out.before().buffer(c.buffer);
  // hipFree itself has to wait; release 7.2 does not wait for memory of this kind (pool-free-not-waited-for).
  if (buffer.runtime_places()) return out.call(fmt::format("hipFree(b{})", c.buffer));
  out.text().wait();
  if (!out.memory().in_arena()) out.memory().release(c.buffer, buffer.memory);
}

template void export_family(BuffersCommands, Exporter&, const Command&);

}  // namespace verify
