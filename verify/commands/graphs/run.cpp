// How commands about whole graphs run.
//
// Each command either succeeds or reports an error and can be tried again. Recordings, places and handles always match
// the state of the runtime.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "hip/errors.h"
#include "verify/execute/dot_graph.h"
#include "verify/execute/inspector.h"
#include "verify/execute/rebuild.h"
#include "verify/run/run_command.h"

namespace verify {

namespace {

// A file in memory with a path that this process can open; it ends with this object. (A file in a folder costs a tenth
// of a campaign's time on the model.)
class PassingFile {
 public:
  PassingFile() : file_(memfd_create("hgcheck-dot", MFD_CLOEXEC)) {
    if (file_ >= 0) path_ = fmt::format("/proc/self/fd/{}", file_);
  }
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;
  ~PassingFile() {
    if (file_ >= 0) close(file_);
  }
  // Empty when the file could not be made: no function can open an empty path for writing.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

// The text that hipGraphDebugDotPrint writes.
hip::Result<std::string> dot_text(Run& run, const GraphObject& graph, std::uint32_t flags) {
  const PassingFile file;
  if (hip::Status status =
          hip::call<&hip::Api::hipGraphDebugDotPrint>(run.context.api, graph.handles.graph, file.path().c_str(), flags);
      !status) {
    return status.error();
  }
  std::ifstream stream(file.path());
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

hip::Status clone_graph(Run& run, const CloneGraph& c) {
  const GraphObject* from = run.live_graph(c.from);
  if (from == nullptr) return missing_object();
  const hip::Api& api = run.context.api;
  if (api.hipGraphClone == nullptr) return lacking(run.context, "hipGraphClone");
  if (api.hipGraphNodeFindInClone == nullptr) return lacking(run.context, "hipGraphNodeFindInClone");
  hip::RecordedGraph clone;
  hip::Status status = hip::call<&hip::Api::hipGraphClone>(api, &clone.graph, from->handles.graph);
  if (!status) return status;
  for (const hipGraphNode_t original : from->handles.nodes) {
    hipGraphNode_t node = nullptr;
    status = hip::call<&hip::Api::hipGraphNodeFindInClone>(api, &node, original, clone.graph);
    if (!status) {
      const hip::Status destroyed = hip::call<&hip::Api::hipGraphDestroy>(api, clone.graph);
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
  run.graphs[c.graph] = std::move(object);
  return {};
}

hip::Status change_edges(Run& run, GraphObject& object, const ChangeEdges& c) {
  const hip::Api& api = run.context.api;
  if (api.hipGraphAddDependencies == nullptr) return lacking(run.context, "hipGraphAddDependencies");
  if (api.hipGraphRemoveDependencies == nullptr) return lacking(run.context, "hipGraphRemoveDependencies");
  const NodePlace node = place_of(object.places, c.node);
  std::vector<std::pair<hip::NodeIndex, hip::NodeIndex>> pairs;
  std::vector<hipGraphNode_t> from, to;
  for (const Id id : c.after) {
    const NodePlace before = place_of(object.places, id);
    for (std::uint32_t i = 0; i < before.fan; ++i) {
      for (std::uint32_t k = 0; k < node.fan; ++k) {
        pairs.emplace_back(before.first + i, node.first + k);
        from.push_back(object.handles.nodes[before.first + i]);
        to.push_back(object.handles.nodes[node.first + k]);
      }
    }
  }
  const hipGraph_t handle = object.handles.graph;
  hip::Status status =
      c.add ? hip::call<&hip::Api::hipGraphAddDependencies>(api, handle, from.data(), to.data(), from.size())
            : hip::call<&hip::Api::hipGraphRemoveDependencies>(api, handle, from.data(), to.data(), from.size());
  if (!status) return status;
  for (const auto& [before, after] : pairs) {
    if (c.add) {
      object.recording.connect(before, after);
    } else {
      object.recording.disconnect(before, after);
    }
  }
  object.patcher.reset();
  return {};
}

// Notes that executable graphs of `graph` know the node by a handle that is not valid any more.
void forget_node(Run& run, Id graph, Id node) {
  for (auto& [id, exec] : run.execs) {
    if (!exec.alive || exec.origin != graph) continue;
    const NodePlace place = place_of(exec.places, node);
    for (std::uint32_t k = 0; k < place.fan; ++k) exec.removed.insert(place.first + k);
    exec.patcher.reset();
  }
}

// The same for all nodes of a graph that is about to be destroyed.
void forget_graph(Run& run, Id graph) {
  for (auto& [id, exec] : run.execs) {
    if (!exec.alive || exec.origin != graph) continue;
    for (hip::NodeIndex i = 0; i < exec.recording.nodes().size(); ++i) exec.removed.insert(i);
    exec.patcher.reset();
    if (!exec.owned) exec.handles.graph = nullptr;
  }
}

// A node with fan=N is N nodes of the runtime; a removal that a failure interrupted goes on where it stopped.
hip::Status remove_node(Run& run, GraphObject& object, const RemoveNode& c) {
  const hip::Api& api = run.context.api;
  if (api.hipGraphDestroyNode == nullptr) return lacking(run.context, "hipGraphDestroyNode");
  const auto place = std::ranges::find(object.places, c.node, &NodePlace::id);
  if (place == object.places.end()) return missing_object();
  object.patcher.reset();
  hip::Status status;
  std::uint32_t left = place->fan;
  while (left > 0) {
    status = hip::call<&hip::Api::hipGraphDestroyNode>(api, object.handles.nodes[place->first + left - 1]);
    if (!status) break;
    --left;
  }
  const std::uint32_t gone = place->fan - left;
  if (gone == 0) return status;
  forget_node(run, c.graph, c.node);
  const hip::NodeIndex first = place->first + left;
  object.recording.erase(first, gone);
  const auto handles = object.handles.nodes.begin() + first;
  object.handles.nodes.erase(handles, handles + gone);
  for (NodePlace& other : object.places) other.first -= other.first >= first + gone ? gone : 0;
  place->fan = left;
  if (left == 0) object.places.erase(place);
  return status;
}

hip::Status destroy_stream(Run& run, Id id) {
  if (!run.streams.contains(id)) return missing_object();
  // The thread that captures may stay in the capture, and the next program would meet it.
  if (run.captures.of(id) != nullptr) run.observation.spoils_process = true;
  hip::Status status = hip::call<&hip::Api::hipStreamDestroy>(run.context.api, run.streams.at(id));
  if (status) run.streams.erase(id);
  return status;
}

hip::Status destroy_event(Run& run, Id id) {
  if (!run.events.contains(id)) return missing_object();
  hip::Status status = hip::call<&hip::Api::hipEventDestroy>(run.context.api, run.events.at(id));
  if (status) run.events.erase(id);
  return status;
}

template <class Object>
hip::Status destroy_object(Run& run, Object* object) {
  return object == nullptr ? missing_object() : destroy(run.context, *object);
}

}  // namespace

template <>
hip::Status run_command(Run& run, const DeclareGraph& c) {
  GraphObject& graph = run.graphs[c.graph];
  graph.id = c.graph;
  graph.addresses = run.memory.addresses();
  hip::Status status = hip::call<&hip::Api::hipGraphCreate>(run.context.api, &graph.handles.graph, 0);
  graph.alive = static_cast<bool>(status);
  return status;
}

template <>
hip::Status run_command(Run& run, const CloneGraph& c) {
  return run.changing(nullptr, nullptr, [&] { return clone_graph(run, c); });
}

template <>
hip::Status run_command(Run& run, const FindInClone& c) {
  const GraphObject *clone = run.live_graph(c.clone), *original = run.live_graph(c.graph);
  if (clone == nullptr || original == nullptr) return missing_object();
  const hip::Api& api = run.context.api;
  if (api.hipGraphNodeFindInClone == nullptr) return lacking(run.context, "hipGraphNodeFindInClone");
  const NodePlace place = place_of(original->places, c.node);
  if (place.fan == 0) return missing_object();
  hipGraphNode_t node = nullptr;
  hip::Status status = hip::call<&hip::Api::hipGraphNodeFindInClone>(api, &node, original->handles.nodes[place.first],
                                                                     clone->handles.graph);
  if (!status) return status;
  run.attempt.seen = "a node that is not the clone's";
  for (const NodePlace& candidate : clone->places) {
    for (std::uint32_t k = 0; k < candidate.fan; ++k) {
      if (clone->handles.nodes[candidate.first + k] == node) run.attempt.seen = fmt::format("n{}", candidate.id);
    }
  }
  return {};
}

template <>
hip::Status run_command(Run& run, const ChangeEdges& c) {
  GraphObject* graph = run.live_graph(c.graph);
  if (graph == nullptr) return missing_object();
  return run.changing(nullptr, graph, [&] { return change_edges(run, *graph, c); });
}

template <>
hip::Status run_command(Run& run, const RemoveNode& c) {
  GraphObject* graph = run.live_graph(c.graph);
  if (graph == nullptr) return missing_object();
  return run.changing(nullptr, graph, [&] { return remove_node(run, *graph, c); });
}

template <>
hip::Status run_command(Run& run, const Inspect& c) {
  const bool of_graph = c.target == Target::kGraph;
  const GraphObject* graph = of_graph ? run.live_graph(c.id) : nullptr;
  const ExecObject* exec = of_graph ? nullptr : run.live_exec(c.id);
  if (graph == nullptr && exec == nullptr) return missing_object();
  Inspector inspector(run.context);
  hip::Result<std::string> said = of_graph ? inspector.look_at(*graph) : inspector.look_at(*exec);
  if (!said) return said.error();
  run.attempt.seen = std::move(said).value();
  return {};
}

template <>
hip::Status run_command(Run& run, const PrintDot& c) {
  const GraphObject* graph = run.live_graph(c.graph);
  if (graph == nullptr) return missing_object();
  const hip::Api& api = run.context.api;
  if (api.hipGraphDebugDotPrint == nullptr) return lacking(run.context, "hipGraphDebugDotPrint");
  const hip::Result<std::string> plain = dot_text(run, *graph, 0);
  if (!plain) return plain.error();
  const hip::Result<std::string> flagged = c.flags == 0 ? plain : dot_text(run, *graph, c.flags);
  if (!flagged) return flagged.error();
  run.attempt.seen = describe_dot(graph->recording, plain.value(), flagged.value(), c.flags);
  return {};
}

template <>
hip::Status run_command(Run& run, const Destroy& c) {
  if (run.may_wait_for_device()) {
    if (hip::Status s = synchronize_devices(run.context.api, run.context.devices); !s) return s;
  }
  switch (c.target) {
    case Target::kGraph:
      forget_graph(run, c.id);
      return destroy_object(run, run.live_graph(c.id));
    case Target::kExec:
      return destroy_object(run, run.live_exec(c.id));
    case Target::kStream:
      return destroy_stream(run, c.id);
    case Target::kEvent:
      return destroy_event(run, c.id);
    case Target::kDevice:
      break;
  }
  return hip::Error{hipErrorInvalidValue, "there is nothing to destroy"};
}

template struct FamilyRun<GraphsCommands>;

}  // namespace verify
