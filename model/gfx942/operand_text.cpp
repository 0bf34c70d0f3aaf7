// The grammar of LLVM's printer, as far as the interpreter needs it; the contract is in the header.
#include "model/gfx942/operand_text.h"

#include <bit>
#include <charconv>

#include "model/gfx942/wave.h"

namespace gfx942 {
namespace {

constexpr u32 kMaxRegister = 255;
constexpr u32 kMaxRange = 32;

bool opens(char c) {
  return c == '[' || c == '(' || c == '"';
}
bool closes(char c) {
  return c == ']' || c == ')';
}

// The end of the part that starts at `from`: the next `separator` outside of brackets.
std::size_t end_of_part(std::string_view text, std::size_t from, char separator) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == separator && depth <= 0) return i;
    if (opens(c) && c != '"') ++depth;
    if (closes(c)) --depth;
  }
  return text.size();
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<u32> parse_number(std::string_view text) {
  u32 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "12" or "[12:15]" or "[12]".
std::optional<Operand> parse_range(std::string_view text, Kind kind, u32 first) {
  Operand o;
  o.kind = kind;
  if (text.empty()) return std::nullopt;
  std::optional<u32> low;
  std::optional<u32> high;
  if (text.front() == '[' && text.back() == ']') {
    const std::string_view inside = text.substr(1, text.size() - 2);
    const std::size_t colon = inside.find(':');
    low = parse_number(inside.substr(0, colon));
    high = colon == std::string_view::npos ? low : parse_number(inside.substr(colon + 1));
  } else {
    low = high = parse_number(text);
  }
  if (!low || !high || *high < *low || *high - *low >= kMaxRange || *high + first > kMaxRegister) return std::nullopt;
  o.index = static_cast<u16>(*low + first);
  o.count = static_cast<u8>(*high - *low + 1);
  return o;
}

struct Named {
  std::string_view name;
  Kind kind;
  u16 index;
  u8 count;
};
constexpr u16 kFlatScratch = 102;
constexpr u16 kXnackMask = 104;
constexpr Named kNamed[] = {
    {"vcc", Kind::kSgpr, kVcc, 2},
    {"vcc_lo", Kind::kSgpr, kVcc, 1},
    {"vcc_hi", Kind::kSgpr, kVcc + 1, 1},
    {"exec", Kind::kSgpr, kExec, 2},
    {"exec_lo", Kind::kSgpr, kExec, 1},
    {"exec_hi", Kind::kSgpr, kExec + 1, 1},
    {"m0", Kind::kSgpr, kM0, 1},
    {"flat_scratch", Kind::kSgpr, kFlatScratch, 2},
    {"flat_scratch_lo", Kind::kSgpr, kFlatScratch, 1},
    {"flat_scratch_hi", Kind::kSgpr, kFlatScratch + 1, 1},
    {"xnack_mask", Kind::kSgpr, kXnackMask, 2},
    {"xnack_mask_lo", Kind::kSgpr, kXnackMask, 1},
    {"xnack_mask_hi", Kind::kSgpr, kXnackMask + 1, 1},
    {"src_scc", Kind::kScc, 0, 1},
    {"scc", Kind::kScc, 0, 1},
    {"src_vccz", Kind::kVccz, 0, 1},
    {"src_execz", Kind::kExecz, 0, 1},
    {"off", Kind::kNone, 0, 0},
};

Operand constant(u64 value) {
  Operand o;
  o.kind = Kind::kConstant;
  o.value = value;
  return o;
}

std::optional<Operand> parse_named(std::string_view text, Type type) {
  for (const Named& n : kNamed) {
    if (n.name != text) continue;
    Operand o;
    o.kind = n.kind;
    o.index = n.index;
    o.count = n.count;
    return o;
  }
  // The apertures are 64-bit values; the result of a 32-bit read is not documented.
  if (!is_wide(type)) return std::nullopt;
  if (text == "src_shared_base") return constant(u64{kSharedAperture} << 32);
  if (text == "src_private_base") return constant(u64{kPrivateAperture} << 32);
  if (text == "src_shared_limit") return constant(u64{kSharedAperture} << 32 | 0xffffffff);
  if (text == "src_private_limit") return constant(u64{kPrivateAperture} << 32 | 0xffffffff);
  return std::nullopt;
}

std::optional<Operand> parse_register(std::string_view text, Type type) {
  if (std::optional<Operand> o = parse_named(text, type)) return o;
  constexpr u32 kFirstTtmp = 108;
  if (text.starts_with("ttmp")) return parse_range(text.substr(4), Kind::kSgpr, kFirstTtmp);
  if (text.size() < 2) return std::nullopt;
  switch (text.front()) {
    case 'v':
      return parse_range(text.substr(1), Kind::kVgpr, 0);
    case 'a':
      return parse_range(text.substr(1), Kind::kAgpr, 0);
    case 's':
      return parse_range(text.substr(1), Kind::kSgpr, 0);
    default:
      return std::nullopt;
  }
}

// An inline float, in the float format of the operand's width, even for operations that are not on floats.
u64 float_bits(double value, Type type) {
  if (is_wide(type)) return std::bit_cast<u64>(value);
  if (is_short(type)) return to_half(value).bits;
  return std::bit_cast<u32>(static_cast<float>(value));
}

// An integer stands for its own bits. A 32-bit literal is the high half of a double; for 64-bit integers it is
// extended.
u64 integer_bits(i64 value, bool hexadecimal, Type type) {
  const u64 bits = static_cast<u64>(value);
  if (!hexadecimal || bits >> 32 != 0) return bits;
  if (type == Type::kF64) return bits << 32;
  if (type == Type::kI64) return static_cast<u64>(static_cast<i64>(static_cast<i32>(bits)));
  return bits;
}

std::optional<Operand> parse_constant(std::string_view text, Type type) {
  if (const std::optional<i64> integer = parse_integer(text)) {
    return constant(integer_bits(*integer, text.find('x') != std::string_view::npos, type));
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return constant(float_bits(value, type));
}

// Takes `open` and `close` off the ends of `text`; false when `text` does not have them.
bool unwrap(std::string_view& text, std::string_view open, std::string_view close) {
  if (text.size() <= open.size() + close.size() || !text.starts_with(open) || !text.ends_with(close)) return false;
  text = text.substr(open.size(), text.size() - open.size() - close.size());
  return true;
}

}  // namespace

std::optional<i64> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return static_cast<i64>(negative ? 0 - value : value);
}

Words split_text(std::string_view text) {
  Words words;
  text = trimmed(text);
  const std::size_t space = text.find_first_of(" \t");
  words.mnemonic = text.substr(0, space);
  if (space == std::string_view::npos) return words;
  std::string_view rest = trimmed(text.substr(space));
  while (!rest.empty()) {
    const std::size_t end = end_of_part(rest, 0, ',');
    std::string_view part = trimmed(rest.substr(0, end));
    const bool last = end == rest.size();
    rest = last ? std::string_view{} : trimmed(rest.substr(end + 1));
    if (!last) {
      words.operands.push_back(part);
      continue;
    }
    const std::size_t operand = end_of_part(part, 0, ' ');
    words.operands.push_back(part.substr(0, operand));
    part = trimmed(part.substr(operand));
    while (!part.empty()) {
      const std::size_t modifier = end_of_part(part, 0, ' ');
      words.modifiers.push_back(part.substr(0, modifier));
      part = trimmed(part.substr(modifier));
    }
  }
  return words;
}

std::optional<Operand> parse_operand(std::string_view text, Type type) {
  bool negate = false;
  bool absolute = false;
  bool sign_extend = false;
  if (unwrap(text, "neg(", ")")) negate = true;
  if (text.size() > 1 && text.front() == '-' && (text[1] < '0' || text[1] > '9')) {
    negate = true;
    text.remove_prefix(1);
  }
  if (unwrap(text, "|", "|") || unwrap(text, "abs(", ")")) absolute = true;
  if (unwrap(text, "sext(", ")")) sign_extend = true;
  std::optional<Operand> o = parse_register(text, type);
  if (!o) o = parse_constant(text, type);
  if (!o) return std::nullopt;
  o->type = type;
  o->negate = negate;
  o->absolute = absolute;
  o->sign_extend = sign_extend;
  return o;
}

std::optional<BitList> parse_bits(std::string_view text) {
  if (!unwrap(text, "[", "]")) return std::nullopt;
  BitList list;
  while (!text.empty()) {
    if (list.count == 8 || (text.front() != '0' && text.front() != '1')) return std::nullopt;
    if (text.front() == '1') list.bits = static_cast<u8>(list.bits | 1u << list.count);
    ++list.count;
    text.remove_prefix(1);
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return list;
}

}  // namespace gfx942
