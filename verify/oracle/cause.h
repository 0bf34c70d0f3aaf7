// The name of a divergence: the most specific property that its first bad command breaks. Later commands work on the
// state that this command leaves, so the properties that they break are listed last. Detectors see symptoms; some
// causes are told apart by running again with one thing changed:
//   without poisoning      clean: the subject kept the caller's memory (P1)
//   without failures       clean: a failure was not handled (P4)
//   without freeing on streams  clean: memory was freed too early, or not (S1)
//   setters, not patches   clean: a patch did something else than the setters (P2)
//   in another order       clean: an edge was not honoured (P5)
//   without redundant edges  clean: how a graph was built made a difference (P9, where nothing else is known)
//   with isolation checks  the first bad command changed objects that it was not asked to change (P2)
//   graphs not patched     likewise, where the other object held the new address already
//   at fresh addresses     clean: addresses that repeat were confused (A3, where A2 was seen)
// A command that the reference refuses and the subject says it has done is a failure that was not reported (P4).
#pragma once

#include "verify/oracle/judgement.h"
#include "verify/oracle/pairs.h"

namespace verify {

// Fills in the judgement of a divergence: properties, violations and differences. `first` ran with `options`.
void name_cause(PairRunner& pairs, const Program& program, const RunOptions& options, const RunPair& first,
                Judgement& judgement);

// Whether capture has rules for the command at `step`: a death in that command breaks P7 as well as P11.
[[nodiscard]] bool step_concerns_capture(const Program& program, std::size_t step);

}  // namespace verify
