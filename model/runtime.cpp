// A runtime's objects: creation, destruction, lookup. work.cpp queues work, execution.cpp executes it.
#include "model/runtime.h"

#include <algorithm>
#include <cassert>

namespace model {
namespace {

// Searches from the end: as a rule, programs destroy recently created objects first.
template <class T>
void erase(std::vector<std::unique_ptr<T>>& owners, const T& object) {
  const auto found =
      std::find_if(owners.rbegin(), owners.rend(), [&](const auto& owner) { return owner.get() == &object; });
  assert(found != owners.rend() && "not an object of this runtime");
  std::swap(*found, owners.back());
  owners.pop_back();
}

}  // namespace

Runtime::Runtime(const Options& options) : options_(options), random_(options.schedule_seed), memory_(options.memory) {
  start();
}

Runtime::~Runtime() {
  drop_everything();
}

void Runtime::start() {
  assert(options_.devices >= 1 && options_.devices <= kMaxDevices);
  queues_.resize(static_cast<std::size_t>(options_.devices));
  for (int device = 0; device < options_.devices; ++device) {
    const auto slot = static_cast<StreamSlot>(device);
    null_streams_.push_back(std::make_unique<Stream>(0, slot, kStreamDefault, 0, device));
    queues_[slot].owner = null_streams_.back().get();
  }
}

void Runtime::drop_everything() {
  // The contract says that pending work is finished. A fault of this work is dropped with everything else.
  (void)synchronize_device();
  user_objects_.abandon();
  captures_.clear();
  graphs_.clear();
  execs_.clear();
  for (const auto& stream : streams_) objects_.remove(stream->id());
  streams_.clear();
  null_streams_.clear();
  for (const auto& event : events_) objects_.remove(event->id());
  events_.clear();
  modules_.clear();
  queues_.clear();
  stream_memory_.clear();
  graph_memory_.clear();
  current_pools_.clear();
  for (const auto& pool : pools_) objects_.remove(pool->id);
  pools_.clear();
  peers_.clear();
  virtual_memory_.clear();
  objects_.clear();
  ran_.clear();
  changes_.clear();
  host_.clear();
  races_.clear();
  fault_.reset();
  operations_ = now_ = races_seen_ = unchecked_launches_ = captures_made_ = 0;
}

void Runtime::reset(const Options& options) {
  drop_everything();
  options_ = options;
  random_ = Random(options.schedule_seed);
  memory_.reset(options.memory);
  start();
}

void Runtime::leave_free(std::size_t bytes) {
  options_.memory.capacity = memory_.live_bytes() + bytes;
  memory_.limit(options_.memory.capacity);
}

Stream& Runtime::null_stream(int device) {
  assert(device >= 0 && device < options_.devices);
  return *null_streams_[static_cast<std::size_t>(device)];
}

// hipFree: "This API performs an implicit hipDeviceSynchronize() call."
Status Runtime::free(Address base) {
  if (Reservation* range = memory_.find_reservation(base)) return free_reserved(*range, base);
  const Allocation* found = memory_.find(base);
  if (found == nullptr || found->base != base || found->physical != 0) return Status::kInvalidValue;
  const Status synchronized = synchronize_device();
  const Status released = memory_.release(base);
  return synchronized != Status::kSuccess ? synchronized : released;
}

Graph& Runtime::create_graph() {
  graphs_.push_back(std::make_unique<Graph>(objects_, memory_));
  return *graphs_.back();
}

Graph& Runtime::clone_graph(const Graph& graph) {
  graphs_.push_back(graph.clone());
  return *graphs_.back();
}

Status Runtime::destroy_graph(Graph& graph) {
  if (graph.parent_node() != nullptr) return Status::kInvalidValue;
  erase(graphs_, graph);
  return Status::kSuccess;
}

Status Runtime::instantiate(const Graph& graph, GraphExec** out, std::uint64_t flags) {
  // Unit_hipGraphAddMemAllocNode_Negative_NotSupported: "More than one instantation of the graph exists".
  const auto of_this = [&graph](const auto& other) { return other->source() == graph.id(); };
  if (graph.has_memory_nodes() && std::ranges::any_of(execs_, of_this)) return Status::kNotSupported;
  std::unique_ptr<GraphExec> exec;
  if (const Status status = GraphExec::instantiate(objects_, memory_, graph, &exec, flags);
      status != Status::kSuccess) {
    return status;
  }
  *out = exec.get();
  execs_.push_back(std::move(exec));
  return Status::kSuccess;
}

void Runtime::destroy_exec(GraphExec& exec) {
  erase(execs_, exec);
}

Stream& Runtime::create_stream(unsigned flags, int priority, int device) {
  assert(device >= 0 && device < options_.devices);
  StreamSlot slot = 0;
  while (slot < queues_.size() && queues_[slot].owner != nullptr) ++slot;
  if (slot == queues_.size()) queues_.emplace_back();
  auto stream = std::make_unique<Stream>(0, slot, flags, priority, device);
  stream->set_id(objects_.add(ObjectKind::kStream, stream.get()));
  queues_[slot].owner = stream.get();
  streams_.push_back(std::move(stream));
  return *streams_.back();
}

// hipStreamDestroy may wait for the stream's work; here it always does.
Status Runtime::destroy_stream(Stream& stream) {
  if (stream.id() == 0) return Status::kInvalidHandle;
  leave_capture(stream);
  const Status status = synchronize(stream);
  queues_[stream.slot()].owner = nullptr;
  objects_.remove(stream.id());
  erase(streams_, stream);
  return status;
}

Event& Runtime::create_event(unsigned flags, int device) {
  assert(device >= 0 && device < options_.devices);
  auto event = std::make_unique<Event>(flags, device);
  event->set_id(objects_.add(ObjectKind::kEvent, event.get()));
  events_.push_back(std::move(event));
  return *events_.back();
}

void Runtime::destroy_event(Event& event) {
  objects_.remove(event.id());
  erase(events_, event);
}

Status Runtime::set_peer_access(int device, int peer, bool enabled) {
  if (peer < 0 || peer >= options_.devices || device == peer) return Status::kInvalidDevice;
  if (enabled == peers_.contains({device, peer}))
    return enabled ? Status::kPeerAccessAlreadyEnabled : Status::kPeerAccessNotEnabled;
  if (enabled) peers_.emplace(device, peer);
  if (!enabled) peers_.erase({device, peer});
  return Status::kSuccess;
}

Module& Runtime::load_module(std::vector<std::shared_ptr<const Kernel>> kernels, int device) {
  modules_.push_back(std::make_unique<Module>(objects_, std::move(kernels), device));
  return *modules_.back();
}

void Runtime::unload_module(Module& module) {
  erase(modules_, module);
}

Graph* Runtime::find_graph(std::uint64_t id) const {
  return static_cast<Graph*>(objects_.find(ObjectKind::kGraph, id));
}
Node* Runtime::find_node(std::uint64_t id) const {
  return static_cast<Node*>(objects_.find(ObjectKind::kNode, id));
}
GraphExec* Runtime::find_exec(std::uint64_t id) const {
  return static_cast<GraphExec*>(objects_.find(ObjectKind::kGraphExec, id));
}
Stream* Runtime::find_stream(std::uint64_t id) const {
  return static_cast<Stream*>(objects_.find(ObjectKind::kStream, id));
}
Event* Runtime::find_event(std::uint64_t id) const {
  return static_cast<Event*>(objects_.find(ObjectKind::kEvent, id));
}
Module* Runtime::find_module(std::uint64_t id) const {
  return static_cast<Module*>(objects_.find(ObjectKind::kModule, id));
}
Function* Runtime::find_function(std::uint64_t id) const {
  return static_cast<Function*>(objects_.find(ObjectKind::kFunction, id));
}

LiveHandles Runtime::live_handles() const {
  return {.graphs = graphs_.size(),
          .nodes = objects_.live(ObjectKind::kNode),
          .graph_execs = execs_.size(),
          .streams = streams_.size(),
          .events = events_.size(),
          .modules = modules_.size(),
          .allocations = memory_.live().size(),
          .bytes = memory_.live_bytes(),
          .user_objects = user_objects_.live(),
          .pools = static_cast<std::size_t>(
              std::ranges::count_if(pools_, [](const auto& pool) { return !pool->of_device; }))};
}

std::size_t Runtime::pending() const {
  std::size_t count = 0;
  for (const Queue& queue : queues_) count += queue.pending.size();
  return count;
}

}  // namespace model
