// Instantiation, setters of executable graphs, and update; the contract is in the header.
//
// Sources: HIP's header documentation of hipGraphExec*NodeSetParams and hipGraphExecUpdate, CUDA's documentation of
// cudaGraphExecUpdate where HIP's says nothing, and the tests catch/unit/graph/hipGraphExecUpdate.cc:
// Negative_Functional_CountDiffer_1 (counts differ: topology, no error node), Negative_NodeType_Changed,
// Negative_Dependent_NodesDiffer (dependencies differ: topology, that node), Negative_Functional_ParametersChanged (the
// kind of a copy), Functional_KernelFunction_Changed (another function is fine). clr compares only how many
// dependencies a node has; which ones they are is compared here, as CUDA documents.
#include "model/graph_exec.h"

#include <algorithm>
#include <cassert>

namespace model {

static void collect(const Graph& graph, UserReferences* references) {
  references->add(graph.user_references());
  for (const auto& node : graph.nodes()) {
    if (node->child() != nullptr) collect(*node->child(), references);
  }
}

GraphExec::GraphExec(ObjectTable& objects, const AddressSpace& space)
    : objects_(objects),
      space_(space),
      id_(objects.add(ObjectKind::kGraphExec, this)),
      plan_(std::make_shared<Plan>()) {}

GraphExec::~GraphExec() {
  objects_.visit(nodes_.size());
  objects_.remove(id_);
}

StepIndex GraphExec::add_step(NodeParams params, ObjectId origin, PlanStructure* structure) {
  Step& step = plan_->steps.emplace_back();
  objects_.visit();
  give(step, std::move(params));
  step.origin = origin;
  structure->dependencies.emplace_back();
  structure->dependents.emplace_back();
  return static_cast<StepIndex>(plan_->steps.size() - 1);
}

std::vector<GraphExec::ExecNode> GraphExec::flatten(const Graph& graph, PlanStructure* structure) {
  const auto edge = [structure](StepIndex from, StepIndex to) {
    structure->dependencies[to].push_back(from);
    structure->dependents[from].push_back(to);
  };
  std::vector<ExecNode> level(graph.nodes().size());
  for (const auto& node : graph.nodes()) {
    ExecNode& exec = level[node->index()];
    exec.origin = node->id();
    exec.type = node->type();
    exec.entry = exec.exit = add_step(node->params(), node->id(), structure);
    if (node->child() == nullptr) continue;
    exec.children = flatten(*node->child(), structure);
    exec.exit = add_step(EmptyParams{}, node->id(), structure);
    edge(exec.entry, exec.exit);
    for (const ExecNode& inner : exec.children) {
      if (structure->dependencies[inner.entry].empty()) edge(exec.entry, inner.entry);
      if (structure->dependents[inner.exit].empty()) edge(inner.exit, exec.exit);
    }
  }
  for (const auto& node : graph.nodes()) {
    ExecNode& exec = level[node->index()];
    for (const Node* dependency : graph.dependencies(*node)) {
      exec.dependencies.push_back(dependency->index());
      edge(level[dependency->index()].exit, exec.entry);
    }
    std::ranges::sort(exec.dependencies);
  }
  return level;
}

Status GraphExec::instantiate(ObjectTable& objects, const AddressSpace& space, const Graph& graph,
                              std::unique_ptr<GraphExec>* out, std::uint64_t flags) {
  std::unique_ptr<GraphExec> exec(new GraphExec(objects, space));
  exec->flags_ = flags;
  auto structure = std::make_shared<PlanStructure>();
  exec->source_ = graph.id();
  exec->nodes_ = exec->flatten(graph, structure.get());
  assert(
      std::ranges::is_sorted(exec->nodes_, [](const ExecNode& a, const ExecNode& b) { return a.origin < b.origin; }));
  structure->stable_order = topological_order(structure->dependencies, structure->dependents, nullptr);
  // Unit_hipGraphInstantiate: a cycle, in a child too, is an error at instantiation.
  if (structure->stable_order.size() != exec->plan_->steps.size()) return Status::kInvalidValue;
  structure->reachability = Reachability(structure->dependencies, structure->stable_order);
  objects.visit(exec->plan_->steps.size());
  if (has_unloaded_kernel(*exec->plan_)) return Status::kInvalidDeviceFunction;
  for (const StepIndex step : structure->stable_order) {
    const NodeType type = type_of(exec->plan_->steps[step].params);
    if (type == NodeType::kEventRecord || type == NodeType::kEventWait) structure->event_steps.push_back(step);
    if (type == NodeType::kAllocate || type == NodeType::kFree) structure->memory_steps.push_back(step);
  }
  exec->plan_->structure = std::move(structure);
  exec->hold_user_objects(graph);
  *out = std::move(exec);
  return Status::kSuccess;
}

// Ids are handed out in ascending order and nodes keep the order of insertion, so nodes_ is sorted by origin.
const GraphExec::ExecNode* GraphExec::find(ObjectId node) const {
  const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), node,
                                      [](const ExecNode& exec, ObjectId id) { return exec.origin < id; });
  return found != nodes_.end() && found->origin == node ? &*found : nullptr;
}

// A pending launch shares the plan. It keeps that plan, and the change is made in a copy.
Plan& GraphExec::writable() {
  if (plan_.use_count() > 1) plan_ = std::make_shared<Plan>(*plan_);
  return *plan_;
}

void GraphExec::give(Step& step, NodeParams params) const {
  step.params = std::move(params);
  const auto* memset = std::get_if<MemsetParams>(&step.params);
  const Allocation* memory = memset == nullptr ? nullptr : space_.find_or_promised(memset->dst);
  step.device = memory == nullptr ? std::nullopt : std::optional(memory->device);
}

// CUDA, cudaGraphExecKernelNodeSetParams and cudaGraphExecUpdate: the device that owns a kernel cannot change.
static bool same_device(const NodeParams& from, const NodeParams& to) {
  const auto* before = std::get_if<KernelParams>(&from);
  const auto* after = std::get_if<KernelParams>(&to);
  if (before == nullptr || after == nullptr) return true;
  return before->function->device == after->function->device;
}

// CUDA, cudaGraphExecUpdate and the setters: the number of semaphores cannot change.
static bool same_count(const NodeParams& from, const NodeParams& to) {
  if (const auto* signals = std::get_if<SemaphoreSignalParams>(&from)) {
    return signals->list.size() == std::get<SemaphoreSignalParams>(to).list.size();
  }
  const auto* waits = std::get_if<SemaphoreWaitParams>(&from);
  return waits == nullptr || waits->list.size() == std::get<SemaphoreWaitParams>(to).list.size();
}

Status GraphExec::change_allowed(const Step& step, const NodeParams& to) const {
  const NodeParams& from = step.params;
  if (type_of(from) != type_of(to)) return Status::kInvalidValue;
  if (const Status status = validate(to, space_); status != Status::kSuccess) return status;
  if (!same_device(from, to) || !same_count(from, to)) return Status::kInvalidValue;
  // The address range of a memory node never changes.
  if (type_of(from) == NodeType::kAllocate || type_of(from) == NodeType::kFree) {
    return from == to ? Status::kSuccess : Status::kNotSupported;
  }
  if (type_of(from) == NodeType::kCopy) {
    const auto& old_copy = std::get<CopyParams>(from);
    const auto& new_copy = std::get<CopyParams>(to);
    // hipGraphExecMemcpyNodeSetParams1D and ...SetParams: "Negative_Changing_Memcpy_Direction".
    if (old_copy.kind != new_copy.kind) return Status::kInvalidValue;
    if (old_copy.linear && !one_dimensional(new_copy)) return Status::kInvalidValue;
    if (new_copy.linear && !one_dimensional(old_copy)) return Status::kInvalidValue;
  } else if (type_of(from) == NodeType::kMemset) {
    const auto& old_set = std::get<MemsetParams>(from);
    const auto& new_set = std::get<MemsetParams>(to);
    // hipGraphExecMemsetNodeSetParams: a 2D memset keeps the width in bytes and the height that it was added with.
    if (new_set.height > 1 && (old_set.width * old_set.element_size != new_set.width * new_set.element_size ||
                               old_set.height != new_set.height)) {
      return Status::kInvalidValue;
    }
    // CUDA, and the test with two devices: the memory has to stay on its device.
    const Allocation* memory = space_.find_or_promised(new_set.dst);
    if (step.device && memory != nullptr && *step.device != memory->device) return Status::kInvalidValue;
  }
  return Status::kSuccess;
}

Status GraphExec::set_params(ObjectId node, NodeParams params) {
  const ExecNode* exec = find(node);
  if (exec == nullptr || exec->type == NodeType::kChild) return Status::kInvalidValue;
  if (const Status status = change_allowed(plan_->steps[exec->entry], params); status != Status::kSuccess) {
    return status;
  }
  keep_attributes(plan_->steps[exec->entry].params, &params);
  give(writable().steps[exec->entry], std::move(params));
  return Status::kSuccess;
}

// Whether `graph` matches this level, and the changes that an update would make. Makes none of these changes.
UpdateOutcome GraphExec::compare(const std::vector<ExecNode>& level, const Graph& graph,
                                 std::vector<Change>* changes) const {
  const auto refuse = [](UpdateResult result, const Node* node) {
    return UpdateOutcome{Status::kGraphExecUpdateFailure, result, node};
  };
  if (level.size() != graph.nodes().size()) return refuse(UpdateResult::kTopologyChanged, nullptr);
  for (const auto& node : graph.nodes()) {
    const ExecNode& exec = level[node->index()];
    if (exec.type != node->type()) return refuse(UpdateResult::kNodeTypeChanged, node.get());
    std::vector<std::uint32_t> dependencies;
    for (const Node* dependency : graph.dependencies(*node)) dependencies.push_back(dependency->index());
    std::ranges::sort(dependencies);
    if (exec.dependencies != dependencies) return refuse(UpdateResult::kTopologyChanged, node.get());
    if (node->child() != nullptr) {
      const UpdateOutcome inner = compare(exec.children, *node->child(), changes);
      if (inner.status != Status::kSuccess) return refuse(inner.result, node.get());
      continue;
    }
    const Status allowed = change_allowed(plan_->steps[exec.entry], node->params());
    if (allowed == Status::kInvalidDeviceFunction || !same_device(plan_->steps[exec.entry].params, node->params())) {
      return refuse(UpdateResult::kUnsupportedFunctionChange, node.get());
    }
    if (allowed == Status::kNotSupported) return refuse(UpdateResult::kNotSupported, node.get());
    if (allowed != Status::kSuccess) return refuse(UpdateResult::kParametersChanged, node.get());
    changes->push_back({exec.entry, node.get()});
  }
  return {};
}

void GraphExec::apply(const std::vector<Change>& changes) {
  Plan& plan = writable();
  objects_.visit(changes.size());
  for (const Change& change : changes) give(plan.steps[change.step], change.to->params());
}

// Holds the user objects of `graph` and releases the user objects that it held before.
void GraphExec::hold_user_objects(const Graph& graph) {
  std::map<std::size_t, UserReferences> held;
  if (!graph.user_references().empty()) held[0] = graph.user_references();
  for (const auto& node : graph.nodes()) {
    if (node->child() == nullptr) continue;
    UserReferences references;
    collect(*node->child(), &references);
    if (!references.empty()) held[node->index() + 1] = std::move(references);
  }
  if (!held.empty() || !plan_->user_references.empty()) writable().user_references = std::move(held);
}

UpdateOutcome GraphExec::update(const Graph& graph) {
  std::vector<Change> changes;
  const UpdateOutcome outcome = compare(nodes_, graph, &changes);
  if (outcome.status == Status::kSuccess) {
    apply(changes);
    hold_user_objects(graph);
  }
  return outcome;
}

Status GraphExec::set_child(ObjectId node, const Graph& child) {
  const ExecNode* exec = find(node);
  if (exec == nullptr || exec->type != NodeType::kChild) return Status::kInvalidValue;
  std::vector<Change> changes;
  const UpdateOutcome outcome = compare(exec->children, child, &changes);
  if (outcome.status != Status::kSuccess) {
    const bool shape =
        outcome.result == UpdateResult::kTopologyChanged || outcome.result == UpdateResult::kNodeTypeChanged;
    return shape ? Status::kUnknown : Status::kInvalidValue;
  }
  apply(changes);
  UserReferences references;
  collect(child, &references);
  const auto index = static_cast<std::size_t>(exec - nodes_.data());
  writable().user_references[index + 1] = std::move(references);
  return Status::kSuccess;
}

// Unit_hipGraphNodeSetEnabled: kernel, memcpy and memset nodes only.
static bool can_be_disabled(NodeType type) {
  return type == NodeType::kKernel || type == NodeType::kCopy || type == NodeType::kMemset;
}

Status GraphExec::set_enabled(ObjectId node, bool enabled) {
  const ExecNode* exec = find(node);
  if (exec == nullptr || !can_be_disabled(exec->type)) return Status::kInvalidValue;
  writable().steps[exec->entry].enabled = enabled;
  return Status::kSuccess;
}

Status GraphExec::enabled(ObjectId node, bool* out) const {
  const ExecNode* exec = find(node);
  if (exec == nullptr || !can_be_disabled(exec->type)) return Status::kInvalidValue;
  *out = plan_->steps[exec->entry].enabled;
  return Status::kSuccess;
}

const NodeParams* GraphExec::params(ObjectId node) const {
  const ExecNode* exec = find(node);
  return exec == nullptr ? nullptr : &plan_->steps[exec->entry].params;
}

std::vector<NodeView> GraphExec::inspect(std::span<const ExecNode> level) const {
  std::vector<NodeView> views;
  views.reserve(level.size());
  for (const ExecNode& exec : level) {
    const Step& step = plan_->steps[exec.entry];
    views.push_back({exec.type, &step.params, exec.dependencies, inspect(exec.children), exec.origin, step.enabled});
  }
  return views;
}

std::vector<NodeView> GraphExec::inspect(std::size_t most) const {
  return inspect(std::span(nodes_).first(std::min(most, nodes_.size())));
}

}  // namespace model
