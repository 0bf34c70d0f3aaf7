// verify::NodeRecords: makes the records of a program's nodes during a run.
//
// A record is made from the run's state: kernels and events by their handles, buffers at their current addresses, child
// graphs as they are now. A host function gets a call object that counts its runs; the object lives as long as the run.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "hip/recording.h"
#include "hip/sync/sync.h"
#include "verify/execute/code_objects.h"
#include "verify/execute/objects.h"
#include "verify/program/program.h"

namespace verify {

struct Run;

class NodeRecords {
 public:
  explicit NodeRecords(Run& run) : run_(run) {}
  NodeRecords(const NodeRecords&) = delete;
  NodeRecords& operator=(const NodeRecords&) = delete;

  // Loads the code objects that the program's kernels are in. An error leaves none loaded.
  hip::Status load_code_objects(const Program& program);
  // Unloads the modules of the program, too.
  void unload_code_objects();

  hip::Status load_module(Id module);
  hip::Status unload_module(Id module);
  [[nodiscard]] const LoadedCodeObjects& code_objects() const { return code_objects_; }
  // Null: the module is not there.
  [[nodiscard]] hipModule_t module(Id id) const;

  // Imports the semaphores that a program names, before its first step: this waits for the null stream, and no capture
  // may see it. Returns the function that the runtime lacks or refuses, or null.
  [[nodiscard]] const char* import_semaphores(const Program& program);

  // Leaves the node's dependencies empty.
  [[nodiscard]] hip::RecordedNode make(const NodeParams& params);
  // How often the host function of a record has run.
  [[nodiscard]] static std::uint64_t runs_of(const hip::HostRecord& host);

 private:
  // The object that the user data of a host node points at.
  struct HostCall {
    NodeRecords& records;
    HostParams params;
    std::uint64_t runs = 0;
  };
  hipFunction_t function(const KernelParams& kernel);
  [[nodiscard]] hipFunction_t symbol_of(const KernelSpec& spec);
  [[nodiscard]] hipFunction_t function_of_module(const std::string& name, Id module) const;
  [[nodiscard]] hipHostNodeParams host_call(const HostParams& params);
  [[nodiscard]] std::shared_ptr<const hip::Recording> nested(const ChildParams& child);
  void host_function(HostCall& call);

  Run& run_;
  // By the kernel's index, its device, and the module that it is of.
  std::map<std::tuple<std::size_t, Id, std::optional<Id>>, hipFunction_t> functions_;
  std::map<Id, hipModule_t> modules_;
  LoadedCodeObjects code_objects_;
  std::deque<HostCall> host_calls_;
  hip::sync::Mutex host_functions_;  // a runtime may run several at the same time
};

// Notes in the graph's table the addresses of the buffers that its node names. The graph has these buffers at their
// current addresses (State makes sure of it).
void note_addresses(GraphObject& graph, const hip::RecordedNode& node, const hip::AddressTable& current);

}  // namespace verify
