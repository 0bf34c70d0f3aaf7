// verify::SubjectProcess: one process that runs programs, and the pipe to it.
//
// Starts a command when a program comes, or earlier (launch()), and speaks verify/subject/protocol.h with it. Its end,
// a hang, and bytes that are no frame are an answer, too (Observation::death); the next program starts it again.
//
// Owns the process: the destructor and stop() kill it, with its process group. After a fork each side has a process of
// its own: the child forgets the parent's process and starts another when it first needs one. Standard error of the
// subject goes to an unnamed file that is cut when it passes kMaxErrorText.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "verify/subject/fork_server.h"
#include "verify/subject/protocol.h"

namespace verify {

inline constexpr std::size_t kMaxErrorText = std::size_t{1} << 20;

struct SubjectTimeouts {
  double program = 10;  // seconds for one run of a program
  double start = 60;    // until the greeting; the first start on a machine may compile AMD's own kernels
};

class SubjectProcess {
 public:
  // `command` is argv; its program is found on PATH.
  // `forks`: makes the process with the same command where it can; may be null. It is shared with other processes.
  SubjectProcess(std::vector<std::string> command, SubjectTimeouts timeouts, std::shared_ptr<ForkServer> forks = {});
  SubjectProcess(const SubjectProcess&) = delete;
  SubjectProcess& operator=(const SubjectProcess&) = delete;
  ~SubjectProcess();

  // Starts the process if there is none, and does not wait until it can run programs.
  hip::Status launch();
  // Starts the process if there is none and waits until it can run programs. An error gives the reason, with the last
  // lines of the process's standard error.
  hip::Status start();
  // Does not start the process: start() has to have succeeded since the last stop() or death.
  // `more_seconds`: beyond SubjectTimeouts::program.
  [[nodiscard]] RunResult run(const Request& request, double more_seconds = 0);
  void stop();
  // The next process has another layout of addresses than all before it.
  void another_layout();

  [[nodiscard]] const std::optional<Hello>& hello() const { return hello_; }
  [[nodiscard]] pid_t pid() const { return pid_; }  // -1 when there is none
  [[nodiscard]] bool is_there() const;              // launched by this process itself, not by a parent that forked it
  [[nodiscard]] std::uint64_t starts() const { return starts_; }
  [[nodiscard]] std::uint64_t runs() const { return runs_; }  // of the process that is running now

 private:
  struct Received {
    std::string body;
    std::optional<Death> death;  // instead of a body
    Throe throe;
  };
  hip::Status spawn();
  [[nodiscard]] pid_t new_process(int in, int out);
  Received receive(double timeout_seconds);
  Death ended(std::optional<Death> how);
  [[nodiscard]] std::string last_errors() const;
  void cut_errors() const;
  void forget();

  const std::vector<std::string> command_;
  const SubjectTimeouts timeouts_;
  const std::shared_ptr<ForkServer> forks_;
  pid_t pid_ = -1;
  pid_t owner_ = -1;  // the process that started it
  int to_ = -1, from_ = -1, errors_ = -1;
  FrameReader reader_;
  bool greeted_ = false;  // the running process has sent its greeting
  std::optional<Hello> hello_;
  std::uint64_t starts_ = 0, runs_ = 0;
};

}  // namespace verify
