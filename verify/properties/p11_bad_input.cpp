// P11, bad input: every invalid argument gives its documented error and leaves state unchanged; nothing crashes, hangs
// or recurses without bound.
//
// Detectors: a `bad` command with an answer that its row does not document; a runner that gives a program a process of
// its own sees the process die or hang. Unchanged state is checked on the model, row by row (errors_test.cpp), and
// elsewhere by the later observations of the program.
#include <fmt/format.h>

#include "hip/api/api.h"
#include "verify/properties/causes.h"

namespace verify {

void detect_p11(std::size_t step, const ErrorCase& error_case, int status, Violations& found) {
  if (status == error_case.expected) return;
  found.push_back({PropertyId::kP11, step, fmt::format("{} with {}", error_case.function, error_case.name),
                   hip::status_name(error_case.expected), hip::status_name(status)});
}

}  // namespace verify
