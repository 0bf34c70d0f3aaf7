// verify::Refusal: looks at a run's objects before and after a command that HIP refuses (P4): a call that fails changes
// nothing that can be observed.
//
// Looked at are all graphs, executable graphs and streams (verify/errors/snapshot.h), where the model or a documented
// rule says beforehand that the command is going to be refused. Not looked at: blocks of threads, whose other threads
// change the objects meanwhile; what the rules of capture let a refused command change; the null stream, because a
// question about it would invalidate captures.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "verify/errors/snapshot.h"
#include "verify/run/run.h"

namespace verify {

class Refusal {
 public:
  Refusal(Run& run, const Command& command);
  // To be called when the command has ended and the rules of capture know it.
  void check(const Command& command, const StepStatus& status);

 private:
  using Capture = std::pair<std::uint64_t, bool>;  // its number, and whether it is valid; 0: none
  struct Look {
    std::map<std::string, Snapshot> objects;
    std::map<Id, std::pair<Capture, Snapshot>> streams;
  };
  [[nodiscard]] bool expected(const Command& command) const;
  [[nodiscard]] Look look() const;
  [[nodiscard]] static std::string difference(const Look& before, const Look& after);

  Run& run_;
  std::optional<Look> before_;
};

}  // namespace verify
