// fuzz::Child: a process that was forked off, and the lines of JSON that it writes to its parent.
//
// Owns the read end of a pipe. Only kill() and wait() end the process: a process whose Child is destroyed continues to
// run. A line that is not JSON, or is longer than kMaxLine, comes from a broken child and is left out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "hip/result/result.h"

namespace fuzz {

inline constexpr std::size_t kMaxLine = 16 << 20;  // bytes

class Child {
 public:
  // Called with the end of the pipe that the child writes to; does not return.
  using Work = std::function<void(int fd)>;
  using Handle = std::function<void(const nlohmann::json& line)>;

  // An error says why there is no process.
  [[nodiscard]] static hip::Result<Child> start(const Work& work);
  Child() = default;

  [[nodiscard]] bool is_running() const { return pid_ >= 0; }
  [[nodiscard]] double seconds() const;  // since it was started
  // The descriptor to poll; -1 when no more lines can come.
  [[nodiscard]] int fd() const { return lines_ && !lines_->ended ? lines_->fd : -1; }
  // Hands over every line that has come.
  void read(const Handle& handle);
  // The status of waitpid(), once, when the process has ended. Its output can still be read.
  [[nodiscard]] std::optional<int> ended();
  void kill() const;
  void wait();

 private:
  struct Lines {
    explicit Lines(int end) : fd(end) {}
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;
    ~Lines();
    int fd;
    bool ended = false;
    std::string pending;
  };
  pid_t pid_ = -1;
  std::unique_ptr<Lines> lines_;
  std::uint64_t started_ns_ = 0;
};

}  // namespace fuzz
