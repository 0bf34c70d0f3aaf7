// The text of a device printf, conversion by conversion; the contract is in hostcall.h.
//
// The C library formats each conversion, with the length modifier that fits the 64-bit word which the device passed:
// the compiler widened the argument, so the modifier of the source decides only how many of its bits count.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>

#include "model/abi/hostcall.h"

namespace model::abi {
namespace {

constexpr std::size_t kMaxConversion = 4096;  // characters that one conversion of a number may make
constexpr std::string_view kFlags = "-+ #0";

// The text between '%' and the conversion's letter, and the letter.
struct Conversion {
  std::string flags;
  std::optional<int> width, precision;
  std::string length;
  char letter = 0;
};

// Hands out the words of the message, one after the other; empty() when all are used.
class Arguments {
 public:
  explicit Arguments(std::span<const std::uint64_t> words) : words_(words) {}
  [[nodiscard]] bool empty() const { return words_.empty(); }
  std::uint64_t word() {
    if (words_.empty()) return 0;
    const std::uint64_t value = words_.front();
    words_ = words_.subspan(1);
    return value;
  }
  std::string text() {
    if (words_.empty()) return {};
    const auto* begin = reinterpret_cast<const char*>(words_.data());
    const std::string value(begin, strnlen(begin, words_.size_bytes()));
    const std::size_t used = (value.size() + 1 + 7) / 8;
    words_ = words_.subspan(used < words_.size() ? used : words_.size());
    return value;
  }

 private:
  std::span<const std::uint64_t> words_;
};

std::optional<int> number(std::string_view format, std::size_t* at, Arguments& arguments) {
  if (*at < format.size() && format[*at] == '*') {
    ++*at;
    return static_cast<int>(arguments.word());
  }
  std::optional<int> value;
  for (; *at < format.size() && format[*at] >= '0' && format[*at] <= '9' && value.value_or(0) < 100000; ++*at) {
    value = value.value_or(0) * 10 + (format[*at] - '0');
  }
  return value;
}

// `*at` is the position behind the '%'; parse() moves it behind the letter.
Conversion parse(std::string_view format, std::size_t* at, Arguments& arguments) {
  Conversion c;
  while (*at < format.size() && kFlags.find(format[*at]) != std::string_view::npos) c.flags += format[(*at)++];
  c.width = number(format, at, arguments);
  if (*at < format.size() && format[*at] == '.') {
    ++*at;
    c.precision = number(format, at, arguments).value_or(0);
  }
  while (*at < format.size() && std::string_view("hlLqjzt").find(format[*at]) != std::string_view::npos) {
    c.length += format[(*at)++];
  }
  if (*at < format.size()) c.letter = format[(*at)++];
  return c;
}

// The low bits that the source's type has, sign-extended or not.
std::uint64_t narrowed(const std::string& length, bool is_signed, std::uint64_t value) {
  const int bits = length == "hh" ? 8 : length == "h" ? 16 : length.empty() ? 32 : 64;
  if (bits == 64) return value;
  const std::uint64_t low = value & ((std::uint64_t{1} << bits) - 1);
  return is_signed && (low >> (bits - 1)) != 0 ? low | ~std::uint64_t{0} << bits : low;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
template <class Value>
std::string formatted(const Conversion& c, const char* length, Value value) {
  std::string format = "%" + c.flags;
  if (c.width) format += std::to_string(*c.width);
  if (c.precision && *c.precision >= 0) format += "." + std::to_string(*c.precision);
  format += length;
  format += c.letter;
  std::string text(kMaxConversion, '\0');
  const int size = std::snprintf(text.data(), text.size(), format.c_str(), value);
  if (size < 0) return {};
  text.resize(static_cast<std::size_t>(size) < text.size() ? static_cast<std::size_t>(size) : text.size() - 1);
  return text;
}
#pragma GCC diagnostic pop

// Pads a string without the C library, because a string may be longer than any buffer.
std::string padded(const Conversion& c, std::string text) {
  if (c.precision && *c.precision >= 0) text.resize(std::min(text.size(), static_cast<std::size_t>(*c.precision)));
  const int wanted = c.width.value_or(0);
  const auto width = static_cast<std::size_t>(wanted < 0 ? -wanted : wanted);
  const bool left = wanted < 0 || c.flags.find('-') != std::string::npos;
  if (width > text.size() && width < kMaxConversion) text.insert(left ? text.size() : 0, width - text.size(), ' ');
  return text;
}

// Appends the text of a conversion; false when the letter names no conversion.
bool append(Conversion& c, Arguments& arguments, std::string* out) {
  switch (c.letter) {
    case 'd':
    case 'i':
      *out += formatted(c, "ll", static_cast<long long>(narrowed(c.length, true, arguments.word())));
      return true;
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      *out += formatted(c, "ll", static_cast<unsigned long long>(narrowed(c.length, false, arguments.word())));
      return true;
    case 'c':
      *out += formatted(c, "", static_cast<int>(arguments.word()));
      return true;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
      const std::uint64_t bits = arguments.word();
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      *out += formatted(c, "", value);
      return true;
    }
    case 's':
      *out += padded(c, arguments.text());
      return true;
    case 'p':
      *out += formatted(c, "", reinterpret_cast<void*>(arguments.word()));
      return true;
    case 'n':
      arguments.word();
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string format_message(const std::uint64_t* words, std::size_t count) {
  Arguments arguments(std::span(words, count));
  const std::string format = arguments.text();
  std::string out;
  for (std::size_t at = 0; at < format.size();) {
    const std::size_t percent = format.find('%', at);
    out += format.substr(at, percent - at);
    if (percent == std::string::npos) break;
    at = percent + 1;
    if (at < format.size() && format[at] == '%') {
      out += '%';
      ++at;
      continue;
    }
    if (arguments.empty()) break;
    Conversion conversion = parse(format, &at, arguments);
    if (!append(conversion, arguments, &out)) break;
  }
  return out;
}

}  // namespace model::abi
