#include "reports/text.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace reports {
namespace {

enum class Alphabet : std::uint8_t { kJson, kXml };

std::uint8_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}

// Length of the well-formed UTF-8 sequence at `at`, or 0. The ranges come from the Unicode standard's table 3-7, which
// leaves out overlong forms, surrogates and everything past U+10FFFF.
std::size_t sequence_length(std::string_view bytes, std::size_t at) {
  const auto in = [&](std::size_t offset, std::uint8_t low, std::uint8_t high) {
    return at + offset < bytes.size() && byte_at(bytes, at + offset) >= low && byte_at(bytes, at + offset) <= high;
  };
  if (in(0, 0x00, 0x7f)) return 1;
  if (in(0, 0xc2, 0xdf)) return in(1, 0x80, 0xbf) ? 2 : 0;
  if (in(0, 0xe0, 0xef)) {
    const std::uint8_t low = in(0, 0xe0, 0xe0) ? 0xa0 : 0x80;
    const std::uint8_t high = in(0, 0xed, 0xed) ? 0x9f : 0xbf;
    return in(1, low, high) && in(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (in(0, 0xf0, 0xf4)) {
    const std::uint8_t low = in(0, 0xf0, 0xf0) ? 0x90 : 0x80;
    const std::uint8_t high = in(0, 0xf4, 0xf4) ? 0x8f : 0xbf;
    return in(1, low, high) && in(2, 0x80, 0xbf) && in(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

// Whether XML 1.0 forbids the character although it is valid UTF-8: most controls, U+FFFE and U+FFFF.
bool is_forbidden_in_xml(std::string_view sequence) {
  const std::uint8_t first = byte_at(sequence, 0);
  if (sequence.size() == 1) return first < 0x20 && first != '\t' && first != '\n' && first != '\r';
  return sequence == "\xef\xbf\xbe" || sequence == "\xef\xbf\xbf";
}

std::string kept_text(std::string_view bytes, Alphabet alphabet) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = sequence_length(bytes, at);
    const std::string_view sequence = bytes.substr(at, length == 0 ? 1 : length);
    at += sequence.size();
    if (length != 0 && !(alphabet == Alphabet::kXml && is_forbidden_in_xml(sequence))) {
      text += sequence;
    } else if (sequence.size() == 1) {
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", byte_at(sequence, 0));
    } else {
      text += sequence.back() == '\xbe' ? "\\ufffe" : "\\uffff";
    }
  }
  return text;
}

}  // namespace

std::string utf8_text(std::string_view bytes) {
  return kept_text(bytes, Alphabet::kJson);
}

std::string xml_text(std::string_view bytes) {
  return kept_text(bytes, Alphabet::kXml);
}

std::string xml_escaped(std::string_view bytes) {
  std::string escaped;
  for (const char character : xml_text(bytes)) {
    switch (character) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      case '\r':
        escaped += "&#13;";
        break;  // a parser would turn a bare carriage return into a line feed
      default:
        escaped += character;
    }
  }
  return escaped;
}

}  // namespace reports
