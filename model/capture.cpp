// Stream capture: how work becomes nodes, and when a capture may end; the contract is in the header.
#include "model/capture.h"

#include <algorithm>
#include <cassert>
#include <set>

#include "model/runtime.h"

namespace model {
namespace {

// The nodes of `from` and all their ancestors.
std::set<const Node*> ancestors(const Graph& graph, const std::vector<Node*>& from) {
  std::set<const Node*> seen;
  std::vector<const Node*> open(from.begin(), from.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    for (const Node* dependency : graph.dependencies(*node)) open.push_back(dependency);
  }
  return seen;
}

// Rebuilds a graph from the nodes of an executable graph, level by level. A disabled node becomes an empty node.
Status rebuild(const std::vector<NodeView>& views, ObjectTable& objects, const AddressSpace& space, Graph* graph) {
  std::vector<Node*> nodes;
  for (const NodeView& view : views) {
    Node* node = nullptr;
    Status status = Status::kSuccess;
    if (view.type == NodeType::kChild) {
      Graph child(objects, space);
      status = rebuild(view.children, objects, space, &child);
      if (status == Status::kSuccess) status = graph->add_child(child, {}, &node);
    } else {
      status = graph->add(view.enabled ? *view.params : NodeParams{EmptyParams{}}, {}, &node);
    }
    if (status != Status::kSuccess) return status;
    nodes.push_back(node);
  }
  std::vector<Node*> from, to;
  for (std::size_t i = 0; i < views.size(); ++i) {
    for (const std::uint32_t dependency : views[i].dependencies) {
      from.push_back(nodes[dependency]);
      to.push_back(nodes[i]);
    }
  }
  return graph->add_edges(from, to);
}

}  // namespace

void Capture::wait(StreamSlot stream, const std::vector<ObjectId>& nodes) {
  std::vector<ObjectId>& behind = behind_[stream];
  for (const ObjectId node : nodes) {
    if (std::ranges::find(behind, node) == behind.end()) behind.push_back(node);
  }
}

Capture* Runtime::capture_of(const Stream& stream) const {
  for (const auto& capture : captures_) {
    if (capture->has(stream.slot())) return capture.get();
  }
  return nullptr;
}

// Nodes that were removed from the graph meanwhile are left out: no node can depend on them.
std::vector<Node*> Runtime::nodes_behind(const Capture& capture, StreamSlot stream) const {
  std::vector<Node*> nodes;
  for (const ObjectId id : capture.behind(stream)) {
    if (Node* node = find_node(id)) nodes.push_back(node);
  }
  return nodes;
}

Status Runtime::begin_capture(Stream& stream, CaptureMode mode, ThreadId thread, Graph* into,
                              std::span<Node* const> behind) {
  if (fault_) return sticky();
  if (stream.id() == 0) return Status::kStreamCaptureUnsupported;
  if (capture_of(stream) != nullptr) return Status::kIllegalState;
  std::vector<ObjectId> nodes;
  for (const Node* node : behind) {
    if (into == nullptr || &node->graph() != into) return Status::kInvalidValue;
    nodes.push_back(node->id());
  }
  const ObjectId graph = into != nullptr ? into->id() : create_graph().id();
  captures_.push_back(std::make_unique<Capture>(++captures_made_, stream, graph, into == nullptr, mode, thread));
  captures_.back()->set_behind(stream.slot(), std::move(nodes));
  return Status::kSuccess;
}

// Whether every node that another stream captured is an ancestor of the origin's last nodes, or of dependencies that
// the program replaced itself (Unit_hipStreamSetCaptureDependencies_Positive_Functional).
bool Runtime::all_joined(const Capture& capture, const Graph& graph) const {
  std::vector<Node*> last = nodes_behind(capture, capture.origin());
  for (const ObjectId id : capture.taken_out()) {
    if (Node* node = find_node(id)) last.push_back(node);
  }
  const std::set<const Node*> seen = ancestors(graph, last);
  for (const auto& [stream, unused] : capture.streams()) {
    for (const Node* node : nodes_behind(capture, stream)) {
      if (!seen.contains(node)) return false;
    }
  }
  return true;
}

Status Runtime::end_capture(Stream& stream, ThreadId thread, Graph** out) {
  *out = nullptr;
  Capture* capture = capture_of(stream);
  if (capture == nullptr) return Status::kIllegalState;
  if (capture->origin() != stream.slot()) return Status::kStreamCaptureUnmatched;
  if (capture->mode() != CaptureMode::kRelaxed && capture->thread() != thread) return Status::kStreamCaptureWrongThread;
  Graph* graph = find_graph(capture->graph());
  Status status = Status::kSuccess;
  if (graph == nullptr || capture->status() == CaptureStatus::kInvalidated) {
    status = Status::kStreamCaptureInvalidated;
  } else if (!all_joined(*capture, *graph)) {
    status = Status::kStreamCaptureUnjoined;
  }
  if (status != Status::kSuccess) {
    drop_capture(*capture);
    return status;
  }
  std::erase_if(captures_, [capture](const auto& one) { return one.get() == capture; });
  *out = graph;
  return Status::kSuccess;
}

void Runtime::drop_capture(const Capture& capture) {
  Graph* graph = find_graph(capture.graph());
  if (graph != nullptr && capture.owns_graph()) {
    const Status destroyed = destroy_graph(*graph);
    assert(destroyed == Status::kSuccess);
    (void)destroyed;
  }
  std::erase_if(captures_, [&capture](const auto& one) { return one.get() == &capture; });
}

// For a stream that is destroyed. The origin drops the capture; any other stream leaves it. Nodes of that stream that
// no stream has waited for can never be joined, so they make the capture invalid.
void Runtime::leave_capture(const Stream& stream) {
  Capture* capture = capture_of(stream);
  if (capture == nullptr) return;
  if (capture->origin() == stream.slot()) {
    drop_capture(*capture);
    return;
  }
  const Graph* graph = find_graph(capture->graph());
  if (graph == nullptr || !all_joined(*capture, *graph)) capture->invalidate();
  capture->leave(stream.slot());
}

Status Runtime::add_captured(Capture& capture, const Stream& stream, NodeParams params) {
  Graph* graph = find_graph(capture.graph());
  if (graph == nullptr || capture.status() == CaptureStatus::kInvalidated) return Status::kStreamCaptureInvalidated;
  Node* node = nullptr;
  const Status status = graph->add(std::move(params), nodes_behind(capture, stream.slot()), &node);
  if (status == Status::kSuccess) capture.set_behind(stream.slot(), {node->id()});
  return status;
}

// HIP, "HIP graphs": work given to a capturing stream is not executed but defined as nodes. CUDA's guide: a launch
// becomes a child graph node. The child graph is a copy of the executable graph in its present state.
Status Runtime::capture_launch(Capture& capture, const Stream& stream, const GraphExec& exec) {
  Graph* graph = find_graph(capture.graph());
  if (graph == nullptr || capture.status() == CaptureStatus::kInvalidated) return Status::kStreamCaptureInvalidated;
  Graph child(objects_, memory_);
  if (const Status status = rebuild(exec.inspect(), objects_, memory_, &child); status != Status::kSuccess) {
    return status;
  }
  Node* node = nullptr;
  const Status status = graph->add_child(child, nodes_behind(capture, stream.slot()), &node);
  if (status == Status::kSuccess) capture.set_behind(stream.slot(), {node->id()});
  return status;
}

// Whether `stream` is a legacy null stream that would have to wait for work that `capture` only records.
bool Runtime::endangers(const Stream& stream, const Capture& capture) const {
  if (stream.id() != 0) return false;
  for (const auto& [slot, unused] : capture.streams()) {
    const Stream* taking_part = queues_[slot].owner;
    if (taking_part != nullptr && taking_part->blocking() && taking_part->device() == stream.device()) return true;
  }
  return false;
}

Status Runtime::refuse_null_stream(const Stream& stream) {
  Status status = Status::kSuccess;
  for (const auto& capture : captures_) {
    if (!endangers(stream, *capture)) continue;
    capture->invalidate();
    status = Status::kStreamCaptureImplicit;
  }
  return status;
}

Status Runtime::refuse_during_any_capture() {
  for (const auto& capture : captures_) capture->invalidate();
  return captures_.empty() ? Status::kSuccess : Status::kStreamCaptureUnsupported;
}

// Where an operation goes: to `*capture`, or (null) to the stream itself.
Status Runtime::route(const Stream& stream, Capture** capture) {
  *capture = capture_of(stream);
  return *capture != nullptr ? Status::kSuccess : refuse_null_stream(stream);
}

Status Runtime::refuse_while_capturing(const Stream& stream) {
  Capture* capture = nullptr;
  if (const Status status = route(stream, &capture); status != Status::kSuccess) return status;
  if (capture == nullptr) return Status::kSuccess;
  capture->invalidate();
  return Status::kStreamCaptureUnsupported;
}

Status Runtime::refuse_unsafe_call(CaptureMode caller, ThreadId thread) {
  if (caller == CaptureMode::kRelaxed) return Status::kSuccess;
  Status status = Status::kSuccess;
  for (const auto& capture : captures_) {
    const bool mine = capture->thread() == thread;
    const bool everybodys = capture->mode() == CaptureMode::kGlobal && caller == CaptureMode::kGlobal;
    if (capture->mode() == CaptureMode::kRelaxed || (!mine && !everybodys)) continue;
    capture->invalidate();
    status = Status::kStreamCaptureUnsupported;
  }
  return status;
}

Status Runtime::refuse_captured(const Event& event) {
  if (event.capture() == 0) return Status::kSuccess;
  for (const auto& capture : captures_) {
    if (capture->id() != event.capture()) continue;
    capture->invalidate();
    return Status::kCapturedEvent;
  }
  // The event was recorded in a capture that is over. No work was done that the caller could wait for.
  return Status::kCapturedEvent;
}

// A wait whose stream takes part in a capture or whose event was recorded in one.
Status Runtime::wait_captured(Capture* capture, const Stream& stream, const Event& event) {
  Capture* of_event = nullptr;
  for (const auto& one : captures_) {
    if (event.capture() != 0 && one->id() == event.capture()) of_event = one.get();
  }
  if (of_event == nullptr) {
    // The event stands for work outside of every capture, or it was recorded in a capture that is over.
    if (capture != nullptr) capture->invalidate();
    return event.capture() != 0 ? Status::kCapturedEvent : Status::kStreamCaptureIsolation;
  }
  if (capture != nullptr && capture != of_event) {
    capture->invalidate();
    of_event->invalidate();
    return Status::kStreamCaptureMerge;
  }
  if (of_event->status() == CaptureStatus::kInvalidated) return Status::kStreamCaptureInvalidated;
  if (stream.id() == 0) {
    of_event->invalidate();
    return Status::kStreamCaptureImplicit;
  }
  of_event->wait(stream.slot(), event.captured_nodes());
  return Status::kSuccess;
}

}  // namespace model
