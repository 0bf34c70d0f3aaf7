// Nodes of external semaphores: hipGraphAddExternalSemaphoresSignalNode, ...WaitNode, their setters and getters.
//
// HIP copies the arrays of such a call (CUDA's documentation of cudaGraphAddExternalSemaphoresSignalNode), so they live
// for the call only. Not checked here: that somebody signals what a node waits for, and what a launch did, because HIP
// has no function that reads a semaphore.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "hip/recording.h"

namespace hip {

// HIP's parameters of a record: `Node` is hipExternalSemaphoreSignalNodeParams or hipExternalSemaphoreWaitNodeParams.
// They point into this object.
template <class Node>
class SemaphoreParameters {
 public:
  explicit SemaphoreParameters(const SemaphoreRecord& record) : semaphores_(record.semaphores) {
    for (const std::uint64_t value : record.values) values_.emplace_back().params.fence.value = value;
    node_ = {semaphores_.data(), values_.data(), static_cast<unsigned>(semaphores_.size())};
  }
  SemaphoreParameters(const SemaphoreParameters&) = delete;
  SemaphoreParameters& operator=(const SemaphoreParameters&) = delete;
  [[nodiscard]] const Node* get() const { return &node_; }

 private:
  std::vector<hipExternalSemaphore_t> semaphores_;
  std::vector<std::remove_const_t<std::remove_pointer_t<decltype(Node::paramsArray)>>> values_;
  Node node_{};
};

// hipErrorNotSupported where the runtime lacks the function.
[[nodiscard]] Result<hipGraphNode_t> add_semaphore_node(const Api& api, hipGraph_t graph,
                                                        const SemaphoreSignalRecord& record,
                                                        std::span<const hipGraphNode_t> dependencies);
[[nodiscard]] Result<hipGraphNode_t> add_semaphore_node(const Api& api, hipGraph_t graph,
                                                        const SemaphoreWaitRecord& record,
                                                        std::span<const hipGraphNode_t> dependencies);
// Sets a node of an executable graph, or of the graph itself when `exec` is null.
[[nodiscard]] Status set_semaphore_node(const Api& api, hipGraphExec_t exec, hipGraphNode_t node,
                                        const SemaphoreSignalRecord& record);
[[nodiscard]] Status set_semaphore_node(const Api& api, hipGraphExec_t exec, hipGraphNode_t node,
                                        const SemaphoreWaitRecord& record);
// The semaphores and values that the runtime tells of a node of a graph.
[[nodiscard]] Result<SemaphoreRecord> semaphores_of(const Api& api, hipGraphNode_t node, bool waits);

// Imports a timeline semaphore of its own for the caller, with the value `start`, and returns when it has that value.
// Whoever imports it destroys it (hipDestroyExternalSemaphore). Fails where the runtime cannot import: AMD's runtimes
// cannot on Linux, and CUDA wants a semaphore of a graphics API.
[[nodiscard]] Result<hipExternalSemaphore_t> import_semaphore(const Api& api, std::uint64_t start);
// The first function that the runtime lacks for such nodes, or null. AMD's runtimes have hipImportExternalSemaphore,
// and refuse each call of it on Linux.
[[nodiscard]] const char* missing_semaphore_function(const Api& api);

}  // namespace hip
