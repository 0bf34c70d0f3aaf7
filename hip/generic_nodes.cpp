#include "hip/generic_nodes.h"

#include <cassert>
#include <memory>
#include <string>
#include <utility>

#include "hip/captured_graph.h"
#include "hip/kernel_parameters.h"
#include "hip/memory_parameters.h"
#include "hip/semaphore_nodes.h"

namespace hip {

static Error failed(const char* function, hipError_t status) {
  return Error{status, std::string(function) + ": " + status_name(status)};
}

#if HIP_VERSION >= 60000000

namespace {

// The union, filled from a record that it points into; it is used for one call only.
struct Generic {
  hipGraphNodeParams params{};
  std::unique_ptr<KernelParameters> kernel;
  std::unique_ptr<MemoryParameters> memory;
  std::unique_ptr<SemaphoreParameters<hipExternalSemaphoreSignalNodeParams>> signals;
  std::unique_ptr<SemaphoreParameters<hipExternalSemaphoreWaitNodeParams>> waits;
  hipGraph_t child = nullptr;  // recorded for the call
  Kept kept;                   // of the nodes of `child`
};

Result<Generic> generic_of(const Api& api, NodeRecord& record, std::span<const DeviceAddress> addresses) {
  Generic generic;
  hipGraphNodeParams& params = generic.params;
  if (auto* kernel = std::get_if<KernelRecord>(&record)) {
    generic.kernel = std::make_unique<KernelParameters>(*kernel, kernel->style);
    params.type = hipGraphNodeTypeKernel;
    params.kernel = *generic.kernel->get();
  } else if (const auto* copy = std::get_if<CopyRecord>(&record)) {
    params.type = hipGraphNodeTypeMemcpy;
    params.memcpy.copyParams = copy->params;
  } else if (const auto* memset = std::get_if<MemsetRecord>(&record)) {
    params.type = hipGraphNodeTypeMemset;
    params.memset = memset->params;
  } else if (const auto* host = std::get_if<HostRecord>(&record)) {
    params.type = hipGraphNodeTypeHost;
    params.host = host->params;
  } else if (const auto* child = std::get_if<ChildRecord>(&record)) {
    Result<RecordedGraph> inner = record_graph(api, *child->graph, addresses);
    if (!inner) return inner.error();
    generic.child = inner.value().graph;
    generic.kept = std::move(inner.value().kept);
    params.type = hipGraphNodeTypeGraph;
    params.graph.graph = generic.child;
  } else if (const auto* written = std::get_if<EventSignalRecord>(&record)) {
    params.type = hipGraphNodeTypeEventRecord;
    params.eventRecord.event = written->event;
  } else if (const auto* awaited = std::get_if<EventWaitRecord>(&record)) {
    params.type = hipGraphNodeTypeWaitEvent;
    params.eventWait.event = awaited->event;
  } else if (const auto* allocated = std::get_if<MemoryAllocRecord>(&record)) {
    generic.memory = std::make_unique<MemoryParameters>(*allocated);
    params.type = hipGraphNodeTypeMemAlloc;
    params.alloc = *generic.memory->get();
  } else if (const auto* freed = std::get_if<MemoryFreeRecord>(&record)) {
    params.type = hipGraphNodeTypeMemFree;
    params.free.dptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(addresses[freed->buffer]));
  } else if (const auto* signalled = std::get_if<SemaphoreSignalRecord>(&record)) {
    generic.signals = std::make_unique<SemaphoreParameters<hipExternalSemaphoreSignalNodeParams>>(*signalled);
    params.type = hipGraphNodeTypeExtSemaphoreSignal;
    params.extSemSignal = *generic.signals->get();
  } else if (const auto* awaited_semaphores = std::get_if<SemaphoreWaitRecord>(&record)) {
    generic.waits = std::make_unique<SemaphoreParameters<hipExternalSemaphoreWaitNodeParams>>(*awaited_semaphores);
    params.type = hipGraphNodeTypeExtSemaphoreWait;
    params.extSemWait = *generic.waits->get();
  } else {
    assert(std::holds_alternative<EmptyRecord>(record));
    params.type = hipGraphNodeTypeEmpty;
  }
  return generic;
}

// Destroys the child graph that was recorded for the call, and returns the result of the call, which was `status`.
Status finish(const Api& api, const Generic& generic, const char* function, hipError_t status) {
  const Status dropped = generic.child == nullptr ? Status() : destroy_graph(api, generic.child);
  if (status != hipSuccess) return failed(function, status);
  if (!dropped) return Error{dropped.error().code, "a child graph that was cloned: " + dropped.error().message};
  return {};
}

}  // namespace

Result<hipGraphNode_t> add_generic_node(const Api& api, hipGraph_t graph, NodeRecord& record,
                                        std::span<const hipGraphNode_t> dependencies,
                                        std::span<const DeviceAddress> addresses, NodeExtras& extras) {
  if (api.hipGraphAddNode == nullptr) return failed("hipGraphAddNode", hipErrorNotSupported);
  Result<Generic> generic = generic_of(api, record, addresses);
  if (!generic) return generic.error();
  hipGraphNode_t node = nullptr;
  const hipError_t status =
      api.hipGraphAddNode(&node, graph, dependencies.data(), dependencies.size(), &generic.value().params);
  if (Status done = finish(api, generic.value(), "hipGraphAddNode", status); !done) return done.error();
  extras.kept.take(std::move(generic.value().kept));
  if (generic.value().memory != nullptr) {
    extras.allocated = reinterpret_cast<DeviceAddress>(generic.value().params.alloc.dptr);
  }
  return node;
}

Status set_generic_node(const Api& api, hipGraphExec_t exec, hipGraphNode_t node, NodeRecord& record,
                        std::span<const DeviceAddress> addresses) {
  const char* function = exec != nullptr ? "hipGraphExecNodeSetParams" : "hipGraphNodeSetParams";
  const bool there = exec != nullptr ? api.hipGraphExecNodeSetParams != nullptr : api.hipGraphNodeSetParams != nullptr;
  if (!there) return failed(function, hipErrorNotSupported);
  Result<Generic> generic = generic_of(api, record, addresses);
  if (!generic) return generic.error();
  hipGraphNodeParams* params = &generic.value().params;
  if (!generic.value().kept.empty()) {
    return finish(api, generic.value(), "a child whose nodes keep memory: record the graph again; setting it",
                  hipErrorNotSupported);
  }
  const hipError_t status =
      exec != nullptr ? api.hipGraphExecNodeSetParams(exec, node, params) : api.hipGraphNodeSetParams(node, params);
  return finish(api, generic.value(), function, status);
}

#else  // these headers have no such functions

Result<hipGraphNode_t> add_generic_node(const Api&, hipGraph_t, NodeRecord&, std::span<const hipGraphNode_t>,
                                        std::span<const DeviceAddress>, NodeExtras&) {
  return failed("hipGraphAddNode", hipErrorNotSupported);
}

Status set_generic_node(const Api&, hipGraphExec_t, hipGraphNode_t, NodeRecord&, std::span<const DeviceAddress>) {
  return failed("hipGraphNodeSetParams", hipErrorNotSupported);
}

#endif

}  // namespace hip
