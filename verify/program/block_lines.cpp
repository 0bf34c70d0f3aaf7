#include "verify/program/block_lines.h"

#include <fmt/format.h>

#include "verify/program/blocks.h"
#include "verify/program/threads.h"

namespace verify {

bool BlockLines::parse(Line& line, const Token& word) {
  if (word.text == "end") {
    end(line);
  } else if (word.text == "threads") {
    of_threads_ = true;
    begin(line, 1);
    line.end();
  } else if (word.text == "thread") {
    begin_thread(line);
  } else {
    return false;
  }
  return true;
}

void BlockLines::begin(Line& line, std::uint32_t rounds) {
  if (in_.block != 0) line.fail(1, "blocks do not nest");
  begun_.push_back(line.number());
  in_ = {static_cast<std::uint32_t>(begun_.size()), rounds, 0};
  empty_ = true;
}

void BlockLines::begin_rounds(Line& line, std::uint32_t rounds, const Token& count) {
  if (rounds > kMaxRounds) line.fail(count.column, fmt::format("a block has at most {} rounds", kMaxRounds));
  of_threads_ = false;
  begin(line, rounds);
}

void BlockLines::begin_thread(Line& line) {
  if (in_.block == 0 || !of_threads_) line.fail(1, "'thread N' stands between 'threads' and 'end'");
  const Token token = line.word("the number of a thread");
  in_.thread = static_cast<Id>(parse_number(line, token, kMaxThread, "a thread"));
  if (in_.thread == 0) line.fail(token.column, fmt::format("threads are numbered from 1 to {}", kMaxThread));
  line.end();
}

void BlockLines::place(Line& line, Step& step) {
  step.in = in_;
  empty_ = false;
  if (in_.block == 0 || !of_threads_) return;
  if (in_.thread == 0) line.fail(1, "a block of threads begins with 'thread N'");
  Id* const thread = thread_of(step.command);
  if (thread == nullptr) return;
  if (*thread != 0 && *thread != in_.thread) line.fail(1, fmt::format("the command stands in thread {}", in_.thread));
  *thread = in_.thread;
}

void BlockLines::end(Line& line) {
  if (in_.block == 0) line.fail(1, "there is no block to end");
  if (empty_) line.fail(1, "the block is empty");
  in_ = {};
  line.end();
}

std::optional<ParseError> BlockLines::unfinished() const {
  if (in_.block == 0) return {};
  return ParseError{begun_.back(), 1, "the block has no line 'end'"};
}

}  // namespace verify
