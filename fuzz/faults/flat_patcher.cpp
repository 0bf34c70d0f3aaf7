#include "fuzz/faults/flat_patcher.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "hip/device_scope.h"
#include "hip/kernel_parameters.h"
#include "verify/program/each_command.h"

namespace fuzz {

namespace {

struct Setter {
  const hip::Api& api;
  hipGraphExec_t exec;
  hipGraphNode_t node;

  hipError_t operator()(hip::KernelRecord& kernel) const {
    const hip::KernelParameters params(kernel, hip::ArgumentStyle::kExtra);
    return exec != nullptr ? api.hipGraphExecKernelNodeSetParams(exec, node, params.get())
                           : api.hipGraphKernelNodeSetParams(node, params.get());
  }
  hipError_t operator()(hip::CopyRecord& copy) const {
    hipMemcpy3DParms& p = copy.params;
    if (!copy.linear) {
      return exec != nullptr ? api.hipGraphExecMemcpyNodeSetParams(exec, node, &p)
                             : api.hipGraphMemcpyNodeSetParams(node, &p);
    }
    return exec != nullptr
               ? api.hipGraphExecMemcpyNodeSetParams1D(exec, node, p.dstPtr.ptr, p.srcPtr.ptr, p.extent.width, p.kind)
               : api.hipGraphMemcpyNodeSetParams1D(node, p.dstPtr.ptr, p.srcPtr.ptr, p.extent.width, p.kind);
  }
  hipError_t operator()(hip::MemsetRecord& memset) const {
    return exec != nullptr ? api.hipGraphExecMemsetNodeSetParams(exec, node, &memset.params)
                           : api.hipGraphMemsetNodeSetParams(node, &memset.params);
  }
  // These nodes hold no address that a patch changes, or were refused before (refuses()).
  template <verify::OneOf<hip::HostRecord, hip::EmptyRecord, hip::ChildRecord, hip::OpaqueRecord,
                          hip::EventSignalRecord, hip::EventWaitRecord, hip::MemoryAllocRecord, hip::MemoryFreeRecord,
                          hip::BatchRecord, hip::SemaphoreSignalRecord, hip::SemaphoreWaitRecord>
                R>
  hipError_t operator()(R&) const {
    return hipErrorInvalidValue;
  }
};

// Whether a child graph holds a moved buffer at any depth.
bool holds_moved_buffer(const hip::Recording& recording, std::span<const hip::Move> moves) {
  return std::ranges::any_of(recording.nodes(), [&](const hip::RecordedNode& node) {
    if (const auto* child = std::get_if<hip::ChildRecord>(&node.record))
      return holds_moved_buffer(*child->graph, moves);
    return std::ranges::any_of(node.relocations,
                               [&](const hip::Relocation& r) { return move_of(moves, r.buffer) != nullptr; });
  });
}

hip::PatchError record_again(const char* why) {
  return {hip::PatchFailure::kRecordAgain, 0, why};
}

}  // namespace

const hip::Move* move_of(std::span<const hip::Move> moves, hip::BufferIndex buffer) {
  const auto found = std::ranges::find(moves, buffer, &hip::Move::buffer);
  return found == moves.end() ? nullptr : &*found;
}

bool hides_moved_buffer(const hip::NodeRecord& record, std::span<const hip::Move> moves) {
  if (const auto* child = std::get_if<hip::ChildRecord>(&record)) {
    const auto nodes = child->graph->nodes();
    return std::ranges::any_of(nodes,
                               [&](const hip::RecordedNode& node) { return hides_moved_buffer(node.record, moves); });
  }
  const auto* opaque = std::get_if<hip::OpaqueRecord>(&record);
  return opaque != nullptr &&
         std::ranges::any_of(opaque->buffers, [&](hip::BufferIndex b) { return move_of(moves, b) != nullptr; });
}

hip::DeviceAddress address_in(const hip::NodeRecord& record, const hip::Relocation& relocation) {
  hip::DeviceAddress address = 0;
  switch (relocation.field) {
    case hip::Field::kKernelArgument:
      std::memcpy(&address, std::get<hip::KernelRecord>(record).arguments.data() + relocation.offset, sizeof address);
      break;
    case hip::Field::kCopyDestination:
      address = reinterpret_cast<std::uintptr_t>(std::get<hip::CopyRecord>(record).params.dstPtr.ptr);
      break;
    case hip::Field::kCopySource:
      address = reinterpret_cast<std::uintptr_t>(std::get<hip::CopyRecord>(record).params.srcPtr.ptr);
      break;
    case hip::Field::kMemsetDestination:
      address = reinterpret_cast<std::uintptr_t>(std::get<hip::MemsetRecord>(record).params.dst);
      break;
    case hip::Field::kMemoryOperation:
      address = std::get<hip::BatchRecord>(record).operations[relocation.offset].address;
      break;
  }
  return address;
}

hipError_t set_node(const hip::Api& api, hipGraphExec_t exec, hipGraphNode_t node, hip::NodeRecord& record) {
  return std::visit(Setter{api, exec, node}, record);
}

FlatPatcher::FlatPatcher(const verify::PatchTarget& target) : api_(target.api), exec_(target.exec) {
  for (const hipGraphNode_t handle : target.graph.nodes) nodes_.push_back({handle, {}, {}});
  FlatPatcher::replace_all(target.recording, target.addresses);
}

void FlatPatcher::replace(hip::NodeIndex node, hip::NodeRecord record, std::vector<hip::Relocation> relocations) {
  const hip::RecordedNode given{std::move(record), {}, std::move(relocations)};
  nodes_[node].record = hip::relocated(given, addresses_);
  nodes_[node].relocations = given.relocations;
}

void FlatPatcher::replace_all(const hip::Recording& recording, std::span<const hip::DeviceAddress> addresses) {
  addresses_.assign(addresses.begin(), addresses.end());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].record = hip::relocated(recording.nodes()[i], addresses);
    nodes_[i].relocations = recording.nodes()[i].relocations;
  }
}

bool FlatPatcher::refuses(const HeldNode& node, std::span<const hip::Move> moves) const {
  const auto* child = std::get_if<hip::ChildRecord>(&node.record);
  // The authors of these patchers did not know batches, and give them back.
  const bool batch = std::holds_alternative<hip::BatchRecord>(node.record) &&
                     std::ranges::any_of(node.relocations, [moves](const hip::Relocation& relocation) {
                       return move_of(moves, relocation.buffer) != nullptr;
                     });
  return batch || hides_moved_buffer(node.record, moves) ||
         (child != nullptr && holds_moved_buffer(*child->graph, moves));
}

Rewrite FlatPatcher::rewrite(hip::NodeIndex node, std::span<const hip::Move> moves, hip::NodeRecord& record) const {
  Rewrite result = Rewrite::kUnchanged;
  for (const hip::Relocation& relocation : nodes_[node].relocations) {
    const hip::Move* move = move_of(moves, relocation.buffer);
    if (move == nullptr) continue;
    hip::write_address(record, relocation, move->to);
    result = Rewrite::kChanged;
  }
  return result;
}

hipError_t FlatPatcher::set(hipGraphNode_t node, hip::NodeRecord& record) const {
  const std::optional<int> device = hip::device_needed(record);
  const hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter_if(api_, device, {});
  if (!scope) return static_cast<hipError_t>(scope.error().code);
  return set_node(api_, exec_, node, record);
}

hip::PatchResult FlatPatcher::patch(std::span<const hip::Move> moves) {
  if (!usable_) return hip::PatchError{hip::PatchFailure::kUnusable, 0, "an earlier patch could not be put back"};
  std::vector<hip::Move> changes;
  std::ranges::copy_if(moves, std::back_inserter(changes), [](const hip::Move& move) { return move.from != move.to; });
  begin(changes);
  std::vector<Step> steps;
  for (hip::NodeIndex i = 0; i < nodes_.size(); ++i) {
    if (refuses(nodes_[i], changes)) return record_again("a node that cannot be patched holds a buffer that moved");
    hip::NodeRecord before = current(i);
    hip::NodeRecord after = before;
    const Rewrite rewritten = rewrite(i, changes, after);
    if (rewritten == Rewrite::kUnknown) return record_again("what a node should hold cannot be told");
    if (rewritten == Rewrite::kChanged) steps.push_back({i, std::move(before), std::move(after)});
  }
  hip::PatchResult result = apply(steps);
  if (!result.ok()) return result;
  for (Step& step : steps) nodes_[step.node].record = std::move(step.after);
  for (const hip::Move& move : changes) addresses_[move.buffer] = move.to;
  return result;
}

hip::PatchResult FlatPatcher::apply(std::vector<Step>& steps) {
  hip::PatchReport report;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const hipError_t status = set(nodes_[steps[i].node].handle, steps[i].after);
    ++report.calls;
    ++report.nodes;
    if (status == hipSuccess) continue;
    usable_ = put_back(steps, i);
    return hip::PatchError{usable_ ? hip::PatchFailure::kRolledBack : hip::PatchFailure::kUnusable, status,
                           "node " + std::to_string(steps[i].node) + ": " + hip::status_name(status)};
  }
  return report;
}

bool FlatPatcher::put_back(std::vector<Step>& steps, std::size_t failed) const {
  bool all = true;
  for (std::size_t i = failed + 1; i-- > 0;) {
    all = set(nodes_[steps[i].node].handle, steps[i].before) == hipSuccess && all;
  }
  return all;
}

}  // namespace fuzz
