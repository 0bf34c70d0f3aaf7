#include "fuzz/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "fuzz/kernel_text.h"
#include "fuzz/worker.h"

namespace fuzz {

Child::Lines::~Lines() {
  close(fd);
}

hip::Result<Child> Child::start(const Work& work) {
  int ends[2];
  if (pipe(ends) != 0) return hip::Error{1, fmt::format("no pipe: {}", std::strerror(errno))};
  std::fflush(stdout);  // the child must not write what the parent has not written yet
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    const KernelTextToErrors text;
    work(ends[1]);
    _exit(1);
  }
  const int failure = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return hip::Error{1, fmt::format("no process: {}", std::strerror(failure))};
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  Child child;
  child.pid_ = pid;
  child.lines_ = std::make_unique<Lines>(ends[0]);
  child.started_ns_ = steady_ns();
  return child;
}

double Child::seconds() const {
  return seconds_since(started_ns_);
}

void Child::read(const Handle& handle) {
  if (!lines_) return;
  char buffer[8192];
  std::string& pending = lines_->pending;
  while (!lines_->ended) {
    const ssize_t n = ::read(lines_->fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    if (n == 0) lines_->ended = true;
    pending.append(buffer, static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (pending.size() > kMaxLine) lines_->ended = true;
  }
  std::size_t newline = 0;
  while ((newline = pending.find('\n')) != std::string::npos) {
    const nlohmann::json line = nlohmann::json::parse(pending.substr(0, newline), nullptr, false);
    pending.erase(0, newline + 1);
    if (!line.is_discarded()) handle(line);
  }
}

std::optional<int> Child::ended() {
  int status = 0;
  if (pid_ < 0 || waitpid(pid_, &status, WNOHANG) != pid_) return {};
  pid_ = -1;
  return status;
}

void Child::kill() const {
  if (pid_ >= 0) ::kill(pid_, SIGKILL);
}

void Child::wait() {
  if (pid_ >= 0) waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace fuzz
