// The log of a recorder: lines of words separated by one space, written as a HIP call returns, or before the call where
// it ends an object. Lines of memory that the host wrote are among them. A line of another thread than the first that
// wrote one begins with that thread's number: "@ 2".
//
// The file stands beside the library that is preloaded and is named after the process ("log.1234"), so a forked child
// has a log of its own. The file is mapped, and every line has its own place in it: a line needs no system call, lines
// of threads never mix, and stored bytes are in the file even if the process crashes. Unfinished lines and unused space
// hold zeros: a reader skips text before a zero.
// Only fuzz/recorded_program.h, fuzz/recorded_threads.h and fuzz/recorded_work.h know the form of the lines.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hip/recorder/hash.h"

namespace hip::recorder {

// Contents up to kSmallDataBytes are written in full; larger ones up to kMaxDataBytes too, while they are at most
// kMaxLargeData bytes in sum; others as their hash.
inline constexpr std::size_t kSmallDataBytes = 65536, kMaxDataBytes = 4 << 20, kMaxLargeData = 8 << 20;

// One line, built word by word; the destructor writes it.
class Line {
 public:
  explicit Line(const char* word);
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line();
  Line& number(std::uint64_t value);
  Line& address(const void* value) { return number(reinterpret_cast<std::uintptr_t>(value)); }
  Line& word(const std::string& text);  // without spaces; an empty text becomes "-"
  // "=00ff": the bytes in full; "#HASH": their hash.
  Line& data(const void* bytes, std::size_t size);
  // The line is not written.
  void drop() { text_.clear(); }

 private:
  static constexpr std::size_t kUsualBytes = 480;
  std::string text_;
};

// Holds the log's lock while the process forks; a child gets a log of its own. See recorder.cpp.
void hold_log();
void let_go_of_log(bool in_child);

// Writes a file beside the log, once for each name.
void keep_file(const std::string& name, std::span<const std::byte> bytes);

}  // namespace hip::recorder
