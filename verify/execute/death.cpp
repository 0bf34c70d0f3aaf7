#include "verify/execute/death.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstring>

namespace verify {

std::string Death::text() const {
  switch (kind) {
    case Kind::kSignal:
      return fmt::format("killed by signal {} ({})", number, strsignal(number));
    case Kind::kExit:
      return fmt::format("exit status {}", number);
    case Kind::kHung:
      return detail.empty() ? "hung" : "hung: " + detail;
    case Kind::kOther:
      break;
  }
  return detail;
}

Death death_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {Death::Kind::kSignal, WTERMSIG(wait_status)};
  return {Death::Kind::kExit, WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : wait_status};
}

}  // namespace verify
