// Writing to a pipe between the campaign's processes.
#pragma once

#include <string_view>

namespace fuzz {

// Everything, however many writes it takes; false when the other end is gone.
[[nodiscard]] bool write_all(int fd, std::string_view text);

}  // namespace fuzz
