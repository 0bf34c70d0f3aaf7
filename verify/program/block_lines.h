// The lines of a program's text that begin and end blocks, and the places that they give to the steps between them.
#pragma once

#include <optional>
#include <vector>

#include "verify/language/line.h"
#include "verify/language/parse_error.h"
#include "verify/program/program.h"

namespace verify {

class BlockLines {
 public:
  // Reads the rest of a line that begins with `word`, where such a line is about a block; false: it is not. `repeat N`
  // is read by begin_rounds(), because it may also stand before a command.
  bool parse(Line& line, const Token& word);
  void begin_rounds(Line& line, std::uint32_t rounds, const Token& count);
  // The step's place, which decides the thread of its call.
  void place(Line& line, Step& step);
  // Why the text may not end here, or nothing.
  [[nodiscard]] std::optional<ParseError> unfinished() const;
  // The line of a step outside of blocks, and of the word that begins its block.
  [[nodiscard]] std::uint32_t line_of(const Step& step) const {
    return step.in.block == 0 ? step.line : begun_[step.in.block - 1];
  }

 private:
  void begin(Line& line, std::uint32_t rounds);
  void begin_thread(Line& line);
  void end(Line& line);

  InBlock in_;                        // the block that the next line stands in
  bool of_threads_ = false;           // whether the block is one of threads
  bool empty_ = true;                 // whether the block has no step yet
  std::vector<std::uint32_t> begun_;  // the lines that begin blocks
};

}  // namespace verify
