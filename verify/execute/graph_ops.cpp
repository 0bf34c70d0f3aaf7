#include "verify/execute/graph_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "hip/errors.h"
#include "hip/kernel_attributes.h"
#include "verify/execute/strategy.h"

namespace verify {

namespace {

hip::Status missing() {
  return hip::Error{hipErrorInvalidHandle, "an earlier command failed to make this object"};
}

}  // namespace

NodePlace place_of(const std::vector<NodePlace>& places, Id node) {
  const auto found = std::find_if(places.begin(), places.end(), [&](const NodePlace& p) { return p.id == node; });
  return found == places.end() ? NodePlace{node, 0, 0} : *found;
}

GraphObject* GraphOps::graph(Id id) {
  const auto found = graphs_.find(id);
  return found != graphs_.end() && found->second.alive ? &found->second : nullptr;
}

hip::Status GraphOps::perform(const CloneGraph& c) {
  const GraphObject* from = graph(c.from);
  if (from == nullptr) return missing();
  const hip::Api& api = machine_.api;
  if (api.hipGraphClone == nullptr) return lacking(machine_, "hipGraphClone");
  if (api.hipGraphNodeFindInClone == nullptr) return lacking(machine_, "hipGraphNodeFindInClone");
  hip::RecordedGraph clone;
  hip::Status status = hip::called(api.hipGraphClone(&clone.graph, from->handles.graph), "hipGraphClone");
  if (!status) return status;
  for (const hipGraphNode_t original : from->handles.nodes) {
    hipGraphNode_t node = nullptr;
    status = hip::called(api.hipGraphNodeFindInClone(&node, original, clone.graph), "hipGraphNodeFindInClone");
    if (!status) {
      const hip::Status destroyed = hip::called(api.hipGraphDestroy(clone.graph), "hipGraphDestroy");
      return destroyed ? status : destroyed;
    }
    clone.nodes.push_back(node);
  }
  GraphObject object;
  object.id = c.graph;
  object.alive = true;
  object.recording = from->recording;
  object.handles = std::move(clone);
  object.addresses = from->addresses;
  object.places = from->places;
  object.edited = from->edited;
  object.held_objects = from->held_objects;
  graphs_[c.graph] = std::move(object);
  return {};
}

hip::Status GraphOps::perform(const FindInClone& c, std::string* seen) {
  GraphObject *clone = graph(c.clone), *original = graph(c.graph);
  if (clone == nullptr || original == nullptr) return missing();
  if (machine_.api.hipGraphNodeFindInClone == nullptr) return lacking(machine_, "hipGraphNodeFindInClone");
  const NodePlace place = place_of(original->places, c.node);
  if (place.fan == 0) return missing();
  hipGraphNode_t node = nullptr;
  hip::Status status = hip::called(
      machine_.api.hipGraphNodeFindInClone(&node, original->handles.nodes[place.first], clone->handles.graph),
      "hipGraphNodeFindInClone");
  if (!status) return status;
  *seen = "a node that is not the clone's";
  for (const NodePlace& candidate : clone->places) {
    for (std::uint32_t k = 0; k < candidate.fan; ++k) {
      if (clone->handles.nodes[candidate.first + k] == node) *seen = fmt::format("n{}", candidate.id);
    }
  }
  return {};
}

hip::Status GraphOps::perform(const ChangeEdges& c) {
  GraphObject* object = graph(c.graph);
  if (object == nullptr) return missing();
  const hip::Api& api = machine_.api;
  if (api.hipGraphAddDependencies == nullptr) return lacking(machine_, "hipGraphAddDependencies");
  if (api.hipGraphRemoveDependencies == nullptr) return lacking(machine_, "hipGraphRemoveDependencies");
  const NodePlace node = place_of(object->places, c.node);
  std::vector<std::pair<hip::NodeIndex, hip::NodeIndex>> pairs;
  std::vector<hipGraphNode_t> from, to;
  for (const Id id : c.after) {
    const NodePlace before = place_of(object->places, id);
    for (std::uint32_t i = 0; i < before.fan; ++i) {
      for (std::uint32_t k = 0; k < node.fan; ++k) {
        pairs.emplace_back(before.first + i, node.first + k);
        from.push_back(object->handles.nodes[before.first + i]);
        to.push_back(object->handles.nodes[node.first + k]);
      }
    }
  }
  const hipGraph_t handle = object->handles.graph;
  hip::Status status = c.add ? hip::called(api.hipGraphAddDependencies(handle, from.data(), to.data(), from.size()),
                                           "hipGraphAddDependencies")
                             : hip::called(api.hipGraphRemoveDependencies(handle, from.data(), to.data(), from.size()),
                                           "hipGraphRemoveDependencies");
  if (!status) return status;
  for (const auto& [before, after] : pairs) {
    if (c.add) {
      object->recording.connect(before, after);
    } else {
      object->recording.disconnect(before, after);
    }
  }
  object->patcher.reset();
  return {};
}

// A fan is as many nodes; one that a failure interrupted goes on where it stopped.
hip::Status GraphOps::perform(const RemoveNode& c) {
  GraphObject* object = graph(c.graph);
  if (object == nullptr) return missing();
  if (machine_.api.hipGraphDestroyNode == nullptr) return lacking(machine_, "hipGraphDestroyNode");
  const auto place =
      std::find_if(object->places.begin(), object->places.end(), [&](const NodePlace& p) { return p.id == c.node; });
  if (place == object->places.end()) return missing();
  object->patcher.reset();
  while (place->fan > 0) {
    const hip::NodeIndex index = place->first;
    hip::Status status =
        hip::called(machine_.api.hipGraphDestroyNode(object->handles.nodes[index]), "hipGraphDestroyNode");
    if (!status) return status;
    forget_node(c.graph, c.node);
    object->recording.erase(index);
    object->handles.nodes.erase(object->handles.nodes.begin() + index);
    --place->fan;
    for (NodePlace& other : object->places) other.first -= other.first > index ? 1 : 0;
  }
  object->places.erase(place);
  return {};
}

// Executable graphs of `graph` know their node by a handle that is not valid any more.
void GraphOps::forget_node(Id graph, Id node) {
  for (auto& [id, exec] : execs_) {
    if (!exec.alive || exec.origin != graph) continue;
    const NodePlace place = place_of(exec.places, node);
    for (std::uint32_t k = 0; k < place.fan; ++k) exec.removed.insert(place.first + k);
    exec.patcher.reset();
  }
}

// Recorded again the nodes get them again; what those that are asked for are now is the runtime's answer.
hip::Status GraphOps::note_attributes(GraphObject& graph, const NodePlace& place,
                                      const hip::KernelAttributes& attributes, const hip::KernelAttributes& asked,
                                      std::string* seen) const {
  for (std::uint32_t k = 0; k < place.fan; ++k) {
    const hip::RecordedNode& node = graph.recording.nodes()[place.first + k];
    hip::KernelRecord record = std::get<hip::KernelRecord>(node.record);
    record.attributes = attributes;
    graph.recording.replace(place.first + k, std::move(record), std::vector(node.relocations));
  }
  const hip::Result<hip::KernelAttributes> now =
      hip::attributes_of(machine_.api, graph.handles.nodes[place.first], asked);
  if (!now) return now.error();
  *seen = describe(now.value());
  return {};
}

hip::Status GraphOps::perform(const SetAttributes& c, std::string* seen) {
  GraphObject* object = graph(c.graph);
  if (object == nullptr) return missing();
  const NodePlace place = place_of(object->places, c.node);
  if (place.fan == 0) return missing();
  const hip::KernelAttributes wanted{c.attributes.priority, c.attributes.cooperative};
  if (const char* function = hip::missing_for_attributes(machine_.api, wanted)) return lacking(machine_, function);
  for (std::uint32_t k = 0; k < place.fan; ++k) {
    hip::Status status = hip::set_attributes(machine_.api, object->handles.nodes[place.first + k], wanted);
    if (!status) return status;
  }
  hip::KernelAttributes merged = std::get<hip::KernelRecord>(object->recording.nodes()[place.first].record).attributes;
  if (wanted.priority) merged.priority = wanted.priority;
  if (wanted.cooperative) merged.cooperative = wanted.cooperative;
  return note_attributes(*object, place, merged, wanted, seen);
}

hip::Status GraphOps::perform(const CopyAttributes& c, std::string* seen) {
  GraphObject *object = graph(c.graph), *from = graph(c.from);
  if (object == nullptr || from == nullptr) return missing();
  const NodePlace place = place_of(object->places, c.node), source = place_of(from->places, c.source);
  if (place.fan == 0 || source.fan == 0) return missing();
  const hip::Api& api = machine_.api;
  if (api.hipGraphKernelNodeCopyAttributes == nullptr) return lacking(machine_, "hipGraphKernelNodeCopyAttributes");
  for (std::uint32_t k = 0; k < place.fan; ++k) {
    hip::Status status = hip::called(
        api.hipGraphKernelNodeCopyAttributes(from->handles.nodes[source.first], object->handles.nodes[place.first + k]),
        "hipGraphKernelNodeCopyAttributes");
    if (!status) return status;
  }
  const hip::KernelAttributes copied =
      std::get<hip::KernelRecord>(from->recording.nodes()[source.first].record).attributes;
  return note_attributes(*object, place, copied, copied, seen);
}

hip::Status GraphOps::perform(const EnableNode& c, std::string* seen) {
  const auto found = execs_.find(c.exec);
  if (found == execs_.end() || !found->second.alive) return missing();
  ExecObject& exec = found->second;
  const hip::Api& api = machine_.api;
  if (api.hipGraphNodeSetEnabled == nullptr) return lacking(machine_, "hipGraphNodeSetEnabled");
  if (api.hipGraphNodeGetEnabled == nullptr) return lacking(machine_, "hipGraphNodeGetEnabled");
  const NodePlace place = place_of(exec.places, c.node);
  std::string states;
  for (std::uint32_t k = 0; k < place.fan; ++k) {
    const hip::Result<unsigned> enabled = strategy_.enable(machine_, exec, place.first + k, c.enabled);
    if (!enabled) return enabled.error();
    states += enabled.value() == 0 ? '-' : enabled.value() == 1 ? '+' : '?';
  }
  *seen = std::move(states);
  return {};
}

std::string describe(const hip::KernelAttributes& attributes) {
  std::string text;
  if (attributes.cooperative) text = fmt::format("cooperative {}", *attributes.cooperative ? 1 : 0);
  if (attributes.priority) text += fmt::format("{}priority {}", text.empty() ? "" : " ", *attributes.priority);
  return text;
}

}  // namespace verify
