// Functions that both ends of a pipe between processes share.
#pragma once

#include <string_view>

namespace verify {

// Writes all of `text`, however many writes that takes; returns false when the other end is gone.
[[nodiscard]] bool write_all(int fd, std::string_view text);

}  // namespace verify
