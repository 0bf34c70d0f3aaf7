#include "verify/subject/process.h"

#include <unistd.h>

#include <cerrno>

namespace verify {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void close_end(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

}  // namespace verify
