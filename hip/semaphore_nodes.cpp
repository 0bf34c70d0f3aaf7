#include "hip/semaphore_nodes.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "hip/errors.h"

namespace hip {
namespace {

using SignalParameters = SemaphoreParameters<hipExternalSemaphoreSignalNodeParams>;
using WaitParameters = SemaphoreParameters<hipExternalSemaphoreWaitNodeParams>;

// Calls an optional function.
template <class Function, class... Arguments>
hipError_t called_if_there(Function function, Arguments... arguments) {
  return function == nullptr ? hipErrorNotSupported : function(arguments...);
}

template <class Node>
Result<SemaphoreRecord> read(const Node& node, const char* getter) {
  SemaphoreRecord record;
  const bool lists = node.extSemArray != nullptr && node.paramsArray != nullptr;
  if (node.numExtSems != 0 && !lists) return call_error(hipErrorInvalidValue, getter);
  for (unsigned i = 0; i < node.numExtSems; ++i) {
    record.semaphores.push_back(node.extSemArray[i]);
    record.values.push_back(node.paramsArray[i].params.fence.value);
  }
  return record;
}

// A descriptor that a runtime may take for a semaphore's.
Result<int> new_descriptor() {
  const int descriptor = eventfd(0, EFD_CLOEXEC);
  if (descriptor < 0) return Error{hipErrorOperatingSystem, std::string("eventfd: ") + std::strerror(errno)};
  return descriptor;
}

Result<hipExternalSemaphore_t> import_only(const Api& api) {
  const Result<int> descriptor = new_descriptor();
  if (!descriptor) return descriptor.error();
  hipExternalSemaphoreHandleDesc handle{};
  handle.type = hipExternalSemaphoreHandleTypeTimelineSemaphoreFd;
  handle.handle.fd = descriptor.value();
  hipExternalSemaphore_t semaphore = nullptr;
  const hipError_t status = called_if_there(api.hipImportExternalSemaphore, &semaphore, &handle);
  if (status == hipSuccess) return semaphore;  // which owns the descriptor now
  close(descriptor.value());
  return call_error(status, "hipImportExternalSemaphore");
}

}  // namespace

Result<hipGraphNode_t> add_semaphore_node(const Api& api, hipGraph_t graph, const SemaphoreSignalRecord& record,
                                          std::span<const hipGraphNode_t> dependencies) {
  hipGraphNode_t node = nullptr;
  const hipError_t status = called_if_there(api.hipGraphAddExternalSemaphoresSignalNode, &node, graph,
                                            dependencies.data(), dependencies.size(), SignalParameters(record).get());
  if (status != hipSuccess) return call_error(status, "hipGraphAddExternalSemaphoresSignalNode");
  return node;
}

Result<hipGraphNode_t> add_semaphore_node(const Api& api, hipGraph_t graph, const SemaphoreWaitRecord& record,
                                          std::span<const hipGraphNode_t> dependencies) {
  hipGraphNode_t node = nullptr;
  const hipError_t status = called_if_there(api.hipGraphAddExternalSemaphoresWaitNode, &node, graph,
                                            dependencies.data(), dependencies.size(), WaitParameters(record).get());
  if (status != hipSuccess) return call_error(status, "hipGraphAddExternalSemaphoresWaitNode");
  return node;
}

Status set_semaphore_node(const Api& api, hipGraphExec_t exec, hipGraphNode_t node,
                          const SemaphoreSignalRecord& record) {
  const SignalParameters params(record);
  if (exec == nullptr) {
    return called(called_if_there(api.hipGraphExternalSemaphoresSignalNodeSetParams, node, params.get()),
                  "hipGraphExternalSemaphoresSignalNodeSetParams");
  }
  return called(called_if_there(api.hipGraphExecExternalSemaphoresSignalNodeSetParams, exec, node, params.get()),
                "hipGraphExecExternalSemaphoresSignalNodeSetParams");
}

Status set_semaphore_node(const Api& api, hipGraphExec_t exec, hipGraphNode_t node, const SemaphoreWaitRecord& record) {
  const WaitParameters params(record);
  if (exec == nullptr) {
    return called(called_if_there(api.hipGraphExternalSemaphoresWaitNodeSetParams, node, params.get()),
                  "hipGraphExternalSemaphoresWaitNodeSetParams");
  }
  return called(called_if_there(api.hipGraphExecExternalSemaphoresWaitNodeSetParams, exec, node, params.get()),
                "hipGraphExecExternalSemaphoresWaitNodeSetParams");
}

Result<SemaphoreRecord> semaphores_of(const Api& api, hipGraphNode_t node, bool waits) {
  hipExternalSemaphoreSignalNodeParams signalled{};
  hipExternalSemaphoreWaitNodeParams awaited{};
  const char* const getter =
      waits ? "hipGraphExternalSemaphoresWaitNodeGetParams" : "hipGraphExternalSemaphoresSignalNodeGetParams";
  const hipError_t status = waits
                                ? called_if_there(api.hipGraphExternalSemaphoresWaitNodeGetParams, node, &awaited)
                                : called_if_there(api.hipGraphExternalSemaphoresSignalNodeGetParams, node, &signalled);
  if (status != hipSuccess) return call_error(status, getter);
  return waits ? read(awaited, getter) : read(signalled, getter);
}

Result<hipExternalSemaphore_t> import_semaphore(const Api& api, std::uint64_t start) {
  Result<hipExternalSemaphore_t> semaphore = import_only(api);
  if (!semaphore) return semaphore;
  const SignalParameters params({{semaphore.value()}, {start}});
  const hipExternalSemaphoreSignalNodeParams& signal = *params.get();
  hipError_t status = called_if_there(api.hipSignalExternalSemaphoresAsync, signal.extSemArray, signal.paramsArray,
                                      signal.numExtSems, hipStream_t{nullptr});
  if (status == hipSuccess) status = api.hipStreamSynchronize(nullptr);
  if (status == hipSuccess) return semaphore;
  static_cast<void>(called_if_there(api.hipDestroyExternalSemaphore, semaphore.value()));  // the failure is told
  return call_error(status, "hipSignalExternalSemaphoresAsync");
}

const char* missing_semaphore_function(const Api& api) {
#define MISSING(name) \
  if (api.name == nullptr) return #name
  MISSING(hipGraphAddExternalSemaphoresSignalNode);
  MISSING(hipGraphAddExternalSemaphoresWaitNode);
  MISSING(hipGraphExternalSemaphoresSignalNodeGetParams);
  MISSING(hipGraphExternalSemaphoresWaitNodeGetParams);
  MISSING(hipGraphExternalSemaphoresSignalNodeSetParams);
  MISSING(hipGraphExternalSemaphoresWaitNodeSetParams);
  MISSING(hipGraphExecExternalSemaphoresSignalNodeSetParams);
  MISSING(hipGraphExecExternalSemaphoresWaitNodeSetParams);
  MISSING(hipSignalExternalSemaphoresAsync);
  MISSING(hipDestroyExternalSemaphore);
  MISSING(hipImportExternalSemaphore);
#undef MISSING
  return nullptr;
}

}  // namespace hip
