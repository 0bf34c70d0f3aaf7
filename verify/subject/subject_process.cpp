#include "verify/subject/subject_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "verify/subject/process.h"

namespace verify {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kShownErrors = 2000;  // characters of the subject's standard error in a message
constexpr int kThroeMilliseconds = 300;     // a hung subject gets this long to say where it is

// Writing to a subject that is gone has to fail; the signal must not kill the writer.
void ignore_broken_pipes() {
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

[[noreturn]] void become(const std::vector<std::string>& command, int in, int out, int errors) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);  // Ctrl-C goes to the campaign alone; and the whole group can be killed
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
  if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0) _exit(kCannotExec);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  dprintf(STDERR_FILENO, "%s: %s\n", argv[0], std::strerror(errno));
  _exit(kCannotExec);
}

}  // namespace

SubjectProcess::SubjectProcess(std::vector<std::string> command, SubjectTimeouts timeouts,
                               std::shared_ptr<ForkServer> forks)
    : command_(std::move(command)), timeouts_(timeouts), forks_(std::move(forks)) {
  ignore_broken_pipes();
}

SubjectProcess::~SubjectProcess() {
  stop();
}

void SubjectProcess::forget() {
  pid_ = -1;
  close_end(to_);
  close_end(from_);
  close_end(errors_);
  reader_ = {};
}

void SubjectProcess::stop() {
  if (pid_ > 0 && owner_ == getpid()) {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);  // in case it is not in its own group yet
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  }
  forget();
}

// If the fork server cannot make a process, one is started with the command.
pid_t SubjectProcess::new_process(int in, int out) {
  if (forks_ != nullptr) {
    const hip::Result<pid_t> made = forks_->new_process(in, out, errors_, timeouts_.start);
    if (made) return made.value();
  }
  const pid_t child = fork();
  if (child == 0) become(command_, in, out, errors_);
  return child;
}

hip::Status SubjectProcess::spawn() {
  int requests[2], answers[2];
  if (pipe2(requests, O_CLOEXEC) != 0) return hip::Error{1, fmt::format("no pipe: {}", std::strerror(errno))};
  if (pipe2(answers, O_CLOEXEC) != 0) {
    close(requests[0]);
    close(requests[1]);
    return hip::Error{1, fmt::format("no pipe: {}", std::strerror(errno))};
  }
  errors_ = memfd_create("subject's standard error", MFD_CLOEXEC);
  if (errors_ >= 0) fcntl(errors_, F_SETFL, O_APPEND);
  const pid_t child = errors_ < 0 ? -1 : new_process(requests[0], answers[1]);
  const int failure = errno;
  close(requests[0]);
  close(answers[1]);
  to_ = requests[1];
  from_ = answers[0];
  if (child < 0) {
    forget();
    return hip::Error{1, fmt::format("no process: {}", std::strerror(failure))};
  }
  setpgid(child, child);
  pid_ = child;
  owner_ = getpid();
  runs_ = 0;
  greeted_ = false;
  ++starts_;
  return {};
}

bool SubjectProcess::is_there() const {
  return pid_ > 0 && owner_ == getpid();
}

void SubjectProcess::another_layout() {
  if (forks_ != nullptr) forks_->another_layout();
}

hip::Status SubjectProcess::launch() {
  if (is_there()) return {};
  forget();  // after a fork the process belongs to the other side
  return spawn();
}

hip::Status SubjectProcess::start() {
  if (hip::Status status = launch(); !status) return status;
  if (greeted_) return {};
  const Received greeting = receive(timeouts_.start);
  const auto failed = [this](const std::string& why) {
    const std::string errors = last_errors();
    stop();
    return hip::Error{1, fmt::format("the subject '{}' does not start: {}{}", fmt::join(command_, " "), why,
                                     errors.empty() ? "" : "; it says: " + errors)};
  };
  if (greeting.death) return failed(greeting.death->text());
  hip::Result<Hello> hello = decode_hello(greeting.body);
  if (!hello) return failed(hello.error().message);
  hello_ = std::move(hello).value();
  greeted_ = true;
  return {};
}

std::string SubjectProcess::last_errors() const {
  if (errors_ < 0) return {};
  const off_t size = lseek(errors_, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(kShownErrors));
  std::string text(static_cast<std::size_t>(size - from), '\0');
  const ssize_t got = pread(errors_, text.data(), text.size(), from);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

void SubjectProcess::cut_errors() const {
  if (lseek(errors_, 0, SEEK_END) > static_cast<off_t>(kMaxErrorText)) static_cast<void>(ftruncate(errors_, 0));
}

// Waits until the process is gone, or kills it. Returns `how`, or else the way in which the process ended.
Death SubjectProcess::ended(std::optional<Death> how) {
  int status = 0;
  pid_t got = waitpid(pid_, &status, WNOHANG);
  for (int waited = 0; got == 0 && !how && waited < kThroeMilliseconds; ++waited) {
    usleep(1000);  // it closed its pipe and is about to exit
    got = waitpid(pid_, &status, WNOHANG);
  }
  const bool gone = got == pid_;
  if (!gone) {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
  }
  pid_ = -1;
  if (how) return std::move(*how);
  return gone ? death_of(status) : Death{.detail = "closed its pipe and went on"};
}

SubjectProcess::Received SubjectProcess::receive(double timeout_seconds) {
  Received received;
  auto deadline = SteadyClock::now() +
                  std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(timeout_seconds));
  std::optional<Death> late;  // the death to report, once the time is up
  while (true) {
    std::string body;
    const FrameReader::State state = reader_.next(body);
    if (state == FrameReader::State::kGarbage) {
      received.death = ended(Death{.detail = fmt::format("garbage instead of an answer: '{}'", body)});
      return received;
    }
    if (state == FrameReader::State::kFrame) {
      const hip::Result<Answer> answer = decode_answer(body);
      if (!answer || !answer.value().dying) {
        received.body = std::move(body);
        return received;
      }
      received.throe = answer.value().throe;
      continue;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    if (left <= 0) {
      if (!late) {
        late = {Death::Kind::kHung, 0, fmt::format("no answer within {} seconds", timeout_seconds)};
        deadline = SteadyClock::now() + std::chrono::milliseconds(kThroeMilliseconds);
        kill(pid_, SIGTERM);  // its signal handler sends the step that is running
        continue;
      }
      received.death = ended(late);
      return received;
    }
    pollfd poller{from_, POLLIN, 0};
    if (poll(&poller, 1, static_cast<int>(std::min<long long>(left, 1000))) <= 0) continue;
    char buffer[1 << 16];
    const ssize_t n = ::read(from_, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      received.death = ended(late);
      return received;
    }
    reader_.append(buffer, static_cast<std::size_t>(n));
  }
}

RunResult SubjectProcess::run(const Request& request, double more_seconds) {
  RunResult result;
  ++runs_;
  // If a write fails, the subject is gone, and receive() reports how it ended.
  static_cast<void>(write_all(to_, frame(encode_request(request))));
  const Received received = receive(timeouts_.program + more_seconds);
  if (!received.death) {
    hip::Result<Answer> answer = decode_answer(received.body);
    if (answer) {
      cut_errors();
      return std::move(answer).value().result;
    }
    result.observation.death = ended(Death{.detail = answer.error().message});
  } else {
    result.observation.death = received.death;
  }
  result.observation.death_step = received.throe.step;
  result.observation.notes.fault = last_errors();
  forget();
  return result;
}

}  // namespace verify
