// verify::GraphOps: what the executor does to graphs and executable graphs as wholes: clones, dependencies, removed and
// disabled nodes, attributes of kernels, uploads.
//
// Every operation either succeeds or reports an error and can be tried again; bookkeeping (recordings, places, handles)
// follows what the runtime has done. What was asked is answered in symbolic words.
#pragma once

#include <map>
#include <string>

#include "hip/result/result.h"
#include "verify/execute/objects.h"
#include "verify/execute/strategy.h"
#include "verify/program/program.h"

namespace verify {

class GraphOps {
 public:
  GraphOps(Machine& machine, Strategy& strategy, std::map<Id, GraphObject>& graphs, std::map<Id, ExecObject>& execs)
      : machine_(machine), strategy_(strategy), graphs_(graphs), execs_(execs) {}

  [[nodiscard]] hip::Status perform(const CloneGraph& c);
  [[nodiscard]] hip::Status perform(const FindInClone& c, std::string* seen);
  [[nodiscard]] hip::Status perform(const ChangeEdges& c);
  [[nodiscard]] hip::Status perform(const RemoveNode& c);
  [[nodiscard]] hip::Status perform(const EnableNode& c, std::string* seen);
  [[nodiscard]] hip::Status perform(const SetAttributes& c, std::string* seen);
  [[nodiscard]] hip::Status perform(const CopyAttributes& c, std::string* seen);

 private:
  [[nodiscard]] GraphObject* graph(Id id);
  void forget_node(Id graph, Id node);
  [[nodiscard]] hip::Status note_attributes(GraphObject& graph, const NodePlace& place,
                                            const hip::KernelAttributes& attributes, const hip::KernelAttributes& asked,
                                            std::string* seen) const;

  Machine& machine_;
  Strategy& strategy_;
  std::map<Id, GraphObject>& graphs_;
  std::map<Id, ExecObject>& execs_;
};

// "cooperative 0 priority -1", of what is given.
[[nodiscard]] std::string describe(const hip::KernelAttributes& attributes);

}  // namespace verify
