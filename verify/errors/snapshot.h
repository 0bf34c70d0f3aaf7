// verify::Snapshot: the state of objects as a client of HIP can ask for it: nodes, edges, parameters, enabled states,
// captures and bytes. Two snapshots of the same objects show whether a refused call changed one of them (P4, P11).
//
// Values are compared and never shown, because they are addresses and handles. A query that fails counts as its status.
//
// Not looked at: the type, the parameters and the enabled state of nodes behind the first kMostNodes; arguments of
// kernels whose sizes are not known; operations of batches; nodes that allocate, free, signal or wait for semaphores;
// parameters in executable graphs, which HIP cannot be asked for, and the nodes of their children; events; attributes
// of streams and memory pools.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hip/api/api.h"

namespace verify {

class Snapshot {
 public:
  static constexpr std::size_t kMostNodes = 128;  // of all its graphs, their children and its executable graphs

  // The sizes of the arguments of a kernel node; empty: they are not looked at.
  using ArgumentSizes = std::function<std::vector<std::size_t>(hipGraphNode_t, const hipKernelNodeParams&)>;
  explicit Snapshot(const hip::Api& api, ArgumentSizes sizes = {}) : api_(api), sizes_(std::move(sizes)) {}

  // Each looks at an object, which `name` names in difference().
  void graph(const std::string& name, hipGraph_t graph);
  // `nodes`: of the graph that it was made from.
  void exec(const std::string& name, hipGraphExec_t exec, const std::vector<hipGraphNode_t>& nodes);
  void stream(const std::string& name, hipStream_t stream);
  void memory(const std::string& name, const void* pointer, std::size_t bytes);
  // The calling thread's device and capture mode.
  void thread();
  void note(std::string where, std::string value) { facts_.push_back({std::move(where), std::move(value)}); }

  // The first place that is not as it was: "the edges of g0"; or nothing.
  [[nodiscard]] static std::string difference(const Snapshot& before, const Snapshot& after);
  // The nodes of the graph; none where the runtime reports an error.
  [[nodiscard]] static std::vector<hipGraphNode_t> nodes_of(const hip::Api& api, hipGraph_t graph);

 private:
  struct Fact {
    std::string where, value;
    bool operator==(const Fact&) const = default;
  };
  template <auto Function>
  [[nodiscard]] hipError_t ask(auto... arguments) const {
    return api_.*Function == nullptr ? hipErrorNotSupported : (api_.*Function)(arguments...);
  }
  [[nodiscard]] bool one_more_node() { return nodes_left_ != 0 && nodes_left_-- != 0; }
  [[nodiscard]] std::string parameters(hipGraphNode_t node, hipGraphNodeType type) const;
  [[nodiscard]] std::string kernel(hipGraphNode_t node) const;
  [[nodiscard]] std::string attributes(hipGraphNode_t node) const;

  const hip::Api& api_;
  ArgumentSizes sizes_;
  std::size_t nodes_left_ = kMostNodes;
  std::vector<Fact> facts_;
};

}  // namespace verify
