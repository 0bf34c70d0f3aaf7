// One line of a program's text, read from left to right: words, then pairs key=value. The first failure is remembered
// with its column, and every read after it returns a default, so that a caller needs no error handling of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "verify/language/node_params.h"
#include "verify/language/parse_error.h"

namespace verify {

struct Token {
  std::string_view text;
  std::uint32_t column = 1;

  // The part that begins at `from`, of at most `length` characters, with its own column.
  [[nodiscard]] Token part(std::size_t from, std::size_t length = std::string_view::npos) const {
    return {text.substr(from, length), column + static_cast<std::uint32_t>(from)};
  }
};

class Line {
 public:
  // `text` has to live as long as the line. A '#' begins a comment. `number` counts from 1.
  Line(std::string_view text, std::uint32_t number);

  [[nodiscard]] bool blank() const { return tokens_.empty(); }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const ParseError& error() const { return error_; }
  [[nodiscard]] bool at_end() const { return next_ == tokens_.size(); }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] Token peek() const { return at_end() ? Token{"", end_column_} : tokens_[next_]; }

  // The next word; `expected` names it in the error of a line that ends before it.
  Token word(std::string_view expected);
  // Fails when words are left.
  void end();
  void fail(std::uint32_t column, std::string message);

 private:
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  std::uint32_t number_ = 0;
  std::uint32_t end_column_ = 1;
  bool failed_ = false;
  ParseError error_;
};

// Decimal, or hexadecimal behind 0x. `what` names the number in an error.
[[nodiscard]] std::uint64_t parse_number(Line& line, Token token, std::uint64_t max, std::string_view what);
// "-1" or "1": a priority, with or without a minus sign.
[[nodiscard]] std::int32_t parse_priority(Line& line, Token token);
// "g0": a letter and a number.
[[nodiscard]] Id parse_id(Line& line, Token token, char letter);
[[nodiscard]] Id next_id(Line& line, char letter);
// "b0", "b0+256", "b0-8"
[[nodiscard]] BufferRef parse_ref(Line& line, Token token);
[[nodiscard]] std::string print_ref(const BufferRef& ref);
// "n0,n1"
void parse_nodes(Line& line, Token token, std::vector<Id>& nodes);
// "00ff": 1 to kMaxWrittenBytes bytes, two digits each.
[[nodiscard]] std::vector<std::uint8_t> parse_hex(Line& line, Token token);

// The pairs key=value and the bare flags that end a line. Each is taken once; a word that is left over is an error.
class Attributes {
 public:
  // Takes all words that are left of `line`.
  explicit Attributes(Line& line);

  bool take(std::string_view key, Token& value);
  bool flag(std::string_view key);
  std::uint64_t number(std::string_view key, std::uint64_t fallback, std::uint64_t max);
  std::uint64_t required_number(std::string_view key, std::uint64_t max);
  BufferRef required_ref(std::string_view key);
  void missing(std::string_view key);
  // Fails when a pair or a flag was not taken.
  void end();
  [[nodiscard]] Line& line() { return line_; }

 private:
  struct Entry {
    Token value;
    std::uint32_t column = 0;
    bool has_value = false;
  };
  Line& line_;
  std::map<std::string, Entry> entries_;
};

}  // namespace verify
