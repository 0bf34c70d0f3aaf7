// Event record and event wait nodes. Sources: HIP's header documentation; catch/unit/graph:
// hipGraphAddEventRecordNode.cc, hipGraphAddEventWaitNode.cc, hipGraphEvent{Record,Wait}Node{Get,Set}Event.cc,
// hipGraphExecEvent*NodeSetEvent.cc: a null or unknown handle, or a node of another type, is
// hipErrorInvalidValue.
#include "model/abi/node_place.h"

namespace model::abi {
namespace {

template <class Params>
Status add_event(State& state, const Where& where, hipEvent_t event) {
  const Event* found = find(state, event);
  return found == nullptr ? Status::kInvalidValue : add(state, where, Params{found->id()});
}

// Returns the event's handle even if the event has been destroyed.
template <class Params>
Status get_event(State& state, hipGraphNode_t node, hipEvent_t* event) {
  const Node* found = find(state, node);
  if (found == nullptr || event == nullptr || !std::holds_alternative<Params>(found->params())) {
    return Status::kInvalidValue;
  }
  return put(event, to_handle<hipEvent_t>(std::get<Params>(found->params()).event));
}

template <class Params>
Status set_event(State& state, hipGraphNode_t node, hipEvent_t event) {
  Node* found = find(state, node);
  const Event* to = find(state, event);
  if (found == nullptr || to == nullptr) return Status::kInvalidValue;
  return found->graph().set_params(*found, Params{to->id()});
}

template <class Params>
Status set_exec_event(State& state, hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
  GraphExec* in = find(state, exec);
  const Node* found = find(state, node);
  const Event* to = find(state, event);
  if (in == nullptr || found == nullptr || to == nullptr) return Status::kInvalidValue;
  return in->set_params(found->id(), Params{to->id()});
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                      size_t count, hipEvent_t event) {
  return call(
      [&](State& state) { return add_event<EventRecordParams>(state, {node, graph, dependencies, count}, event); });
}

hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    size_t count, hipEvent_t event) {
  return call(
      [&](State& state) { return add_event<EventWaitParams>(state, {node, graph, dependencies, count}, event); });
}

hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return call([&](State& state) { return get_event<EventRecordParams>(state, node, event); });
}

hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return call([&](State& state) { return get_event<EventWaitParams>(state, node, event); });
}

hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return call([&](State& state) { return set_event<EventRecordParams>(state, node, event); });
}

hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return call([&](State& state) { return set_event<EventWaitParams>(state, node, event); });
}

hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
  return call([&](State& state) { return set_exec_event<EventRecordParams>(state, exec, node, event); });
}

hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
  return call([&](State& state) { return set_exec_event<EventWaitParams>(state, exec, node, event); });
}

HGMODEL_FUNCTIONS_END
