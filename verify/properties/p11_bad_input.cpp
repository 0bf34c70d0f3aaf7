// P11, bad input: every invalid argument gives its documented error and leaves state unchanged; nothing crashes, hangs
// or recurses without bound.
//
// Detectors: a `bad` command with an answer that its row does not document; a runner that gives a program a process of
// its own sees the process die or hang. A `bad` command looks at its scene before and after the call that is refused,
// makes the call again and then a valid one, where the function has one (verify/errors/error_calls.cpp); with headers
// before 7.0 it compares the status alone. Where no documentation names the outcome of a call, each outcome of a set is
// right (verify/errors/open_scene.h). P4 looks at refusals of other commands.
#include <fmt/format.h>

#include "hip/api/api.h"
#include "verify/properties/causes.h"

namespace verify {

void detect_p11(std::size_t step, const ErrorCase& error_case, int status, const std::string& changed,
                Violations& found) {
  const std::string where = fmt::format("{} with {}", error_case.function, error_case.name);
  if (error_case.open != OpenKind::kNone) {
    if (!changed.empty())
      found.push_back({PropertyId::kP11, step, where, "refused without a change, or done in full", changed});
    return;
  }
  if (status != error_case.expected)
    found.push_back({PropertyId::kP11, step, where, hip::status_name(error_case.expected), hip::status_name(status)});
  if (!changed.empty()) found.push_back({PropertyId::kP11, step, where, "unchanged", "changed " + changed});
}

}  // namespace verify
