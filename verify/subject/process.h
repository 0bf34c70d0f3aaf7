// Functions that both ends of a pipe between processes share.
#pragma once

#include <string_view>

namespace verify {

// Writes all of `text`, however many writes that takes; returns false when the other end is gone.
[[nodiscard]] bool write_all(int fd, std::string_view text);

// Closes the descriptor, if it is one, and forgets it.
void close_end(int& fd);

inline constexpr int kCannotExec = 127;  // the exit status of a child that cannot become the program

}  // namespace verify
