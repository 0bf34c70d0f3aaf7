// The devices of whole graphs and programs; the contract is in the header.
#include "verify/program/state_devices.h"

#include <algorithm>
#include <set>

#include "verify/program/rules.h"

namespace verify {

static void add_devices(const GraphState& graph, std::set<Id>& devices) {
  for (const NodeState& node : graph.nodes) {
    const bool copies = std::holds_alternative<CopyParams>(node.params);
    if (!copies) devices.insert(node.devices.begin(), node.devices.end());
    if (node.child) add_devices(*node.child, devices);
  }
}

Id home_of(const GraphState& graph) {
  std::set<Id> devices;
  add_devices(graph, devices);
  return devices.size() == 1 ? *devices.begin() : 0;
}

bool runs_on(const GraphState& graph, Id device) {
  return std::ranges::any_of(graph.nodes, [device](const NodeState& node) {
    if (node.child) return runs_on(*node.child, device);
    const bool runs =
        std::holds_alternative<KernelParams>(node.params) || std::holds_alternative<MemsetParams>(node.params);
    return runs && node.added_on == device;
  });
}

Id device_of_view(const State& state, Id id) {
  const BufferState* buffer = state.buffer(id);
  return buffer != nullptr && buffer->view ? buffer->device : 0;
}

Id devices_needed(const Program& program) {
  Id highest = 0;
  for (const Step& step : program.steps) {
    const Id device = std::visit([]<class C>(const C& c) { return Rules<C>::highest_device(c); }, step.command);
    highest = std::max(highest, device);
  }
  return highest + 1;
}

}  // namespace verify
