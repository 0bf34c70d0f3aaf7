// verify::Detectors: what the executor asks of the properties while a program runs.
//
// Gathers evidence (inside a model where there is one, by counting calls everywhere), hands it to the detectors of
// verify/properties and notes in the trace what they found and which properties were exercised.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/graph.h"
#include "verify/execute/objects.h"
#include "verify/execute/observation.h"
#include "verify/execute/platform.h"
#include "verify/execute/strategy.h"
#include "verify/properties/evidence.h"

namespace verify {

class Detectors {
 public:
  Detectors(Platform& platform, Interposer& interposer, Trace& trace)
      : platform_(platform), interposer_(interposer), trace_(trace) {}

  // Counters before a patch.
  struct Calls {
    std::uint64_t all = 0, exec_setters = 0, graph_setters = 0, rerecorded = 0;
  };
  [[nodiscard]] Calls calls() const;

  // A patch reported success and no injected failure fired in it.
  void patched(std::size_t step, const ExecObject& exec, const hip::AddressTable& before,
               const hip::AddressTable& after, const std::vector<std::uint64_t>& buffer_bytes,
               const Calls& calls_before);
  void patched(std::size_t step, const GraphObject& graph, const hip::AddressTable& before,
               const hip::AddressTable& after, const std::vector<std::uint64_t>& buffer_bytes,
               const Calls& calls_before);
  // A patch was asked for; counts honest refusals.
  template <class Object>
  void refused(std::size_t, const Object& object, const std::vector<hip::Move>& moves, const PatchOutcome& outcome) {
    if (outcome.failure == hip::PatchFailure::kRecordAgain && holds_opaque(object.recording, moves))
      count(PropertyId::kA7);
  }

  void injected_failure(std::size_t step, const std::string& command, bool reported);
  void launch(const ExecObject& exec, std::uint64_t schedule_seed);
  void topology(std::size_t step, const GraphObject& graph, const TopologySeen& seen);
  void teardown_error(std::size_t step, const std::string& what);
  void leaks(std::size_t step, const std::string& leaks);

  // P2: a fingerprint of every other graph and executable graph, by name.
  struct Isolation {
    std::map<std::string, std::uint64_t> graphs, execs;
    std::uint64_t graph_setters = 0;
  };
  [[nodiscard]] Isolation isolation(const std::map<Id, GraphObject>& graphs, const std::map<Id, ExecObject>& execs,
                                    const ExecObject* changing) const;
  // A graph whose own setters were called in between was meant to change (whether it should have been is P3's matter).
  void check_isolation(std::size_t step, const Isolation& before, const Isolation& after);

  void count(PropertyId property) { ++trace_.exercised[static_cast<std::size_t>(property)]; }

 private:
  void compare_prints(std::size_t step, const std::map<std::string, std::uint64_t>& before,
                      const std::map<std::string, std::uint64_t>& after);
  static bool holds_opaque(const hip::Recording& recording, const std::vector<hip::Move>& moves);
  bool touched(const hip::RecordedNode& node, const PatchEvidence& patch, bool* opaque) const;
  void gather(const hip::Recording& recording, const std::vector<model::NodeView>& actual,
              const std::vector<model::NodeView>& definition, const std::string& name, PatchEvidence& patch) const;
  void judge(PatchEvidence& patch, const Calls& before);

  Platform& platform_;
  Interposer& interposer_;
  Trace& trace_;
};

}  // namespace verify
