#include "verify/language/line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace verify {

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string ParseError::text(std::string_view file) const {
  return fmt::format("{}:{}:{}: {}", file, line, column, message);
}

Line::Line(std::string_view text, std::uint32_t number) : number_(number) {
  const std::size_t comment = text.find('#');
  if (comment != std::string_view::npos) text = text.substr(0, comment);
  std::size_t at = 0;
  while (at < text.size()) {
    if (is_space(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    tokens_.push_back({text.substr(at, end - at), static_cast<std::uint32_t>(at + 1)});
    at = end;
  }
  end_column_ = static_cast<std::uint32_t>(text.size() + 1);
}

void Line::fail(std::uint32_t column, std::string message) {
  if (failed_) return;
  failed_ = true;
  error_ = {number_, column, std::move(message)};
}

Token Line::word(std::string_view expected) {
  if (at_end()) {
    fail(end_column_, fmt::format("expected {} before the end of the line", expected));
    return {"", end_column_};
  }
  return tokens_[next_++];
}

void Line::end() {
  if (!failed_ && !at_end()) {
    fail(tokens_[next_].column, fmt::format("'{}' is not part of this command", tokens_[next_].text));
  }
}

std::uint64_t parse_number(Line& line, Token token, std::uint64_t max, std::string_view what) {
  std::uint64_t value = 0;
  std::string_view digits = token.text;
  int base = 10;
  if (digits.starts_with("0x")) {
    digits.remove_prefix(2);
    base = 16;
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    line.fail(token.column, fmt::format("expected {}, found '{}'", what, token.text));
    return 0;
  }
  if (error == std::errc::result_out_of_range || value > max) {
    line.fail(token.column, fmt::format("{} is at most {}", what, max));
    return 0;
  }
  return value;
}

std::int32_t parse_priority(Line& line, Token token) {
  constexpr std::uint64_t kMaxPriority = 1000;
  const bool negative = token.text.starts_with("-");
  if (negative) token = {token.text.substr(1), token.column + 1};
  const auto value = static_cast<std::int32_t>(parse_number(line, token, kMaxPriority, "a priority"));
  return negative ? -value : value;
}

Id parse_id(Line& line, Token token, char letter) {
  if (token.text.empty() || token.text[0] != letter) {
    line.fail(token.column, fmt::format("expected a name like {}0, found '{}'", letter, token.text));
    return 0;
  }
  return static_cast<Id>(parse_number(line, {token.text.substr(1), token.column + 1}, kMaxId,
                                      fmt::format("the number of a name like {}0", letter)));
}

Id next_id(Line& line, char letter) {
  return parse_id(line, line.word(fmt::format("a name like {}0", letter)), letter);
}

BufferRef parse_ref(Line& line, Token token) {
  const std::size_t sign = token.text.find_first_of("+-");
  BufferRef ref;
  ref.buffer = parse_id(line, {token.text.substr(0, sign), token.column}, 'b');
  if (sign == std::string_view::npos) return ref;
  const Token digits{token.text.substr(sign + 1), token.column + static_cast<std::uint32_t>(sign) + 1};
  const std::uint64_t value = parse_number(line, digits, kMaxBufferBytes, "an offset in bytes");
  ref.offset = token.text[sign] == '-' ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return ref;
}

std::string print_ref(const BufferRef& ref) {
  return fmt::format("b{}{:+}", ref.buffer, ref.offset);
}

void parse_nodes(Line& line, Token token, std::vector<Id>& nodes) {
  std::string_view rest = token.text;
  std::uint32_t column = token.column;
  while (true) {
    const std::size_t comma = rest.find(',');
    nodes.push_back(parse_id(line, {rest.substr(0, comma), column}, 'n'));
    if (comma == std::string_view::npos || line.failed()) return;
    column += static_cast<std::uint32_t>(comma) + 1;
    rest = rest.substr(comma + 1);
  }
}

std::vector<std::uint8_t> parse_hex(Line& line, Token token) {
  std::vector<std::uint8_t> bytes;
  const std::string_view digits = token.text;
  if (digits.empty() || digits.size() % 2 != 0 || digits.size() > 2 * kMaxWrittenBytes) {
    line.fail(token.column, fmt::format("hex is 1 to {} bytes, two digits each", kMaxWrittenBytes));
    return bytes;
  }
  bytes.resize(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char* const from = digits.data() + 2 * i;
    if (std::from_chars(from, from + 2, bytes[i], 16).ptr == from + 2) continue;
    line.fail(token.column, fmt::format("'{}' is no byte of two hexadecimal digits", digits.substr(2 * i, 2)));
    return bytes;
  }
  return bytes;
}

Attributes::Attributes(Line& line) : line_(line) {
  while (!line.at_end() && !line.failed()) {
    const Token token = line.word("an attribute");
    const std::size_t equals = token.text.find('=');
    const bool has_value = equals != std::string_view::npos;
    const Token value = has_value ? token.part(equals + 1) : Token{"", token.column};
    const std::string_view key = token.text.substr(0, equals);
    if (!entries_.emplace(std::string(key), Entry{value, token.column, has_value}).second) {
      line.fail(token.column, fmt::format("'{}' is given twice", key));
    }
  }
}

bool Attributes::take(std::string_view key, Token& value) {
  const auto found = entries_.find(std::string(key));
  if (found == entries_.end()) return false;
  if (!found->second.has_value) line_.fail(found->second.column, fmt::format("'{}' needs a value: {}=...", key, key));
  value = found->second.value;
  entries_.erase(found);
  return true;
}

bool Attributes::flag(std::string_view key) {
  const auto found = entries_.find(std::string(key));
  if (found == entries_.end()) return false;
  if (found->second.has_value) line_.fail(found->second.column, fmt::format("'{}' takes no value", key));
  entries_.erase(found);
  return true;
}

std::uint64_t Attributes::number(std::string_view key, std::uint64_t fallback, std::uint64_t max) {
  Token value;
  return take(key, value) ? parse_number(line_, value, max, key) : fallback;
}

std::uint64_t Attributes::required_number(std::string_view key, std::uint64_t max) {
  Token value;
  if (take(key, value)) return parse_number(line_, value, max, key);
  missing(key);
  return 0;
}

BufferRef Attributes::required_ref(std::string_view key) {
  Token value;
  if (take(key, value)) return parse_ref(line_, value);
  missing(key);
  return {};
}

void Attributes::missing(std::string_view key) {
  line_.fail(line_.peek().column, fmt::format("'{}=' is missing", key));
}

void Attributes::end() {
  if (line_.failed() || entries_.empty()) return;
  const auto first = std::ranges::min_element(
      entries_, [](const auto& a, const auto& b) { return a.second.column < b.second.column; });
  line_.fail(first->second.column, fmt::format("'{}' is not an attribute of this command", first->first));
}

}  // namespace verify
