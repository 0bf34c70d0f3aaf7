// The family of commands about failures: calls that are made to fail, and calls with one invalid argument.
#pragma once

#include "verify/program/node_params.h"

namespace verify {

// The n-th call of a HIP function that the subject makes from here on fails once (P4). The baseline never sees it.
struct Fail {
  std::uint32_t nth = 1;
  std::string function;
  bool operator==(const Fail&) const = default;
};
// A call with one invalid argument, against objects of its own (verify/errors/cases.inc): what it answers is observed.
struct BadCall {
  std::string function;
  std::string error_case;
  bool operator==(const BadCall&) const = default;
};

using FailuresCommands = CommandList<Fail, BadCall>;

}  // namespace verify
