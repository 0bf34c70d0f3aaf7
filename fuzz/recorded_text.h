// The lines of a program that a log becomes, and the names in them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/recorded_program.h"
#include "fuzz/recorded_work.h"

namespace fuzz {

// The lines of the program in the making. A command that is not valid in its place becomes a comment with the reason.
class ProgramText {
 public:
  void say(std::string text, std::optional<RecordedBytes> read = {}) { body_.push_back({std::move(text), read}); }
  // Adds a line at the beginning, before all that say() adds.
  void say_first(std::string text) { lines_.push_back({std::move(text), {}}); }
  // Adds a line when say_what_waits() is called: no capture may be open before this line.
  void say_later(std::string text, std::optional<RecordedBytes> read = {}) {
    later_.push_back({std::move(text), read});
  }
  void say_what_waits();
  // The next line begins the first of the captures that are open.
  void captures_begin() { captures_ = body_.size(); }
  // Adds lines before the first open capture, behind the line `module`, which is moved there if it stands in a capture.
  void say_before_captures(const std::string& module, const std::vector<std::string>& texts);
  void note(const std::string& why);
  RecordedProgram finish(const std::vector<std::string>& header, const verify::Environment& environment) &&;

 private:
  struct Line {
    std::string text;
    std::optional<RecordedBytes> read;
  };

  void drop_what_may_not_stand();

  std::vector<Line> lines_, body_, later_;  // finish() joins them
  std::size_t captures_ = 0;                // where in body_ the first open capture begins
  std::map<std::string, std::size_t> not_recorded_;
};

// The program in the making, to which all parts of the conversion add.
struct Recording {
  // The name of a stream. A stream whose creation the log does not have is declared at the beginning.
  std::string stream(std::uint64_t handle);

  ProgramText text;
  RecordedObjects objects;
};

}  // namespace fuzz
