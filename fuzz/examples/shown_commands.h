// The common part of two examples of a client's own command buffer (version 2 of hip/patcher_abi.h): they record the
// commands of a step into a graph. They differ in how they bring an executable graph to the next step's commands
// (updating_commands.cpp, setting_commands.cpp), and each of them includes this file once.
#pragma once

#include <cstdio>
#include <utility>
#include <vector>

#include "hip/patcher_abi.h"
#include "shown_hip.h"

namespace shown {

// Records commands into a graph of their own. After an error there is no graph.
class Recorder {
 public:
  explicit Recorder(const Hip& hip) : hip_(hip) {}

  hipError_t record(const std::vector<const hgcommands_command*>& commands, hipGraph_t* out,
                    std::vector<hipGraphNode_t>& nodes) const {
    hipGraph_t graph = nullptr;
    if (const hipError_t made = hip_.hipGraphCreate(&graph, 0); made != hipSuccess) return made;
    nodes.clear();
    for (const hgcommands_command* command : commands) {
      std::vector<hipGraphNode_t> behind;
      for (size_t i = 0; i < command->node.dependency_count; ++i)
        behind.push_back(nodes[command->node.dependencies[i]]);
      hipGraphNode_t node = nullptr;
      const hipError_t added = on_device(hip_, command->device, [&] { return add(graph, behind, *command, &node); });
      if (added != hipSuccess) {
        const hipError_t destroyed = gone(hip_.hipGraphDestroy, graph);
        return destroyed == hipErrorUnknown ? destroyed : added;
      }
      nodes.push_back(node);
    }
    *out = graph;
    return hipSuccess;
  }

 private:
  hipError_t add(hipGraph_t graph, const std::vector<hipGraphNode_t>& behind, const hgcommands_command& command,
                 hipGraphNode_t* node) const {
    const hgpatcher_node& n = command.node;
    const hipGraphNode_t* const first = behind.data();
    const size_t count = behind.size();
    switch (n.kind) {
      case HGPATCHER_KERNEL:
        return hip_.hipGraphAddKernelNode(node, graph, first, count, KernelParams(n.kernel).get());
      case HGPATCHER_COPY:
        if (n.linear == 0) return hip_.hipGraphAddMemcpyNode(node, graph, first, count, &n.copy);
        return hip_.hipGraphAddMemcpyNode1D(node, graph, first, count, n.copy.dstPtr.ptr, n.copy.srcPtr.ptr,
                                            n.copy.extent.width, n.copy.kind);
      case HGPATCHER_MEMSET:
        return hip_.hipGraphAddMemsetNode(node, graph, first, count, &n.memset);
      case HGPATCHER_HOST:
        return hip_.hipGraphAddHostNode(node, graph, first, count, &n.host);
      case HGPATCHER_EVENT_RECORD:
        return hip_.hipGraphAddEventRecordNode(node, graph, first, count, n.event);
      case HGPATCHER_EVENT_WAIT:
        return hip_.hipGraphAddEventWaitNode(node, graph, first, count, n.event);
      case HGPATCHER_CHILD:
        return add_nested(graph, behind, command, node);
      case HGPATCHER_OPAQUE:
        return hip_.hipGraphAddChildGraphNode(node, graph, first, count, command.traced);
      default:
        return hip_.hipGraphAddEmptyNode(node, graph, first, count);
    }
  }
  hipError_t add_nested(hipGraph_t graph, const std::vector<hipGraphNode_t>& behind, const hgcommands_command& command,
                        hipGraphNode_t* node) const {
    std::vector<const hgcommands_command*> nested;
    for (size_t i = 0; i < command.nested_count; ++i) nested.push_back(&command.nested[i]);
    hipGraph_t child = nullptr;
    std::vector<hipGraphNode_t> nodes;
    if (const hipError_t recorded = record(nested, &child, nodes); recorded != hipSuccess) return recorded;
    const hipError_t added = hip_.hipGraphAddChildGraphNode(node, graph, behind.data(), behind.size(), child);
    const hipError_t destroyed = gone(hip_.hipGraphDestroy, child);
    return added != hipSuccess ? added : destroyed;
  }

  const Hip& hip_;
};

}  // namespace shown

// The commands of the running step, and the executable graph of the last one.
struct hgcommands {
  shown::Hip hip;
  std::vector<const hgcommands_command*> commands;
  bool other_commands = false;
  hipGraphExec_t exec = nullptr;
  hipGraph_t graph = nullptr;  // that `exec` was instantiated from
  std::vector<hipGraphNode_t> nodes;
  std::vector<std::vector<unsigned char>> fields;  // of each command at the last step, where an example compares them

  // Records the step's commands and instantiates them. After an error of that all is as before; after an error of
  // destroying the old graph the new one is in place.
  hipError_t record_again() {
    hipGraph_t fresh = nullptr;
    std::vector<hipGraphNode_t> fresh_nodes;
    if (const hipError_t status = shown::Recorder(hip).record(commands, &fresh, fresh_nodes); status != hipSuccess)
      return status;
    hipGraphExec_t instantiated = nullptr;
    const hipError_t status = hip.hipGraphInstantiate(&instantiated, fresh, nullptr, nullptr, 0);
    if (status != hipSuccess) {
      const hipError_t destroyed = shown::gone(hip.hipGraphDestroy, fresh);
      return destroyed == hipErrorUnknown ? destroyed : status;
    }
    const hipError_t destroyed = destroy();
    exec = instantiated;
    graph = fresh;
    nodes = std::move(fresh_nodes);
    return destroyed;
  }
  hipError_t destroy() {
    const hipError_t first = shown::gone(hip.hipGraphExecDestroy, exec);
    const hipError_t second = shown::gone(hip.hipGraphDestroy, graph);
    exec = nullptr;
    graph = nullptr;
    return first != hipSuccess ? first : second;
  }
};

extern "C" {

uint32_t hgpatcher_abi(void) {
  return HGPATCHER_ABI_COMMANDS << 16 | HGCOMMANDS_SEVERAL_DEVICES;
}

hipError_t hgcommands_create(const hgpatcher_hip* hip, int, hgcommands** out) {
  auto* made = new hgcommands;
  if (!made->hip.find(hip)) {
    delete made;
    return hipErrorNotSupported;
  }
  *out = made;
  return hipSuccess;
}

hipError_t hgcommands_begin(hgcommands* self, size_t count, int other_commands) {
  self->commands.assign(count, nullptr);
  self->other_commands = other_commands != 0;
  return hipSuccess;
}

hipError_t hgcommands_update(hgcommands* self, size_t index, const hgcommands_command* command) {
  self->commands[index] = command;
  return hipSuccess;
}

void hgcommands_destroy(hgcommands* self) {
  if (self->destroy() != hipSuccess) fputs("an executable graph could not be destroyed at once\n", stderr);
  delete self;
}

}  // extern "C"
