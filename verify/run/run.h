// verify::Run: the state of one run of one program. An executor makes it, the commands of the program change it, and it
// ends with the program.
//
// The code of each command is in verify/commands/<family>/run.cpp (verify/run/run_command.h). An object that an earlier
// command finally failed to make (after a sticky error, for example) does not exist: live_graph() and the like do not
// find it, and a command that names it answers missing_object().
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hip/stream.h"
#include "verify/execute/devices.h"
#include "verify/execute/objects.h"
#include "verify/execute/observation.h"
#include "verify/execute/placement.h"
#include "verify/execute/platform.h"
#include "verify/execute/runner.h"
#include "verify/execute/strategy.h"
#include "verify/properties/detectors.h"
#include "verify/run/captures.h"
#include "verify/run/graph_memory.h"
#include "verify/run/mapped_memory.h"
#include "verify/run/node_records.h"
#include "verify/run/stream_memory.h"
#include "verify/run/user_objects.h"
#include "verify/systems/systems_run.h"

namespace verify {

// The answer of a command that names an object which an earlier command failed to make.
[[nodiscard]] hip::Status missing_object();

struct Run {
  // An executor passes these to its runs; they outlive the runs.
  struct Environment {
    Platform& platform;
    Interposer& interposer;
    Strategy& strategy;
    const PatcherFactory& patchers;
    const Parts& systems;
    const RunOptions& options;
  };
  // One attempt to run a command; a command in which a failure is injected has several.
  struct Attempt {
    bool fallback_reported = false;  // a patch said that the graph has to be recorded again
    int update_result = -1;          // StepStatus::update_result
    std::string seen;                // StepStatus::seen
  };

  Run(const Environment& environment, const Program& program, const AddressScript& script);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Null: there is no such object.
  [[nodiscard]] GraphObject* live_graph(Id id);
  [[nodiscard]] ExecObject* live_exec(Id id);
  [[nodiscard]] bool has_stream(Id id) const { return id == kNullStream || streams.contains(id); }
  [[nodiscard]] hipStream_t stream(Id id) const;
  [[nodiscard]] Id device_of_stream(Id id) const;
  [[nodiscard]] hip::StreamRef stream_ref(Id id) const;

  // Calls `body` on a host thread of the program.
  hip::Status on_thread(Id on, const std::function<hip::Status()>& body);
  // Whether HIP allows to wait for the device: no stream captures, and no thread of a block may do so meanwhile.
  [[nodiscard]] bool may_wait_for_device() const { return thread == 0 && !captures.capturing(); }
  // P2: calls `operation`, which may change `exec` and `graph` (null: none), and checks that it changes no other graph
  // or executable graph.
  template <class Operation>
  hip::Status changing(const ExecObject* exec, const GraphObject* graph, const Operation& operation) {
    if (!options.isolation || thread != 0) return operation();  // other threads change their graphs meanwhile
    const Detectors::Isolation before = detectors.isolation(graphs, execs, exec, graph);
    hip::Status status = operation();
    detectors.check_isolation(step, before, detectors.isolation(graphs, execs, exec, graph));
    return status;
  }
  // Checks P12: pinned memory has the same bytes for the host and for the device.
  void check_visibility(const BytesSeen& seen);
  // Notes a function that the program needs and the runtime lacks: the verdict is Unsupported, whatever else is seen.
  hip::Status unsupported(const char* function);

  Platform& platform;
  Interposer& interposer;
  Strategy& strategy;
  const RunOptions& options;

  std::size_t step = 0;  // the running step; at the end the program's length
  Id thread = 0;         // of a block of threads, which runs the step (verify/run/threads.h)
  Attempt attempt;
  Observation observation;
  bool refusal_waits_below = false;  // a `fail_below` has refused no call yet, and the program has not synchronised
  std::vector<std::uint64_t> operations;                // Platform::operations() behind each step
  std::map<std::size_t, hip::AddressTable> buffers_at;  // where the buffers are behind each step that changed it

  BufferMemory memory;
  StrategyContext context;
  Detectors detectors;
  const Parts& system_parts;
  std::optional<SystemsRun> systems;  // made by the first action

  std::map<Id, GraphObject> graphs;
  std::map<Id, ExecObject> execs;
  std::map<Id, hipStream_t> streams;
  std::map<Id, Id> stream_devices;
  std::map<Id, hipEvent_t> events;
  std::map<Id, hipExternalSemaphore_t> semaphores;  // imported before the first step
  std::set<std::pair<Id, Id>> peers;                // device and peer: access that is to be disabled again

  GraphMemory graph_memory;
  StreamMemory stream_memory;
  MappedMemory mapped_memory;
  UserObjects user_objects;
  NodeRecords records;
  Captures captures;
};

}  // namespace verify
