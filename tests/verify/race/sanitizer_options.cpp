// The races that are in the explorer's tests on purpose: ThreadSanitizer must not report them. Every other race ends
// the test with a report. Empty in a build without ThreadSanitizer.
//
// Evidence, one a line: the test that fails when the race is not there.
#include "verify/race/sanitizers.h"

#ifdef HGCHECK_RACE_TSAN
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return
      // Litmus.MessagePassing... and Litmus.ALockOrdersPlainDataAndTwoLocksDoNot expect the races of these programs.
      "race:litmus_test.cpp\n"
      // Exhaustive.TheReductionLosesNoOutcomeOfRandomPrograms: random programs, of which many race; races are counted.
      "race:exhaustive_test.cpp\n"
      // Scenarios.EachFaultShowsAndBreaksItsProperty: F37 frees memory that another launch still uses.
      "race:DeferringLauncher\n";
}
#endif
