// hgcheck-subject: runs programs on one HIP runtime and reports its observations, over its standard input and output.
//
// Built once per release of HIP, against that release's headers: types and enumerators differ between releases.
// verify/subject/protocol.h describes the messages on the pipes. A signal that ends the process is announced with the
// step of the program that was running.
//
// On purpose it does not survive a program that crashes the runtime: the process that started it starts it again.
#include <execinfo.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "fuzz/faults/runtime/faults.h"
#include "hip/sync/sync.h"
#include "verify/execute/code_objects.h"
#include "verify/execute/host_threads.h"
#include "verify/execute/layered_platform.h"
#include "verify/execute/library_platform.h"
#include "verify/execute/patcher_library.h"
#include "verify/program/environment.h"
#include "verify/program/state.h"
#include "verify/program/text.h"
#include "verify/run/executor.h"
#include "verify/subject/fork_server.h"
#include "verify/subject/process.h"
#include "verify/subject/protocol.h"

namespace {

using namespace verify;

constexpr int kUsage = 2;
constexpr std::size_t kSignalStack = 64 << 10;
constexpr int kShownFrames = 24;

// For the signal handler.
int answers = -1;
hip::sync::Atomic<std::size_t> current_step{0};

void announce(int signal) {
  unsigned char out[kThroeFrame];
  const std::size_t size = throe_frame({current_step.load(std::memory_order_relaxed), signal}, out);
  static_cast<void>(!write(answers, out, size));
  void* frames[kShownFrames];
  backtrace_symbols_fd(frames, backtrace(frames, kShownFrames), STDERR_FILENO);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// Endless recursion leaves no stack for the handler, so the handler gets a stack of its own.
void give_handler_a_stack() {
  static thread_local std::array<std::byte, kSignalStack> stack;
  stack_t alternate{};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  sigaltstack(&alternate, nullptr);
}

void announce_deaths() {
  void* frame = nullptr;
  static_cast<void>(backtrace(&frame, 1));  // loads its library now, and not in the handler
  give_handler_a_stack();
  begin_host_threads_with(give_handler_a_stack);
  struct sigaction action{};
  action.sa_handler = announce;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM}) sigaction(signal, &action, nullptr);
}

// Moves the pipes of the messages to descriptors of their own. After that, output to standard output goes to standard
// error.
bool move_pipes(int& requests) {
  requests = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const bool moved = requests >= 0 && answers >= 0 && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
                     dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
  if (nothing >= 0) close(nothing);
  return moved;
}

bool send(const std::string& body) {
  return write_all(answers, frame(body));
}

RunResult not_run(std::string reason) {
  RunResult result;
  result.observation.harness_error = std::move(reason);
  return result;
}

// An executor for each strategy, patcher and layer, made when first asked for.
class Executors {
 public:
  explicit Executors(Platform& platform) : platform_(platform) {}
  hip::Result<Executor*> of(const Request& request) {
    One& one = executors_[{request.strategy, request.patcher, request.layer}];
    if (one.executor) return one.executor.get();
    LoadedLibrary library{graph_patcher_factory(), {}};
    if (!request.patcher.empty()) {
      hip::Result<LoadedLibrary> loaded = load_library(request.patcher);
      if (!loaded) return loaded.error();
      library = std::move(loaded).value();
    }
    Platform* platform = &platform_;
    if (!request.layer.empty()) {
      const fuzz::RuntimeFault* fault = fuzz::find_runtime_fault(request.layer);
      if (fault == nullptr) return hip::Error{1, fmt::format("there is no runtime fault '{}'", request.layer)};
      one.layered = std::make_unique<LayeredPlatform>(platform_, fault->make());
      platform = one.layered.get();
    }
    one.executor = library.strategy ? std::make_unique<Executor>(*platform, library.strategy())
                                    : std::make_unique<Executor>(*platform, request.strategy, library.patchers);
    one.executor->watch(&current_step);
    return one.executor.get();
  }

 private:
  struct One {
    std::unique_ptr<Platform> layered;
    std::unique_ptr<Executor> executor;
  };
  Platform& platform_;
  std::map<std::tuple<StrategyKind, std::string, std::string>, One> executors_;
};

RunResult serve(Executors& executors, const std::string& body) {
  const hip::Result<Request> request = decode_request(body);
  if (!request) return not_run(request.error().message);
  for (const auto& [id, elf] : request.value().code_objects) {
    const hip::Status read = read_code_object(id, elf);
    if (!read) return not_run(fmt::format("the code object {} cannot be read: {}", id, read.error().message));
  }
  const std::variant<Program, ParseError> parsed = parse_program(request.value().program);
  const Program* program = std::get_if<Program>(&parsed);
  if (program == nullptr) return not_run("the program cannot be read: " + std::get<ParseError>(parsed).message);
  if (const std::optional<Invalid> invalid = validate(*program)) {
    return not_run(fmt::format("the program is not valid at line {}: {}", invalid->line, invalid->reason));
  }
  current_step.store(0, std::memory_order_relaxed);
  const hip::Result<Executor*> executor = executors.of(request.value());
  if (!executor) return not_run(executor.error().message);
  return executor.value()->run(*program, request.value().options, request.value().script);
}

int serve_all(Platform& platform, int requests) {
  Executors executors(platform);
  FrameReader reader;
  std::string body;
  char buffer[1 << 16];
  while (true) {
    const FrameReader::State state = reader.next(body);
    if (state == FrameReader::State::kGarbage) {
      fmt::print(stderr, "hgcheck-subject: standard input holds no request but '{}'\n", body);
      return kUsage;
    }
    if (state == FrameReader::State::kFrame) {
      if (!send(encode_result(serve(executors, body)))) return 0;  // the reader is gone
      continue;
    }
    const ssize_t n = read(requests, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    reader.append(buffer, static_cast<std::size_t>(n));
  }
}

// A variable of the environment: whether the software gfx942 is stepped or has threads of its own. Under HIP 6.4 it has
// threads unless the variable says otherwise: that runtime's heap breaks in some programs where each thread that yields
// makes a step (docs/findings.md, "Open").
constexpr const char* kMachine = "HGCHECK_MACHINE";
constexpr std::string_view kStepped = "stepped", kThreads = "threads";

// Steps the software gfx942, where the runtime runs on it.
hip::sync::Atomic<int (*)()> step_of_machine{nullptr};

hip::Status set_variables(const std::vector<std::string>& variables) {
  for (const std::string& each : variables) {
    std::string error;
    const auto variable = parse_variable(each, &error);
    if (!variable) return hip::Error{1, "--environment: " + error};
    if (setenv(variable->first.c_str(), variable->second.c_str(), 1) != 0) {
      return hip::Error{1, fmt::format("--environment: {} cannot be set: {}", each, std::strerror(errno))};
    }
  }
  return {};
}

std::ptrdiff_t threads_of_this_process() {
  using std::filesystem::directory_iterator;
  return std::distance(directory_iterator("/proc/self/task"), directory_iterator());
}

hip::Result<std::unique_ptr<LibraryPlatform>> opened(const std::string& library, Id devices,
                                                     const std::vector<std::string>& variables) {
  if (const hip::Status status = set_variables(variables); !status) return status.error();
  const char* set = std::getenv(kMachine);
  const std::string_view machine = set != nullptr ? set : HIP_VERSION_MAJOR < 7 ? kThreads : kStepped;
  if (machine != kStepped && machine != kThreads)
    return hip::Error{1, fmt::format("{}: '{}' is neither '{}' nor '{}'", kMachine, machine, kStepped, kThreads)};
  hip::Result<std::unique_ptr<LibraryPlatform>> platform = LibraryPlatform::open(library, devices, machine == kStepped);
  if (platform) step_of_machine.store(platform.value()->stepping());
  return platform;
}

}  // namespace

// AMD's runtime waits for its commands in a loop that yields. The machine that it waits for is stepped by its threads.
extern "C" __attribute__((visibility("default"))) int sched_yield() noexcept {
  const auto step = step_of_machine.load();
  if (step == nullptr || step() == 0) syscall(SYS_sched_yield);
  return 0;
}

int main(int argc, char** argv) {
  std::string library = "libamdhip64.so";
  CLI::App app(fmt::format("Runs programs of hgcheck on a HIP runtime; built for HIP {}. Started by hgcheck "
                           "(--subject rocm, rocm-soft, cmd=...), which speaks to it over a pipe.",
                           HGCHECK_RELEASE),
               "hgcheck-subject");
  app.add_option("--library", library, "the runtime: a path or a soname")->capture_default_str();
  Id devices = 1;
  app.add_option("--devices", devices, "how many devices the software gfx942 has, where the runtime runs on it")
      ->capture_default_str()
      ->check(CLI::Range(Id{1}, kMaxDevices));
  std::vector<std::string> variables;
  app.add_option("--environment", variables, "NAME=VALUE, set before the runtime is loaded")->take_all();
  int fork_server = -1;
  app.add_option(kForkServerOption, fork_server, "the descriptor of a socket: fork a subject whenever it asks for one");
  CLI11_PARSE(app, argc, argv);
  hip::Result<std::unique_ptr<LibraryPlatform>> platform = hip::Error{};
  if (fork_server >= 0) {
    platform = opened(library, devices, variables);
    const bool rests = platform.ok() && platform.value()->rest() && threads_of_this_process() == 1;
    if (!rests) {
      refuse_to_fork(fork_server, platform ? "the runtime keeps a thread or memory" : platform.error().message);
      _exit(kUsage);
    }
    if (!serve_forks(fork_server)) _exit(0);
    platform.value()->wake();
  }
  if (isatty(STDIN_FILENO) != 0) {
    fmt::print(stderr, "hgcheck-subject: this is started by hgcheck, as in: hgcheck campaign --subject 'cmd={}'\n",
               argv[0]);
    return kUsage;
  }
  int requests = -1;
  if (!move_pipes(requests)) {
    fmt::print(stderr, "hgcheck-subject: standard input or output is closed\n");
    return kUsage;
  }
  announce_deaths();
  if (fork_server < 0) platform = opened(library, devices, variables);
  if (!platform) {
    static_cast<void>(send(encode_sorry(platform.error().message)));
    return kUsage;
  }
  Hello hello;
  hello.release = HGCHECK_RELEASE;
  hello.headers = HIP_VERSION;
  hello.library = library;
  hello.schedulable = platform.value()->schedulable();
  hello.devices = platform.value()->devices();
  const hip::Result<int> version = hip::version_of_release(platform.value()->api());
  if (version) hello.runtime = version.value();
  if (!send(encode_hello(hello))) return 0;
  const int status = serve_all(*platform.value(), requests);
  // After such programs the runtime may not survive its own destructors, so they do not run.
  _exit(status);
}
