// Decoding in runs, and finding the instruction at an address; the contract is in the header.
#include "model/gfx942/code.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <span>

#include "model/gfx942/decode.h"
#include "model/gfx942/disassembler.h"
#include "model/gfx942/gpr_index.h"
#include "model/gfx942/table.h"
#include "model/gfx942/wave.h"

namespace gfx942 {
namespace {

constexpr std::size_t kDword = sizeof(u32);
constexpr u32 kLongestRun = 512;  // instructions
// An address is decoded at most twice, and a joint ends at most one decoded instruction.
constexpr std::size_t kSlotsOfDword = 4;

// The disassembler of the process, and the lock of all decoding; the header says why it is a std::mutex.
struct Decoder {
  std::mutex mutex;
  Disassembler disassembler;
};
Decoder& decoder() {
  static Decoder& only = *new Decoder;  // never destroyed: launches may go on while the process ends
  return only;
}

std::atomic_ref<u32> start_at(const ZeroPages& starts, std::size_t dword) {
  return std::atomic_ref<u32>(starts.as<u32>()[dword]);
}

Instruction not_an_instruction(u64 address) {
  Instruction in;
  in.handler = &run_unknown;
  in.address = address;
  return in;
}

// Goes on with the next run. The launch has counted an instruction, which a joint is not.
void run_joint(Wave& w, const Instruction& in) {
  --*w.clock;
  const u32 next = w.code->target_of(in);
  if (next != kNoTarget) {
    w.pc = next;
    return;
  }
  const u64 address = w.code_base + in.address;
  char text[64];
  std::snprintf(text, sizeof(text), "no instruction starts at 0x%llx", static_cast<unsigned long long>(address));
  w.raise(FaultKind::kControlFlow, text, kLanes, address);
}

struct Decoded {
  Instruction in;
  std::string text;  // empty: no instruction
};

// Callers hold the decoder's lock.
Decoded decode_at(std::span<const std::byte> bytes, std::size_t offset, u64 address) {
  Decoded one{not_an_instruction(address), {}};
  const Disassembler& disassembler = decoder().disassembler;
  Disassembled d;
  if (disassembler.works()) d = disassembler.next(bytes.subspan(offset), address);
  if (d.bytes == 0 || d.bytes % kDword != 0 || d.bytes > bytes.size() - offset) return one;
  Encoded encoded{address, 0, static_cast<u8>(d.bytes / kDword)};
  std::memcpy(&encoded.dword, bytes.data() + offset, kDword);
  one.in = decode(d.text, encoded);
  one.text = std::move(d.text);
  return one;
}

bool control_may_go_on(const Decoded& one) {
  if (one.in.handler == &run_unknown) return false;
  const std::string_view text = one.text;
  return !text.starts_with("s_endpgm") && !text.starts_with("s_branch") && !text.starts_with("s_setpc_b64");
}

}  // namespace

void Code::add_section(u64 address, std::vector<std::byte> bytes) {
  bytes.resize((bytes.size() + kDword - 1) / kDword * kDword);
  sections_.push_back({address, std::move(bytes), {}});
}

bool Code::reserve() {
  std::size_t dwords = 0;
  for (Section& s : sections_) {
    dwords += s.dwords();
    if (!s.bytes.empty() && !s.starts.reserve(s.bytes.size())) return false;
  }
  return slots_.reserve((dwords * kSlotsOfDword + 1) * sizeof(Instruction));
}

bool Code::has_section(std::size_t index, u64 address, std::span<const std::byte> bytes) const {
  if (index >= sections_.size()) return false;
  const Section& s = sections_[index];
  return s.address == address && s.bytes.size() == (bytes.size() + kDword - 1) / kDword * kDword &&
         std::equal(bytes.begin(), bytes.end(), s.bytes.begin());
}

Code::Place Code::place_of(u64 address) const {
  for (const Section& s : sections_) {
    if (address < s.address || address - s.address >= s.bytes.size()) continue;
    if ((address - s.address) % kDword != 0) return {};
    return {&s, (address - s.address) / kDword};
  }
  return {};
}

// In GPR-index mode only an instruction that was decoded for it will do; a jump may land on either kind, because a
// branch in that mode is a fault.
u32 Code::find(const Place& place, bool indexed) const {
  const u32 slot = start_at(place.section->starts, place.dword).load(std::memory_order_acquire);
  return slot != 0 && (!indexed || instructions()[slot].index_mode) ? slot : kNoTarget;
}

u32 Code::find_or_decode(const Place& place, bool indexed) const {
  if (place.section == nullptr) return kNoTarget;
  if (const u32 slot = find(place, indexed); slot != kNoTarget) return slot;
  const std::lock_guard lock(decoder().mutex);
  if (find(place, indexed) == kNoTarget) decode_run(place, indexed);
  return find(place, indexed);
}

u32 Code::append(const Instruction& in) const {
  assert(filled_ + 1 < slots_.size() / sizeof(Instruction));
  slots_.as<Instruction>()[++filled_] = in;
  return filled_;
}

void Code::decode_run(const Place& place, bool indexed) const {
  const Section& s = *place.section;
  std::vector<std::pair<std::size_t, u32>> starts;
  for (std::size_t dword = place.dword;;) {
    const u64 address = s.address + dword * kDword;
    if (dword == s.dwords()) {
      Instruction end = not_an_instruction(address);
      end.handler = &run_past_the_end;
      append(end);
      break;
    }
    if (starts.size() == kLongestRun || (!starts.empty() && find({&s, dword}, indexed) != kNoTarget)) {
      Instruction joint = not_an_instruction(address);
      joint.handler = &run_joint;
      joint.dwords = 0;
      joint.index_mode = indexed;
      append(joint);
      break;
    }
    Decoded one = decode_at(s.bytes, dword * kDword, address);
    one.in.index_mode = indexed;  // at its front: also of the instruction that ends the mode
    if (indexed && takes_gpr_index(one.text)) make_indexed(one.in);
    if (ends_gpr_index(one.text)) indexed = false;
    if (starts_gpr_index(one.text)) indexed = true;
    starts.emplace_back(dword, append(one.in));
    if (!control_may_go_on(one)) break;
    dword += one.in.dwords;
  }
  // Other threads see a run only as a whole.
  for (const auto& [dword, slot] : starts) start_at(s.starts, dword).store(slot, std::memory_order_release);
}

u32 Code::index_of(u64 address) const {
  return find_or_decode(place_of(address), false);
}

u32 Code::target_of(const Instruction& branch) const {
  const std::atomic_ref<u32> known(branch.target);
  u32 slot = known.load(std::memory_order_acquire);
  if (slot != kNoTarget) return slot;
  // A joint has no dwords and no distance: its target is its own address.
  const bool joint = branch.dwords == 0;
  slot = find_or_decode(place_of(joint ? branch.address : branch.address_of_target()), joint && branch.index_mode);
  known.store(slot, std::memory_order_release);
  return slot;
}

u32 Code::decoded() const {
  const std::lock_guard lock(decoder().mutex);
  return filled_;
}

std::vector<std::string> Code::unknown_instructions() const {
  std::vector<std::string> texts;
  for (const Section& s : sections_) {
    for (std::size_t offset = 0; offset < s.bytes.size();) {
      Decoded one;
      {
        const std::lock_guard lock(decoder().mutex);
        one = decode_at(s.bytes, offset, s.address + offset);
      }
      if (one.in.handler == &run_unknown) texts.push_back(text_of(one.in));
      offset += one.in.dwords * kDword;
    }
  }
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

std::string Code::text_of(const Instruction& in) const {
  const Place place = place_of(in.address);
  if (place.section == nullptr) return "(the end of the code)";
  const std::lock_guard lock(decoder().mutex);
  const std::vector<std::byte>& bytes = place.section->bytes;
  const Decoded one = decode_at(bytes, place.dword * kDword, in.address);
  if (!one.text.empty()) return one.text;
  u32 dword = 0;
  std::memcpy(&dword, bytes.data() + place.dword * kDword, kDword);
  char text[24];
  std::snprintf(text, sizeof(text), ".long 0x%08x", dword);
  return text;
}

}  // namespace gfx942
