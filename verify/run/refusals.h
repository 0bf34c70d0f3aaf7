// verify::Refusal: looks at a run's objects before and after a command that HIP refuses (P4): a call that fails changes
// nothing that can be observed.
//
// Looked at are all graphs, executable graphs and streams (verify/errors/snapshot.h), where a rule says beforehand that
// the command is refused (a rule of capture, of an update, or that a graph with a circle has no executable graph), and
// where a call below the runtime is to be refused (`fail_below`) while no stream captures. A step is looked at once,
// before the first repetition that may be refused.
//
// Not looked at: commands that are refused for another reason, such as too little memory or a failure that the
// interposer injects, which never reaches the runtime; blocks of threads, whose other threads change the objects
// meanwhile; what the rules of capture let a refused command change; the null stream, because a question about it would
// invalidate captures; graphs that a failed capture may have destroyed, and executable graphs whose nodes are named by
// the handles of such a graph; commands of several calls (`move`, `patch`, `destroy`, nodes with `fan`), of which the
// first may succeed, when a call below them is refused.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "verify/errors/snapshot.h"
#include "verify/run/run.h"

namespace verify {

// Belongs to one step.
class Refusal {
 public:
  Refusal(Run& run, const Command& command) : run_(run), command_(command) {}
  // To be called before each repetition.
  void begin();
  // To be called behind the first attempt, if a call below the runtime was refused in it.
  void check_below(const StepStatus& first);
  // To be called when the repetition has ended and the rules of capture know it.
  void check(const StepStatus& status);

 private:
  using Capture = std::pair<std::uint64_t, bool>;  // its number, and whether it is valid; 0: none
  struct Look {
    std::map<std::string, Snapshot> objects;
    std::map<Id, std::pair<Capture, Snapshot>> streams;
  };
  [[nodiscard]] bool expected() const;
  [[nodiscard]] bool expected_below() const;
  [[nodiscard]] Look look() const;
  [[nodiscard]] static std::string difference(const Look& before, const Look& after);

  Run& run_;
  const Command& command_;
  bool looked_ = false;
  bool below_ = false;  // before_ was taken because a call below the runtime may be refused
  std::optional<Look> before_;
};

}  // namespace verify
