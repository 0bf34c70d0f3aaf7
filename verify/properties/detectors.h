// verify::Detectors: the executor's interface to the properties while a program runs.
//
// Gathers evidence (from inside a model where there is one, and everywhere by counting calls), hands it to the
// detectors of verify/properties and notes in the observation which properties were exercised and which were broken.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/graph.h"
#include "verify/errors/error_cases.h"
#include "verify/execute/objects.h"
#include "verify/execute/observation.h"
#include "verify/execute/platform.h"
#include "verify/execute/strategy.h"
#include "verify/properties/evidence.h"

namespace verify {

class Detectors {
 public:
  Detectors(Platform& platform, Interposer& interposer, Observation& observation)
      : platform_(platform), interposer_(interposer), observation_(observation) {}

  // The counts of calls before a patch.
  struct Calls {
    std::uint64_t all = 0, exec_setters = 0, graph_setters = 0, rerecorded = 0, children = 0;
  };
  static constexpr std::size_t kMaxPrints = 256;
  [[nodiscard]] Calls calls() const;

  // To be called when a patch reported success and no injected failure fired in it.
  void patched(std::size_t step, const ExecObject& exec, const hip::AddressTable& before,
               const hip::AddressTable& after, const std::vector<std::uint64_t>& buffer_bytes,
               const Calls& calls_before);
  void patched(std::size_t step, const GraphObject& graph, const hip::AddressTable& before,
               const hip::AddressTable& after, const std::vector<std::uint64_t>& buffer_bytes,
               const Calls& calls_before);
  // To be called when a library's command buffer took a step in which no injected failure fired. Returns whether it
  // changed an executable graph in place, or launched one as it was.
  bool stepped(std::size_t step, const LibraryStep& library_step, const std::vector<std::uint64_t>& buffer_bytes,
               const Calls& calls_before);
  // To be called after each patch: counts honest refusals (A7).
  template <class Object>
  void refused(std::size_t, const Object& object, const std::vector<hip::Move>& moves, const PatchOutcome& outcome) {
    if (outcome.failure == hip::PatchFailure::kRecordAgain && holds_opaque(object.recording, moves))
      count(PropertyId::kA7);
  }

  // To be called when a command was refused and changed this state, or nothing.
  void refusal(std::size_t step, const std::string& command, const std::string& changed);
  void injected_failure(std::size_t step, const std::string& command, bool reported);
  // To be called when a call with an invalid argument answered `status` and changed this state, or nothing.
  void bad_call(std::size_t step, const ErrorCase& error_case, int status, const std::string& changed);
  void launch(const ExecObject& exec, std::uint64_t schedule_seed);
  void topology(std::size_t step, const GraphObject& graph, const TopologySeen& seen);
  void teardown_error(std::size_t step, const std::string& what);
  void leaks(std::size_t step, const std::string& leaks);

  // P2: a fingerprint of every other graph and executable graph, by name.
  struct Isolation {
    std::map<std::string, std::uint64_t> graphs, execs;
    std::uint64_t graph_setters = 0;
    bool of_a_graph = false;  // the command changes a graph
  };
  [[nodiscard]] Isolation isolation(const std::map<Id, GraphObject>& graphs, const std::map<Id, ExecObject>& execs,
                                    const ExecObject* changing, const GraphObject* changing_graph) const;
  // Graphs may change when setters of graphs were called in between (P3 checks whether they should have been called).
  void check_isolation(std::size_t step, const Isolation& before, const Isolation& after);

  // P2 within an object: the fingerprints of its nodes, by index; of the first kMaxPrints nodes only.
  template <class Handle>
  [[nodiscard]] std::vector<std::uint64_t> node_prints(Handle handle) const {
    return prints_of(platform_.white_box() ? platform_.look_into(handle, kMaxPrints) : std::nullopt);
  }
  // Checks that all other nodes are unchanged after nodes were added, or after the nodes of [first, first + fan) were
  // set. Missing prints are skipped.
  void check_node_prints(std::size_t step, const std::string& object, const std::vector<std::uint64_t>& before,
                         const std::vector<std::uint64_t>& after, const NodePlace& changed);

  // To be called when a setter reported success: the nodes have to hold the given parameters (P3). So a later patch is
  // not blamed for a node that never took the parameters.
  template <class Object, class Handle>
  void check_set(std::size_t step, const std::string& name, const Object& object, Handle handle, const NodePlace& set,
                 const std::vector<std::uint64_t>& buffer_bytes) {
    if (!platform_.white_box()) return;
    const std::vector<model::NodeView> nodes =
        platform_.look_into(handle, set.first + set.fan).value_or(std::vector<model::NodeView>());
    check_set(step, name, object.recording, nodes, object.addresses, buffer_bytes, set);
  }

  void count(PropertyId property) { ++observation_.exercised[static_cast<std::size_t>(property)]; }

 private:
  void check_set(std::size_t step, const std::string& name, const hip::Recording& recording,
                 const std::vector<model::NodeView>& nodes, const hip::AddressTable& addresses,
                 const std::vector<std::uint64_t>& buffer_bytes, const NodePlace& set);
  static std::vector<std::uint64_t> prints_of(const std::optional<std::vector<model::NodeView>>& nodes);
  static bool holds_opaque(const hip::Recording& recording, const std::vector<hip::Move>& moves);
  bool touched(const hip::RecordedNode& node, const PatchEvidence& patch, bool* opaque) const;
  void gather(const hip::Recording& recording, const std::vector<model::NodeView>& actual,
              const std::vector<model::NodeView>& definition, const std::string& name, PatchEvidence& patch,
              const std::set<hip::NodeIndex>& hidden) const;
  void judge(PatchEvidence& patch, const Calls& before);
  void judge_fields(const PatchEvidence& patch);
  bool gather_leaves(const LibraryStep& library_step, PatchEvidence& patch) const;

  Platform& platform_;
  Interposer& interposer_;
  Observation& observation_;
};

}  // namespace verify
