#include "verify/subject/fork_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>

#include "verify/subject/process.h"

namespace verify {
namespace {

constexpr std::size_t kMostText = 1024;  // of a message
constexpr std::size_t kMostServers = 6;  // of one process; each has 100 MB of its own
constexpr int kDescriptors = 3;
constexpr useconds_t kNap = 50;  // microseconds
constexpr const char* kReady = "ready";

hip::Error failed_to(const char* what) {
  return {1, fmt::format("no fork server: {}: {}", what, std::strerror(errno))};
}

// The messages are packets: a text, and for a request the three descriptors.
bool tell(int socket, const std::string& text) {
  return send(socket, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// Empty: the other end is gone, or nothing came in time.
std::string hear(int socket, double seconds) {
  using std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  pollfd poller{socket, POLLIN, 0};
  int ready = -1;
  for (bool again = true; again;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
    ready = poll(&poller, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    again = ready < 0 && errno == EINTR;
  }
  char text[kMostText];
  const ssize_t n = ready > 0 ? recv(socket, text, sizeof text, 0) : -1;
  return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : std::string();
}

using Descriptors = std::array<int, kDescriptors>;
struct alignas(cmsghdr) Control {
  char bytes[CMSG_SPACE(sizeof(Descriptors))];
};

msghdr message(iovec& text, Control& control) {
  msghdr m{};
  m.msg_iov = &text;
  m.msg_iovlen = 1;
  m.msg_control = control.bytes;
  m.msg_controllen = sizeof control.bytes;
  return m;
}

bool request(int socket, const Descriptors& descriptors) {
  pid_t self = getpid();
  iovec text{&self, sizeof self};
  Control control{};
  msghdr m = message(text, control);
  cmsghdr* head = CMSG_FIRSTHDR(&m);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(head), descriptors.data(), sizeof descriptors);
  return sendmsg(socket, &m, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof self);
}

// The caller's process, or -1 when it is gone.
pid_t next_request(int socket, Descriptors& descriptors) {
  pid_t caller = -1;
  iovec text{&caller, sizeof caller};
  Control control{};
  msghdr m = message(text, control);
  ssize_t n = 0;
  do {
    n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  const cmsghdr* head = CMSG_FIRSTHDR(&m);
  if (n != static_cast<ssize_t>(sizeof caller) || head == nullptr || head->cmsg_type != SCM_RIGHTS) return -1;
  if ((m.msg_flags & MSG_CTRUNC) != 0 || head->cmsg_len != CMSG_LEN(sizeof descriptors)) return -1;
  std::memcpy(descriptors.data(), CMSG_DATA(head), sizeof descriptors);
  return caller;
}

// In the new process: its parent is the caller as soon as the process between has ended.
void become_child_of(pid_t caller, pid_t between, const Descriptors& descriptors) {
  while (getppid() == between) usleep(kNap);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != caller) _exit(kCannotExec);  // it has ended meanwhile
  setpgid(0, 0);
  for (int i = 0; i < kDescriptors; ++i) {
    if (dup2(descriptors[static_cast<std::size_t>(i)], i) < 0) _exit(kCannotExec);
    close(descriptors[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

ForkServer::~ForkServer() {
  end();
}

void ForkServer::forget() {
  pid_ = -1;
  close_end(socket_);
}

void ForkServer::end() {
  if (pid_ > 0 && owner_ == getpid()) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  }
  forget();
}

std::shared_ptr<ForkServer> ForkServer::shared(const std::vector<std::string>& command) {
  static auto& servers = *new std::deque<std::shared_ptr<ForkServer>>;  // each ends with this process (PDEATHSIG)
  const auto found = std::ranges::find(servers, command, [](const auto& each) { return each->command_; });
  std::shared_ptr<ForkServer> server = found == servers.end() ? std::make_shared<ForkServer>(command) : *found;
  if (found != servers.end()) {
    servers.erase(found);
  } else if (servers.size() == kMostServers) {
    servers.pop_front();
  }
  return servers.emplace_back(std::move(server));
}

hip::Status ForkServer::start(double seconds) {
  if (pid_ > 0 && owner_ == getpid()) return {};
  forget();
  if (!refused_.empty()) return hip::Error{1, refused_};
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return failed_to("socketpair");
  std::vector<std::string> words = command_;
  words.insert(words.end(), {kForkServerOption, fmt::format("{}", ends[1])});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);  // Ctrl-C goes to the campaign alone
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGPIPE, SIG_DFL);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < kDescriptors; ++i) dup2(nothing, i);
    fcntl(ends[1], F_SETFD, 0);
    execvp(argv[0], argv.data());
    _exit(kCannotExec);
  }
  close(ends[1]);
  socket_ = ends[0];
  if (child < 0) {
    forget();
    return failed_to("fork");
  }
  pid_ = child;
  owner_ = getpid();
  const std::string said = hear(socket_, seconds);
  if (said == kReady) return {};
  end();
  refused_ = said.empty() ? "the fork server does not start" : said;
  return hip::Error{1, refused_};
}

hip::Result<pid_t> ForkServer::new_process(int in, int out, int errors, double seconds) {
  if (hip::Status status = start(seconds); !status) return status.error();
  int before = 0;
  if (prctl(PR_GET_CHILD_SUBREAPER, &before) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    return failed_to("PR_SET_CHILD_SUBREAPER");
  pid_t made = -1;
  if (request(socket_, {in, out, errors})) {
    const std::string said = hear(socket_, seconds);
    if (said.size() == sizeof made) std::memcpy(&made, said.data(), sizeof made);
  }
  // What other processes leave behind goes to init again, not to this process.
  prctl(PR_SET_CHILD_SUBREAPER, before);
  if (made > 0) return made;
  end();
  return hip::Error{1, "the fork server has made no process"};
}

bool serve_forks(int socket) {
  if (!tell(socket, kReady)) return false;
  while (true) {
    Descriptors descriptors{};
    const pid_t caller = next_request(socket, descriptors);
    if (caller < 0) return false;
    int made[2];
    if (pipe2(made, O_CLOEXEC) != 0) return false;
    const pid_t between = fork();
    if (between == 0) {
      const pid_t self = getpid();
      const pid_t child = fork();
      if (child == 0) {
        for (const int each : {socket, made[0], made[1]}) close(each);
        become_child_of(caller, self, descriptors);
        return true;
      }
      static_cast<void>(!write(made[1], &child, sizeof child));
      _exit(0);
    }
    close(made[1]);
    pid_t child = -1;
    if (between > 0) {
      static_cast<void>(!read(made[0], &child, sizeof child));
      while (waitpid(between, nullptr, 0) < 0 && errno == EINTR) {}
    }
    close(made[0]);
    for (const int each : descriptors) close(each);
    if (!tell(socket, std::string(reinterpret_cast<const char*>(&child), sizeof child))) return false;
  }
}

void refuse_to_fork(int socket, const std::string& reason) {
  static_cast<void>(tell(socket, reason.substr(0, kMostText)));
}

}  // namespace verify
