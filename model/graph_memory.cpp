// Memory allocation and free nodes.
//
// An allocation node has its address from the moment it is added. There is memory at the address from the execution of
// the node until the memory is freed: by a free node of the same or another graph, by hipFree or by hipFreeAsync. Nodes
// that are added before that may use the address. The order of the calls decides whether a launch is allowed. A launch
// that allocates memory which is not freed yet is kInvalidValue, unless the executable graph frees it itself
// (auto_free). Freeing memory that is not allocated is kInvalidValue, too.
//
// Memory that is not freed outlives the graph and the executable graph that allocated it.
//
// Sources: CUDA's programming guide, "Graph Memory Nodes", and its documentation of cudaGraphAddMemAllocNode and
// cudaGraphAddMemFreeNode, where HIP's header says nothing; catch/unit/graph: hipGraphAddMemAllocNode.cc,
// hipGraphAddMemFreeNode.cc, hipDevice*GraphMem*.cc; clr's GraphExec::Run for launching again.
//
// Both kinds of nodes count as writing the whole range, so every operation that uses the range has to be ordered with
// them. Not modelled: two graphs that share physical memory, and memory in reserve (freed memory goes back at once).
#include <map>

#include "model/runtime.h"

namespace model {
static Reservation& range_of(const NodeParams& params) {
  const auto* allocate = std::get_if<AllocateParams>(&params);
  return allocate != nullptr ? *allocate->range : *std::get<FreeParams>(params).range;
}

// Checks the allocations and frees of a launch in the order in which they would run; changes nothing.
Status Runtime::check_promises(const GraphExec& exec) const {
  const Plan& plan = *exec.plan();
  std::map<const Reservation*, bool> there;
  for (const StepIndex step : plan.structure->memory_steps) {
    const NodeParams& params = plan.steps[step].params;
    const Reservation& range = range_of(params);
    const bool allocates = type_of(params) == NodeType::kAllocate;
    const auto [found, fresh] = there.emplace(&range, range.promised && !(allocates && exec.auto_free()));
    if (found->second == allocates) return Status::kInvalidValue;
    found->second = allocates;
  }
  return Status::kSuccess;
}

Status Runtime::free_promised(const GraphExec& exec, Stream& stream) {
  if (!exec.auto_free()) return Status::kSuccess;
  const std::shared_ptr<const Plan> plan = exec.plan();
  for (const StepIndex step : plan->structure->memory_steps) {
    if (type_of(plan->steps[step].params) != NodeType::kAllocate) continue;
    Reservation& range = range_of(plan->steps[step].params);
    if (!range.promised) continue;
    if (const Status freed = free_async(range.base(), stream); freed != Status::kSuccess) return freed;
  }
  return Status::kSuccess;
}

void Runtime::make_promises(const Plan& plan) {
  for (const StepIndex step : plan.structure->memory_steps) {
    Reservation& range = range_of(plan.steps[step].params);
    range.promised = type_of(plan.steps[step].params) == NodeType::kAllocate;
    if (range.promised) {
      graph_memory_[range.base()] = range.shared_from_this();
    } else {
      graph_memory_.erase(range.base());
    }
  }
}

// hipFree of memory that a launch allocates; the launch may not have run yet.
Status Runtime::free_reserved(Reservation& range, Address base) {
  if (range.base() != base || !range.promised) return Status::kInvalidValue;
  range.promised = false;
  const Status synchronized = synchronize_device();
  const Status released = memory_.release(base);
  forget_stream_memory(base);  // may destroy `range`
  graph_memory_.erase(base);   // likewise
  return synchronized != Status::kSuccess ? synchronized : released;
}

void Runtime::run_memory_step(const NodeParams& params, ObjectId node, const Operation& operation, Ran* ran,
                              std::size_t slot) {
  const Reservation& range = range_of(params);
  const bool allocates = type_of(params) == NodeType::kAllocate;
  if (options_.detect_races) {
    ran->logs[slot].writes.add(range.base(), range.bytes());
    ran->logs[slot].normalise();
  }
  const Status status = allocates ? memory_.map(range) : memory_.release(range.base());
  if (status == Status::kSuccess) return;
  raise_fault(status, params, node, operation, {},
              allocates ? "there is memory already, or none to be had" : "memory that is not there is freed");
}

}  // namespace model
