#include "verify/race/crash.h"

#include <array>
#include <csignal>

namespace verify::race {
namespace {

volatile std::sig_atomic_t expected = 0;
const char* volatile text = "";
std::array<std::byte, std::size_t{64} << 10> handler_stack;

void on_crash(int signal) {
  if (expected == 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  text = signal == SIGSEGV   ? "memory that is not there is used (SIGSEGV)"
         : signal == SIGABRT ? "an assertion fails or an error has no handler (SIGABRT)"
         : signal == SIGFPE  ? "a division by zero (SIGFPE)"
                             : "memory is used in a way that it cannot be (SIGBUS or SIGILL)";
  siglongjmp(detail::crash_return(), 1);
}

}  // namespace

void catch_crashes() {
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) sigaction(signal, &action, nullptr);
}

namespace detail {

sigjmp_buf& crash_return() {
  static sigjmp_buf buffer;
  return buffer;
}
void set_crash_expected(bool is) {
  expected = is ? 1 : 0;
}
const char* crash_text() {
  return text;
}

}  // namespace detail
}  // namespace verify::race
