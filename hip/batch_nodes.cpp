#include "hip/batch_nodes.h"

#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hip/sync/sync.h"

namespace hip {

const char* batch_setter_name(bool in_exec) {
  return in_exec ? "hipGraphExecBatchMemOpNodeSetParams" : "hipGraphBatchMemOpNodeSetParams";
}

#if HIP_VERSION >= 60400000

namespace {

using Operations = std::vector<hipStreamBatchMemOpParams>;

struct ByBytes {
  bool operator()(const Operations& a, const Operations& b) const {
    if (a.size() != b.size()) return a.size() < b.size();
    return std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) < 0;
  }
};

// The arrays that runtimes were given, until the process ends. The contract in the header says why.
class GivenArrays {
 public:
  hipStreamBatchMemOpParams* keep(Operations operations) {
    const sync::LockGuard lock(mutex_);
    const Operations& kept = *arrays_.insert(std::move(operations)).first;
    return const_cast<hipStreamBatchMemOpParams*>(kept.data());  // HIP's struct takes it so, and nobody writes to it
  }

 private:
  sync::Mutex mutex_;
  std::set<Operations, ByBytes> arrays_;  // never erased from, so that pointers stay valid
};

GivenArrays& given_arrays() {
  static auto& arrays = *new GivenArrays;  // runtimes may read the arrays while the process ends
  return arrays;
}

hipStreamBatchMemOpParams operation_to_hip(const MemoryOperation& from) {
  hipStreamBatchMemOpParams to;
  std::memset(&to, 0, sizeof to);  // all bytes of the union, which ByBytes compares
  const bool wide = from.bytes == 8;
  // writeValue and waitValue begin with the same members.
  to.operation = from.waits ? (wide ? hipStreamMemOpWaitValue64 : hipStreamMemOpWaitValue32)
                            : (wide ? hipStreamMemOpWriteValue64 : hipStreamMemOpWriteValue32);
  to.writeValue.address = reinterpret_cast<hipDeviceptr_t>(static_cast<std::uintptr_t>(from.address));
  to.writeValue.value64 = from.value;
  if (from.waits) to.waitValue.flags = static_cast<unsigned>(from.comparison);
  return to;
}

MemoryOperation operation_from_hip(const hipStreamBatchMemOpParams& from) {
  MemoryOperation to;
  to.waits = from.operation == hipStreamMemOpWaitValue32 || from.operation == hipStreamMemOpWaitValue64;
  const bool wide = from.operation == hipStreamMemOpWaitValue64 || from.operation == hipStreamMemOpWriteValue64;
  const bool known = wide || to.waits || from.operation == hipStreamMemOpWriteValue32;
  to.bytes = !known ? 0 : wide ? 8 : 4;
  to.address = reinterpret_cast<std::uintptr_t>(from.writeValue.address);
  to.value = wide ? from.writeValue.value64 : from.writeValue.value;
  if (to.waits && from.waitValue.flags > 3) to.bytes = 0;
  if (to.waits) to.comparison = static_cast<MemoryOperation::Comparison>(from.waitValue.flags & 3U);
  return to;
}

hipError_t make_params(const Api& api, const BatchRecord& batch, hipBatchMemOpNodeParams* params) {
  Operations operations;
  for (const MemoryOperation& each : batch.operations) operations.push_back(operation_to_hip(each));
  *params = {};
  params->count = static_cast<unsigned>(operations.size());
  params->paramArray = given_arrays().keep(std::move(operations));
  return api.hipCtxGetCurrent(&params->ctx);
}

Error failed_batch(const char* function, hipError_t status) {
  return Error{status, std::string(function) + ": " + status_name(status)};
}

}  // namespace

Result<hipGraphNode_t> add_batch_node(const Api& api, hipGraph_t graph, const BatchRecord& batch,
                                      std::span<const hipGraphNode_t> dependencies) {
  if (const char* missing = missing_batch_function(api)) return failed_batch(missing, hipErrorNotSupported);
  hipBatchMemOpNodeParams params{};
  if (const hipError_t got = make_params(api, batch, &params); got != hipSuccess) {
    return failed_batch("hipCtxGetCurrent", got);
  }
  hipGraphNode_t node = nullptr;
  const hipError_t status =
      api.hipGraphAddBatchMemOpNode(&node, graph, dependencies.data(), dependencies.size(), &params);
  if (status != hipSuccess) return failed_batch("hipGraphAddBatchMemOpNode", status);
  return node;
}

hipError_t call_batch_setter(const Api& api, hipGraphExec_t exec, hipGraphNode_t node, const BatchRecord& batch) {
  if (missing_batch_function(api) != nullptr) return hipErrorNotSupported;
  hipBatchMemOpNodeParams params{};
  if (const hipError_t got = make_params(api, batch, &params); got != hipSuccess) return got;
  return exec != nullptr ? api.hipGraphExecBatchMemOpNodeSetParams(exec, node, &params)
                         : api.hipGraphBatchMemOpNodeSetParams(node, &params);
}

Result<BatchRecord> batch_of(const Api& api, hipGraphNode_t node) {
  if (const char* missing = missing_batch_function(api)) return failed_batch(missing, hipErrorNotSupported);
  hipBatchMemOpNodeParams params{};
  const hipError_t status = api.hipGraphBatchMemOpNodeGetParams(node, &params);
  if (status != hipSuccess) return failed_batch("hipGraphBatchMemOpNodeGetParams", status);
  if (params.count != 0 && params.paramArray == nullptr)
    return failed_batch("hipGraphBatchMemOpNodeGetParams", hipErrorInvalidValue);
  BatchRecord batch;
  for (unsigned i = 0; i < params.count; ++i) batch.operations.push_back(operation_from_hip(params.paramArray[i]));
  return batch;
}

const char* missing_batch_function(const Api& api) {
  if (api.hipCtxGetCurrent == nullptr) return "hipCtxGetCurrent";
  if (api.hipGraphAddBatchMemOpNode == nullptr) return "hipGraphAddBatchMemOpNode";
  if (api.hipGraphBatchMemOpNodeGetParams == nullptr) return "hipGraphBatchMemOpNodeGetParams";
  if (api.hipGraphBatchMemOpNodeSetParams == nullptr) return batch_setter_name(false);
  return api.hipGraphExecBatchMemOpNodeSetParams == nullptr ? batch_setter_name(true) : nullptr;
}

#else

Result<hipGraphNode_t> add_batch_node(const Api& api, hipGraph_t, const BatchRecord&, std::span<const hipGraphNode_t>) {
  return Error{hipErrorNotSupported, std::string(missing_batch_function(api)) + " needs headers of HIP 6.4 or later"};
}

hipError_t call_batch_setter(const Api&, hipGraphExec_t, hipGraphNode_t, const BatchRecord&) {
  return hipErrorNotSupported;
}

Result<BatchRecord> batch_of(const Api& api, hipGraphNode_t) {
  return Error{hipErrorNotSupported, std::string(missing_batch_function(api)) + " needs headers of HIP 6.4 or later"};
}

const char* missing_batch_function(const Api&) {
  return "hipGraphAddBatchMemOpNode";
}

#endif

}  // namespace hip
