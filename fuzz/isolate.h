// One judgement in a process of its own: a crash, a hang or a stack overflow is a verdict on the program that made it.
#pragma once

#include "fuzz/setup.h"

namespace fuzz {

// Forks; the child judges and sends its judgement back. A child that dies or does not answer within `timeout_seconds`
// is a divergence of property P11 at the place of a process (of P1 or P4 if it does not happen without poisoning or
// without failures). The judgement's record of exercised properties does not come back.
[[nodiscard]] verify::Judgement judge_isolated(Setup& setup, const verify::Program& program,
                                               const verify::JudgeOptions& options, double timeout_seconds);

}  // namespace fuzz
