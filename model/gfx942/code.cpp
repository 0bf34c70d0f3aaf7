// Decoding from front to end, and finding the instruction at an address; the contract is in the header.
#include "model/gfx942/code.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

#include "model/gfx942/decode.h"
#include "model/gfx942/disassembler.h"
#include "model/gfx942/gpr_index.h"
#include "model/gfx942/table.h"

namespace gfx942 {
namespace {

constexpr std::size_t kDword = 4;

u32 dword_at(const std::vector<std::byte>& bytes, std::size_t offset) {
  u32 value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

Instruction not_an_instruction(u64 address) {
  Instruction in;
  in.handler = &run_unknown;
  in.address = address;
  return in;
}

}  // namespace

void Code::add_section(u64 address, std::vector<std::byte> bytes) {
  const Disassembler disassembler;
  bytes.resize((bytes.size() + kDword - 1) / kDword * kDword);
  Section section{address, std::move(bytes), {}};
  section.starts.assign(section.bytes.size() / kDword, kNoTarget);
  // Reserves more than will be needed, once: growth by copying took a third of the time of a load.
  instructions_.reserve(instructions_.size() + section.bytes.size() / kDword + 1);
  bool indexed = false;
  for (std::size_t offset = 0; offset < section.bytes.size();) {
    section.starts[offset / kDword] = static_cast<u32>(instructions_.size());
    Disassembled d;
    if (disassembler.works()) d = disassembler.next(std::span(section.bytes).subspan(offset), address + offset);
    const bool known = d.bytes != 0 && d.bytes % kDword == 0 && d.bytes <= section.bytes.size() - offset;
    Instruction in = not_an_instruction(address + offset);
    if (known) {
      const u8 dwords = static_cast<u8>(d.bytes / kDword);
      in = decode(d.text, {address + offset, dword_at(section.bytes, offset), dwords});
      if (ends_gpr_index(d.text)) indexed = false;
      if (indexed && takes_gpr_index(d.text)) make_indexed(in);
      if (starts_gpr_index(d.text)) indexed = true;
    }
    instructions_.push_back(in);
    offset += in.dwords * kDword;
  }
  Instruction end = not_an_instruction(address + section.bytes.size());
  end.handler = &run_past_the_end;
  instructions_.push_back(end);
  sections_.push_back(std::move(section));
}

void Code::link() {
  for (Instruction& in : instructions_) {
    const i64 distance = static_cast<i64>(static_cast<i16>(in.simm16)) * static_cast<i64>(kDword);
    in.target = index_of(in.address + in.dwords * kDword + static_cast<u64>(distance));
  }
}

Code Code::moved(u64 distance) const {
  Code code = *this;
  for (Section& s : code.sections_) s.address += distance;
  for (Instruction& in : code.instructions_) in.address += distance;
  return code;
}

bool Code::has_section(std::size_t index, u64 address, std::span<const std::byte> bytes) const {
  if (index >= sections_.size()) return false;
  const Section& s = sections_[index];
  // The last dword of a section is padded with zeroes.
  return s.address == address && s.bytes.size() == (bytes.size() + kDword - 1) / kDword * kDword &&
         std::equal(bytes.begin(), bytes.end(), s.bytes.begin());
}

const Code::Section* Code::section_of(u64 address) const {
  for (const Section& s : sections_) {
    if (address >= s.address && address - s.address < s.bytes.size()) return &s;
  }
  return nullptr;
}

u32 Code::index_of(u64 address) const {
  const Section* section = section_of(address);
  if (section == nullptr || (address - section->address) % kDword != 0) return kNoTarget;
  return section->starts[(address - section->address) / kDword];
}

std::vector<std::string> Code::unknown_instructions() const {
  std::vector<std::string> texts;
  for (const Instruction& in : instructions_) {
    if (in.handler == &run_unknown) texts.push_back(text_of(in));
  }
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

std::string Code::text_of(const Instruction& in) const {
  const Section* section = section_of(in.address);
  if (section == nullptr) return "(the end of the code)";
  const Disassembler disassembler;
  const std::size_t offset = in.address - section->address;
  Disassembled d;
  if (disassembler.works()) d = disassembler.next(std::span(section->bytes).subspan(offset), in.address);
  if (d.bytes != 0) return d.text;
  char text[24];
  std::snprintf(text, sizeof(text), ".long 0x%08x", dword_at(section->bytes, offset));
  return text;
}

}  // namespace gfx942
