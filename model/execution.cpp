// Running operations: their effects on memory, faults and data races.
#include <algorithm>
#include <cassert>

#include "model/runtime.h"

namespace model {

// Kernels cannot reach pageable memory of the host; copies and memsets can (HIP: unified memory without XNACK).
void Runtime::run_step(const NodeParams& params, ObjectId node, const Operation& operation, Ran* ran,
                       std::size_t slot) {
  const NodeType type = type_of(params);
  AccessLog* log = options_.detect_races ? &ran->logs[slot] : nullptr;
  MemoryAccess memory(memory_, type == NodeType::kKernel ? Accessor::kKernel : Accessor::kCopy, log,
                      device_of(params, operation));
  std::string why;
  in_host_function_ = type == NodeType::kHost;
  const Status status = apply(params, memory, &why);
  in_host_function_ = false;
  if (status != Status::kSuccess) raise_fault(status, params, node, operation, memory.bad(), why);
  if (log == nullptr) return;
  ran->by.resize(ran->logs.size());
  ran->by[slot] = {device_of(params, operation), type != NodeType::kKernel};
  virtual_memory_.name_by_memory(log);
  log->normalise();
}

// A kernel runs on the device that it was loaded for.
int Runtime::device_of(const NodeParams& params, const Operation& operation) const {
  const auto* kernel = std::get_if<KernelParams>(&params);
  if (kernel != nullptr && kernel->function != nullptr) return kernel->function->device;
  const Stream* stream = queues_[operation.stream].owner;
  return stream == nullptr ? 0 : stream->device();
}

static bool does_nothing(const NodeParams& params) {
  const NodeType type = type_of(params);
  return type == NodeType::kEmpty || type == NodeType::kEventRecord || type == NodeType::kEventWait;
}

void Runtime::run_graph(const Operation& operation, const Plan& plan, Ran* ran) {
  const PlanStructure& structure = *plan.structure;
  if (options_.detect_races) {
    ran->logs.resize(plan.steps.size());
    ran->nodes.resize(plan.steps.size());
    for (std::size_t i = 0; i < plan.steps.size(); ++i) ran->nodes[i] = plan.steps[i].origin;
  }
  std::vector<StepIndex> drawn;
  if (options_.schedule_seed != 0) drawn = topological_order(structure.dependencies, structure.dependents, &random_);
  for (const StepIndex index : options_.schedule_seed != 0 ? drawn : structure.stable_order) {
    const Step& step = plan.steps[index];
    objects_.visit();
    if (!step.enabled || does_nothing(step.params)) continue;
    const NodeType type = type_of(step.params);
    if (type == NodeType::kAllocate || type == NodeType::kFree) {
      run_memory_step(step.params, step.origin, operation, ran, index);
    } else {
      run_step(step.params, step.origin, operation, ran, index);
    }
    if (fault_) return;
  }
  if (options_.detect_races) check_races_in_graph(plan, *ran);
}

void Runtime::run(Operation& operation) {
  Ran ran{operation.number, operation.stream, operation.position, std::move(operation.before), {}, {}, {}};
  if (const auto* params = std::get_if<NodeParams>(&operation.work)) {
    if (params->index() == 0) return;  // a marker of an event record or wait
    ran.nodes.assign(1, 0);
    ran.logs.resize(1);
    run_step(*params, 0, operation, &ran, 0);
  } else if (const auto* launch = std::get_if<GraphLaunch>(&operation.work)) {
    ran.events = launch->events;
    run_graph(operation, *launch->plan, &ran);
  } else if (const auto* allocate = std::get_if<AllocateMemory>(&operation.work)) {
    run_allocation(operation, *allocate->range, &ran);
  } else {
    run_free(operation, std::get<FreeMemory>(operation.work).address, &ran);
    return;
  }
  if (fault_ || !options_.detect_races) return;
  check_mapping_changes(ran);
  check_races_between_streams(ran);
  ran_.push_back(std::move(ran));
}

// A free counts as a write of the memory: every operation that touches the memory has to be ordered with the free.
// Earlier accesses are removed from the logs, because the addresses may belong to another allocation afterwards.
void Runtime::run_free(const Operation& operation, Address base, Ran* ran) {
  const Allocation* found = memory_.find(base);
  if (found == nullptr || found->base != base || found->physical != 0) {
    raise_fault(Status::kInvalidValue, EmptyParams{}, 0, operation, {}, "memory that was freed before is freed");
    return;
  }
  const Address end = base + found->size;
  if (options_.detect_races) {
    ran->nodes.assign(1, 0);
    ran->logs.resize(1);
    ran->logs[0].writes.add(base, found->size);
    check_races_between_streams(*ran);
    for (Ran& earlier : ran_) {
      for (AccessLog& log : earlier.logs) log.reads.remove(base, end), log.writes.remove(base, end);
    }
  }
  const Status released = memory_.release(base);
  assert(released == Status::kSuccess);
  (void)released;
  forget_stream_memory(base);
}

void Runtime::raise_fault(Status status, const NodeParams& params, ObjectId node, const Operation& operation,
                          const std::optional<BadAccess>& bad, const std::string& why) {
  if (fault_) return;
  Fault fault;
  fault.status = status;
  fault.node = node;
  fault.type = type_of(params);
  fault.operation = operation.number;
  fault.access = bad;
  fault.text =
      node != 0 ? "node " + std::to_string(node) + ", " : "operation " + std::to_string(operation.number) + ", ";
  fault.text += name_of(fault.type);
  if (const auto* kernel = std::get_if<KernelParams>(&params))
    fault.text += " '" + kernel->function->kernel->name + "'";
  fault.text += ": " + (why.empty() && bad ? describe(*bad) : why);
  fault_ = std::move(fault);
}

void Runtime::check_races_in_graph(const Plan& plan, const Ran& ran) {
  const Reachability& reachability = plan.structure->reachability;
  if (!reachability.known()) {
    ++unchecked_launches_;
    return;
  }
  const auto before = [&](StepIndex a, StepIndex b) { return reachability.reaches(a, b); };
  if (!any_conflict(ran.logs, plan.structure->stable_order, before)) return;
  const auto conflicts =
      find_conflicts(ran.logs, [&](std::uint32_t a, std::uint32_t b) { return reachability.ordered(a, b); });
  for (const Conflict& c : conflicts) {
    report({{ran.nodes[c.a], ran.number, c.a_wrote}, {ran.nodes[c.b], ran.number, c.b_wrote}, c.bytes});
  }
}

// Compares `ran` with every operation that ran before it and that neither the host nor `ran` has waited for. An earlier
// operation cannot wait for a later one, so one direction is enough.
void Runtime::check_races_between_streams(const Ran& ran) {
  for (const Ran& other : ran_) {
    if (ran.events == nullptr && other.position <= ran.before.at(other.stream)) continue;
    const auto before = [&](std::uint32_t i, std::uint32_t j) {
      return other.position_of(i) <= ran.before_of(j).at(other.stream);
    };
    for (const auto [i, j] : meetings(other.logs, ran.logs, before)) {
      const AccessLog pair[] = {other.logs[i], ran.logs[j]};
      for (const Conflict& c : find_conflicts(pair, [](std::uint32_t, std::uint32_t) { return false; })) {
        report({{other.nodes[i], other.number, c.a_wrote}, {ran.nodes[j], ran.number, c.b_wrote}, c.bytes});
      }
    }
  }
}

void Runtime::report(const DataRace& race) {
  ++races_seen_;
  if (races_.size() >= kMaxRaces) return;
  races_.push_back(race);
  races_.back().bytes = virtual_memory_.address_of(race.bytes);
}

}  // namespace model
