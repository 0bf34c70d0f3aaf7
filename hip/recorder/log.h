// The log of a recorder: one line a HIP call, of words with one space between them, written as the call returns.
//
// The file stands beside the library that is preloaded and is named after the process ("log.1234"), so a forked child
// has one of its own. It is mapped and every line has a place of its own in it: no call of the system is made for a
// line, lines of threads never mix, and stored bytes are in the file when the process crashes. Unfinished lines and
// unused room hold zeros: a reader skips text before a zero. The form of the
// lines is read by fuzz/recorded_program.h alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hip/recorder/hash.h"

namespace hip::recorder {

// Contents up to this many bytes are written in full, larger ones as their hash.
inline constexpr std::size_t kMaxDataBytes = 65536;

// One line, built word by word; written when it goes.
class Line {
 public:
  explicit Line(const char* word) {
    text_.reserve(kUsualBytes);
    text_ = word;
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line();
  Line& number(std::uint64_t value);
  Line& address(const void* value) { return number(reinterpret_cast<std::uintptr_t>(value)); }
  Line& word(const std::string& text);  // of no spaces; an empty one is "-"
  // "=00ff" in full, "#HASH" by hash.
  Line& data(const void* bytes, std::size_t size);

 private:
  static constexpr std::size_t kUsualBytes = 480;
  std::string text_;
};

// A file beside the log, once a name.
void keep_file(const std::string& name, std::span<const std::byte> bytes);

}  // namespace hip::recorder
