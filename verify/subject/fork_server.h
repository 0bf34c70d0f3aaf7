// A fork server: a subject process that has its runtime open and forks a fresh subject process when one is asked for.
//
// The server opens the runtime, does a first operation on each device, ends the threads of the software gfx942
// (hgagent_rest) and waits. So a fresh process costs a fork instead of a start of AMD's runtime, which takes 0.15 to
// 0.4 s of processor time. A new process is a grandchild whose parent has ended. The caller is a subreaper (prctl(2))
// at that moment: the new process becomes its child, and it waits for the end of this child like any other's.
//
// Only for runtimes that have no thread of their own while they rest, as AMD's on the software gfx942: a server with
// threads refuses.
//
// What such a process does not show: failures of the runtime's first calls, and what depends on another layout of
// addresses, because the forks of one server share the layout. another_layout() ends the server for that.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "hip/result/result.h"

namespace verify {

// The caller's end, for one thread. Owns the server: the destructor ends it. After a fork of the caller's own process
// the child starts a server of its own.
class ForkServer {
 public:
  // `command`: argv of a subject without options of the server.
  explicit ForkServer(std::vector<std::string> command) : command_(std::move(command)) {}
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;
  ~ForkServer();
  // The server of a command that all callers of this process share. Of too many the least recently asked one ends.
  [[nodiscard]] static std::shared_ptr<ForkServer> shared(const std::vector<std::string>& command);

  // A new subject process whose standard input, output and error are these descriptors. Starts the server if there is
  // none, and waits at most `seconds` for it. An error names the reason. A server that refused is not started again.
  [[nodiscard]] hip::Result<pid_t> new_process(int in, int out, int errors, double seconds);
  // The next process is the fork of another server.
  void another_layout() { end(); }
  [[nodiscard]] pid_t pid() const { return pid_; }  // of the server; -1: there is none

 private:
  hip::Status start(double seconds);
  void end();
  void forget();

  const std::vector<std::string> command_;
  std::string refused_;  // why the server does not start; empty: it was not tried, or it did
  pid_t pid_ = -1;
  pid_t owner_ = -1;  // the process that started it
  int socket_ = -1;
};

// The option that makes hgcheck-subject a fork server; its value is the number of the descriptor of its socket.
inline constexpr const char* kForkServerOption = "--fork-server";

// The server's end: tells the caller that it is ready, or why it is not. Returns false when the caller is gone, and
// true in each new process, whose standard input, output and error are those that the caller asked for.
[[nodiscard]] bool serve_forks(int socket);
void refuse_to_fork(int socket, const std::string& reason);

}  // namespace verify
