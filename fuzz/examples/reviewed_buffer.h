// A client's own command buffer, as the study that hgcheck began with has one (version 2 of hip/patcher_abi.h).
//
// The first step records a graph and instantiates it. At each later step a walk over the nodes compares each command's
// parameters with those that its node has, and sets the nodes that differ: kernels through `extra` buffers of the
// library's own; nodes of a nested command buffer either in the parent (reviewed_plan.h) or in a definition of the
// child, which is then pushed back. Traced commands, and changes that no setter makes, are recorded again. A failed
// call is returned, and the next step records again.
//
// `Decisions`: reviewed_decisions.h. Each of the libraries includes this file once and names its decisions before.
#pragma once

#include <cstdio>
#include <utility>
#include <vector>

#include "reviewed_plan.h"
#include "shown_hip.h"

namespace reviewed {

// Laid out by hand: the formatter changes this list each time it runs.
// clang-format off
#define REVIEWED_FUNCTIONS(X)                                                                            \
  X(hipGraphKernelNodeSetParams) X(hipGraphMemcpyNodeSetParams) X(hipGraphMemcpyNodeSetParams1D)         \
  X(hipGraphMemsetNodeSetParams) X(hipGraphHostNodeSetParams) X(hipGraphEventRecordNodeSetEvent)         \
  X(hipGraphEventWaitNodeSetEvent) X(hipGraphExecHostNodeSetParams)                                      \
  X(hipGraphExecEventRecordNodeSetEvent) X(hipGraphExecEventWaitNodeSetEvent)                            \
  X(hipGraphExecChildGraphNodeSetParams)
// clang-format on

struct Hip : shown::Hip {
  REVIEWED_FUNCTIONS(SHOWN_MEMBER)

  bool find(const hgpatcher_hip* hip) {
    bool all = shown::Hip::find(hip);
    REVIEWED_FUNCTIONS(SHOWN_FIND)
    return all;
  }

  hipError_t add(hipGraph_t graph, const std::vector<hipGraphNode_t>& behind, const Parameters& p,
                 hipGraphNode_t* node) const {
    const hipGraphNode_t* const first = behind.data();
    const size_t count = behind.size();
    switch (p.kind) {
      case HGPATCHER_KERNEL:
        return hipGraphAddKernelNode(node, graph, first, count, PackedKernel(p.kernel).get());
      case HGPATCHER_COPY:
        if (p.linear == 0) return hipGraphAddMemcpyNode(node, graph, first, count, &p.copy);
        return hipGraphAddMemcpyNode1D(node, graph, first, count, p.copy.dstPtr.ptr, p.copy.srcPtr.ptr,
                                       p.copy.extent.width, p.copy.kind);
      case HGPATCHER_MEMSET:
        return hipGraphAddMemsetNode(node, graph, first, count, &p.memset);
      case HGPATCHER_HOST:
        return hipGraphAddHostNode(node, graph, first, count, &p.host);
      case HGPATCHER_EVENT_RECORD:
        return hipGraphAddEventRecordNode(node, graph, first, count, p.event);
      case HGPATCHER_EVENT_WAIT:
        return hipGraphAddEventWaitNode(node, graph, first, count, p.event);
      case HGPATCHER_OPAQUE:
        return hipGraphAddChildGraphNode(node, graph, first, count, p.traced);
      default:
        return hipGraphAddEmptyNode(node, graph, first, count);
    }
  }
  hipError_t set(hipGraphExec_t exec, hipGraphNode_t node, const Parameters& p) const {
    hipMemcpy3DParms copy = p.copy;
    switch (p.kind) {
      case HGPATCHER_KERNEL:
        return hipGraphExecKernelNodeSetParams(exec, node, PackedKernel(p.kernel).get());
      case HGPATCHER_COPY:
        if (p.linear == 0) return hipGraphExecMemcpyNodeSetParams(exec, node, &copy);
        return hipGraphExecMemcpyNodeSetParams1D(exec, node, copy.dstPtr.ptr, copy.srcPtr.ptr, copy.extent.width,
                                                 copy.kind);
      case HGPATCHER_MEMSET:
        return hipGraphExecMemsetNodeSetParams(exec, node, &p.memset);
      case HGPATCHER_HOST:
        return hipGraphExecHostNodeSetParams(exec, node, &p.host);
      case HGPATCHER_EVENT_RECORD:
        return hipGraphExecEventRecordNodeSetEvent(exec, node, p.event);
      case HGPATCHER_EVENT_WAIT:
        return hipGraphExecEventWaitNodeSetEvent(exec, node, p.event);
      case HGPATCHER_OPAQUE:
        return hipGraphExecChildGraphNodeSetParams(exec, node, p.traced);
      default:
        return hipSuccess;
    }
  }
  hipError_t set_definition(hipGraphNode_t node, const Parameters& p) const {
    switch (p.kind) {
      case HGPATCHER_KERNEL:
        return hipGraphKernelNodeSetParams(node, PackedKernel(p.kernel).get());
      case HGPATCHER_COPY:
        if (p.linear == 0) return hipGraphMemcpyNodeSetParams(node, &p.copy);
        return hipGraphMemcpyNodeSetParams1D(node, p.copy.dstPtr.ptr, p.copy.srcPtr.ptr, p.copy.extent.width,
                                             p.copy.kind);
      case HGPATCHER_MEMSET:
        return hipGraphMemsetNodeSetParams(node, &p.memset);
      case HGPATCHER_HOST:
        return hipGraphHostNodeSetParams(node, &p.host);
      case HGPATCHER_EVENT_RECORD:
        return hipGraphEventRecordNodeSetEvent(node, p.event);
      case HGPATCHER_EVENT_WAIT:
        return hipGraphEventWaitNodeSetEvent(node, p.event);
      default:
        return hipSuccess;
    }
  }
};

template <class Decisions>
class Buffer {
 public:
  explicit Buffer(const hgpatcher_hip* table) : table_(table) {}

  [[nodiscard]] bool find_functions() { return hip_.find(table_); }
  void begin(size_t count, bool other_commands) {
    commands_.assign(count, nullptr);
    other_commands_ = other_commands;
  }
  void update(size_t index, const hgcommands_command* command) { commands_[index] = command; }

  hipError_t launch(hipStream_t stream, hgcommands_did& did) {
    if (too_deep()) {
      did = {HGCOMMANDS_REFUSED, 0, "nested command buffers are too deep"};
      return hipSuccess;
    }
    const Plan<Decisions> plan(commands_);
    const bool settable = exec_ != nullptr && usable_ && !other_commands_ && can_set(level_, plan.leaves());
    const hipError_t status = settable ? patch(plan.leaves(), did) : record_again(plan.leaves(), did);
    if (status != hipSuccess) return status;
    const hipError_t launched = hip_.hipGraphLaunch(exec_, Decisions::stream(stream));
    if (launched == hipSuccess) launched_ = true;
    return launched;
  }
  hipError_t destroy() {
    const hipError_t first = replaced();
    const hipError_t second = shown::gone(hip_.hipGraphExecDestroy, std::exchange(before_, nullptr));
    return first != hipSuccess ? first : second;
  }

 private:
  [[nodiscard]] bool too_deep() const {
    for (const hgcommands_command* command : commands_) {
      if (Decisions::depth(command, 1) > Decisions::kDeepest) return true;
    }
    return false;
  }

  // ---- recording

  // After an error the executable graph of the steps before is as it was, or, if that could not be destroyed, replaced.
  hipError_t record_again(const std::vector<Leaf>& leaves, hgcommands_did& did) {
    Level fresh;
    if (const hipError_t status = record(leaves, fresh); status != hipSuccess) return status;
    hipGraphExec_t instantiated = nullptr;
    const hipError_t status = hip_.hipGraphInstantiate(&instantiated, fresh.graph, nullptr, nullptr, 0);
    if (status != hipSuccess) {
      const hipError_t destroyed = destroy(fresh);
      return destroyed == hipErrorUnknown ? destroyed : status;
    }
    const hipError_t destroyed = Decisions::destroys_old_graphs() ? replaced() : hipSuccess;
    exec_ = instantiated;
    level_ = std::move(fresh);
    usable_ = true;
    did.way = HGCOMMANDS_RECORDED;
    return destroyed;
  }
  // The graph is not launched any more.
  hipError_t replaced() {
    hipGraphExec_t gone = std::exchange(exec_, nullptr);
    if (launched_ && Decisions::keeps_one_more()) std::swap(gone, before_);
    launched_ = false;
    const hipError_t first = shown::gone(hip_.hipGraphExecDestroy, gone);
    const hipError_t second = destroy(level_);
    return first != hipSuccess ? first : second;
  }
  hipError_t record(const std::vector<Leaf>& leaves, Level& level) {
    if (const hipError_t status = hip_.hipGraphCreate(&level.graph, 0); status != hipSuccess) return status;
    hipError_t status = Decisions::recorded(table_, leaves.size());
    for (size_t i = 0; i < leaves.size() && status == hipSuccess; ++i) status = record_one(leaves[i], level);
    if (status == hipSuccess) return status;
    const hipError_t destroyed = destroy(level);
    return destroyed == hipErrorUnknown ? destroyed : status;
  }
  hipError_t record_one(const Leaf& leaf, Level& level) {
    std::vector<hipGraphNode_t> behind;
    for (const size_t end : leaf.behind) behind.push_back(level.nodes[end].handle);
    Node& node = level.nodes.emplace_back();
    if (leaf.command->node.kind == HGPATCHER_CHILD) {
      node.inner = std::make_unique<Level>();
      if (const hipError_t status = record(leaf.inner, *node.inner); status != hipSuccess) return status;
      return hip_.hipGraphAddChildGraphNode(&node.handle, level.graph, behind.data(), behind.size(), node.inner->graph);
    }
    node.kept = parameters_of(*leaf.command, Decisions::keep(leaf.command->node.kernel));
    Decisions::shape(node.kept);
    return hip_.add(level.graph, behind, node.kept, &node.handle);
  }
  hipError_t destroy(Level& level) {
    hipError_t first = shown::gone(hip_.hipGraphDestroy, level.graph);
    for (Node& node : level.nodes) {
      const hipError_t status = node.inner ? destroy(*node.inner) : hipSuccess;
      if (first == hipSuccess) first = status;
    }
    level = {};
    return first;
  }

  // ---- patching

  static bool can_set(const Level& level, const std::vector<Leaf>& leaves) {
    if (level.nodes.size() != leaves.size()) return false;
    for (size_t i = 0; i < leaves.size(); ++i) {
      const Node& node = level.nodes[i];
      if (node.inner ? !can_set(*node.inner, leaves[i].inner) : !Decisions::can_set(node.kept, leaves[i].command->node))
        return false;
    }
    return true;
  }
  hipError_t patch(const std::vector<Leaf>& leaves, hgcommands_did& did) {
    const Step step = Decisions::look(level_, leaves);
    const hipError_t status = walk(level_, leaves, Decisions::target(exec_), step, did.nodes);
    did.way = did.nodes == 0 ? HGCOMMANDS_LAUNCHED : HGCOMMANDS_SET;
    return status;
  }
  // `exec` is null: the level's definition is changed.
  hipError_t walk(Level& level, const std::vector<Leaf>& leaves, hipGraphExec_t exec, const Step& step,
                  uint32_t& setters) {
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!Decisions::walks(leaves[i], step)) continue;
      Node& node = level.nodes[i];
      const hipError_t status = Decisions::answered(node.inner ? push_back(node, leaves[i], step, setters)
                                                               : bring(node, leaves[i], exec, step, setters));
      if (status != hipSuccess) return status;
    }
    return hipSuccess;
  }
  hipError_t push_back(Node& node, const Leaf& leaf, const Step& step, uint32_t& setters) {
    const uint32_t before = setters;
    if (const hipError_t status = walk(*node.inner, leaf.inner, nullptr, step, setters); status != hipSuccess)
      return status;
    if (setters == before) return hipSuccess;
    ++setters;
    const hipError_t status = hip_.hipGraphExecChildGraphNodeSetParams(exec_, node.handle, node.inner->graph);
    if (status != hipSuccess) usable_ = false;
    return status;
  }
  hipError_t bring(Node& node, const Leaf& leaf, hipGraphExec_t exec, const Step& step, uint32_t& setters) {
    const hgpatcher_kernel& kernel = leaf.command->node.kernel;
    Parameters next = parameters_of(*leaf.command, owned(Decisions::arguments(node.kept.kernel, kernel, step)));
    Decisions::carry(node.kept, next);
    Decisions::shape(next);
    if (same(node.kept, next)) return hipSuccess;
    ++setters;
    const hipError_t status =
        exec != nullptr ? hip_.set(exec, node.handle, Decisions::passed(next)) : hip_.set_definition(node.handle, next);
    if (status != hipSuccess)
      usable_ = Decisions::usable_without(node, std::move(next));
    else
      node.kept = std::move(next);
    return status;
  }

  const hgpatcher_hip* table_;
  Hip hip_;
  std::vector<const hgcommands_command*> commands_;  // of the running step
  bool other_commands_ = false;
  hipGraphExec_t exec_ = nullptr;
  bool launched_ = false;            // `exec_` was
  hipGraphExec_t before_ = nullptr;  // that `exec_` replaced, where one more is kept
  Level level_;                      // that `exec_` was instantiated from
  bool usable_ = true;               // the nodes have the parameters that are kept of them
};

}  // namespace reviewed

struct hgcommands : reviewed::Buffer<Decisions> {
  using Buffer::Buffer;
};

extern "C" {

uint32_t hgpatcher_abi(void) {
  return HGPATCHER_ABI_COMMANDS << 16;
}

hipError_t hgcommands_create(const hgpatcher_hip* hip, int, hgcommands** out) {
  auto made = std::make_unique<hgcommands>(hip);
  if (!made->find_functions()) return hipErrorNotSupported;
  *out = made.release();
  return hipSuccess;
}

hipError_t hgcommands_begin(hgcommands* self, size_t count, int other_commands) {
  self->begin(count, other_commands != 0);
  return hipSuccess;
}

hipError_t hgcommands_update(hgcommands* self, size_t index, const hgcommands_command* command) {
  self->update(index, command);
  return hipSuccess;
}

hipError_t hgcommands_launch(hgcommands* self, hipStream_t stream, hgcommands_did* did) {
  return self->launch(stream, *did);
}

void hgcommands_destroy(hgcommands* self) {
  if (self->destroy() != hipSuccess) fputs("an executable graph could not be destroyed at once\n", stderr);
  delete self;
}

}  // extern "C"
