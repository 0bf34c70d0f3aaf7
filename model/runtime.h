// model::Runtime: the reference semantics of HIP graphs, streams and events in host memory.
//
// Work is deferred as far as HIP allows: an operation runs when the host synchronises with it (stream, event or device
// synchronisation, a blocking copy, hipFree) or, at the latest, in reset() and the destructor. Which of several ready
// operations runs first, and in which order a graph's nodes run, is chosen by Options::schedule_seed (0: in order of
// addition). A graph launch is one step with respect to other streams: results can only differ for programs with data
// races, and the runtime reports data races.
//
// An illegal access by an operation is a fault: nothing runs any more, and every later call answers the fault's status
// (HIP: sticky errors). Objects can still be destroyed.
//
// Not modelled: time, stream priorities (stored, without effect), several processes. Not thread-safe: the C ABI
// serialises calls.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/address_space.h"
#include "model/capture.h"
#include "model/graph.h"
#include "model/graph_exec.h"
#include "model/memory_pool.h"
#include "model/module.h"
#include "model/race.h"
#include "model/random.h"
#include "model/stream.h"
#include "model/virtual_memory.h"

namespace model {

inline constexpr int kMaxDevices = 64;
inline constexpr std::size_t kMaxPending = 4096;  // operations of one stream; more make the oldest ones run

struct Options {
  int devices = 1;
  std::uint64_t schedule_seed = 0;
  bool detect_races = true;
  AddressSpaceOptions memory;
};

// The first illegal action of an operation.
struct Fault {
  Status status = Status::kIllegalAddress;
  std::string text;   // for people: node, kernel, address, allocation (a former one if it is freed)
  ObjectId node = 0;  // 0 outside of graphs
  NodeType type = NodeType::kEmpty;
  std::uint64_t operation = 0;
  std::optional<BadAccess> access;
};

struct LiveHandles {
  std::size_t graphs = 0, nodes = 0, graph_execs = 0, streams = 0, events = 0, modules = 0, allocations = 0, bytes = 0,
              user_objects = 0, pools = 0;  // the default pools of devices are not counted
  bool operator==(const LiveHandles&) const = default;
};

class Runtime {
 public:
  explicit Runtime(const Options& options = {});
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();
  // Finishes pending work, drops everything and starts over, ids included.
  void reset(const Options& options);
  [[nodiscard]] const Options& options() const { return options_; }

  [[nodiscard]] AddressSpace& memory() { return memory_; }
  [[nodiscard]] const AddressSpace& memory() const { return memory_; }
  // Lowers the capacity of the memory: `bytes` of it are free until the next reset.
  void leave_free(std::size_t bytes);
  // Frees after synchronising with all devices (hipFree, hipHostFree).
  Status free(Address base);

  // Virtual memory management. The changes of mappings are calls of the runtime, which knows the work in flight
  // (remapping.cpp); everything else is the VirtualMemory's.
  [[nodiscard]] VirtualMemory& virtual_memory() { return virtual_memory_; }
  Status map(Address base, std::size_t size, std::uint64_t memory);
  Status unmap(Address base, std::size_t size);
  Status set_access(Address base, std::size_t size, std::span<const DeviceRight> rights);

  // Objects. `find_*` answer null for an id that is not a live object of that kind. find_graph() finds child graphs,
  // too; destroying a child graph is kInvalidValue.
  Graph& create_graph();
  Graph& clone_graph(const Graph& graph);
  Status destroy_graph(Graph& graph);
  Status instantiate(const Graph& graph, GraphExec** out, std::uint64_t flags = 0);
  void destroy_exec(GraphExec& exec);
  Stream& create_stream(unsigned flags, int priority, int device);
  Status destroy_stream(Stream& stream);  // finishes its work first; the null stream is kInvalidHandle
  Event& create_event(unsigned flags, int device = 0);
  void destroy_event(Event& event);
  Module& load_module(std::vector<std::shared_ptr<const Kernel>> kernels, int device = 0);
  void unload_module(Module& module);
  [[nodiscard]] Graph* find_graph(std::uint64_t id) const;
  [[nodiscard]] Node* find_node(std::uint64_t id) const;
  [[nodiscard]] GraphExec* find_exec(std::uint64_t id) const;
  [[nodiscard]] Stream* find_stream(std::uint64_t id) const;
  [[nodiscard]] Event* find_event(std::uint64_t id) const;
  [[nodiscard]] Module* find_module(std::uint64_t id) const;
  [[nodiscard]] Function* find_function(std::uint64_t id) const;
  // Stream-ordered memory and its pools (memory_pool.h).
  MemoryPool& create_pool(int device);
  Status destroy_pool(MemoryPool& pool);  // kInvalidValue for a device's default pool
  [[nodiscard]] MemoryPool* find_pool(std::uint64_t id) const;
  [[nodiscard]] MemoryPool& default_pool(int device);
  [[nodiscard]] MemoryPool& current_pool(int device);
  void set_current_pool(int device, MemoryPool& pool);
  [[nodiscard]] UserObjects& user_objects() { return user_objects_; }
  [[nodiscard]] Stream& null_stream(int device = 0);  // legacy: one a device, ordered with that device's blocking ones

  // Work. Everything is validated and copied now and runs later.
  Status enqueue(Stream& stream, NodeParams params);
  Status launch(GraphExec& exec, Stream& stream);
  Status allocate_async(std::size_t bytes, MemoryPool& pool, Stream& stream, Address* out);
  // Whether so much memory is free besides what streams were promised. Waits for frees where that is needed.
  [[nodiscard]] Status make_room(std::size_t bytes);
  Status free_async(Address base, Stream& stream);
  Status record(Event& event, Stream& stream);
  Status wait(Stream& stream, const Event& event);

  // The time between two events, in milliseconds as in HIP; each operation counts as a microsecond. kInvalidHandle for
  // events that were not recorded or belong to different devices, kNotReady while one of the events is pending.
  Status elapsed(const Event& from, const Event& to, float* milliseconds);

  // Capture (capture.h). While a stream takes part in a capture, its work becomes nodes of `into` (null: of a new
  // graph). The first nodes depend on `behind`.
  Status begin_capture(Stream& stream, CaptureMode mode, ThreadId thread, Graph* into = nullptr,
                       std::span<Node* const> behind = {});
  Status end_capture(Stream& stream, ThreadId thread, Graph** out);
  [[nodiscard]] Capture* capture_of(const Stream& stream) const;  // null: none
  // For calls that HIP forbids during a capture (allocation, event synchronisation). `caller` is the mode that the
  // thread chose with hipThreadExchangeStreamCaptureMode. Makes the captures that the call endangers invalid.
  Status refuse_unsafe_call(CaptureMode caller, ThreadId thread);
  // For synchronisation with a device: makes every capture invalid, whatever the modes.
  Status refuse_during_any_capture();
  // For work of that stream that cannot be captured, and for waits for the stream: makes its capture invalid.
  Status refuse_while_capturing(const Stream& stream);
  // Refuses use of the legacy null stream while a stream that is ordered with it captures: kStreamCaptureImplicit.
  Status refuse_null_stream(const Stream& stream);
  [[nodiscard]] bool endangers(const Stream& stream, const Capture& capture) const;  // asks whether that call refuses
  [[nodiscard]] const std::vector<std::unique_ptr<Capture>>& captures() const { return captures_; }

  // Synchronisation: all answer the fault's status once there is one.
  Status synchronize(Stream& stream);
  Status synchronize(const Event& event);
  Status synchronize_device();            // all devices
  Status synchronize_device(int device);  // the device's streams
  // kNotReady while work is pending; every such answer lets one operation run, so that polling ends.
  Status query(Stream& stream);
  Status query(const Event& event);

  // Access of devices to the memory of others: kept, and without effect, as every device reaches every allocation.
  // kInvalidDevice if `peer` is no other device; kPeerAccessAlreadyEnabled or kPeerAccessNotEnabled if access already
  // is as requested.
  Status set_peer_access(int device, int peer, bool enabled);

  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  [[nodiscard]] Status sticky() const { return fault_ ? fault_->status : Status::kSuccess; }
  [[nodiscard]] const std::vector<DataRace>& races() const { return races_; }  // the first kMaxRaces
  [[nodiscard]] std::uint64_t races_seen() const { return races_seen_; }
  [[nodiscard]] std::uint64_t operations() const { return operations_; }  // that streams were given; each has a number
  [[nodiscard]] std::uint64_t unchecked_launches() const { return unchecked_launches_; }  // too large for the detector
  [[nodiscard]] LiveHandles live_handles() const;
  // How many nodes and edges calls have visited (ObjectTable); a call of the C ABI counts itself with visit().
  [[nodiscard]] std::uint64_t visited() const { return objects_.visited(); }
  void visit() { objects_.visit(); }
  [[nodiscard]] std::size_t pending() const;
  // A host function is running: HIP forbids calls from inside it.
  [[nodiscard]] bool in_host_function() const { return in_host_function_; }

 private:
  struct Queue {
    std::deque<Operation> pending;
    std::uint64_t enqueued = 0, completed = 0;
    Clock clock;              // of the last operation enqueued, itself included
    Stream* owner = nullptr;  // null: the slot can be taken by another stream
  };
  // An operation that ran and that the host has not synchronised with: later operations may race with it.
  struct Ran {
    std::uint64_t number = 0;
    StreamSlot stream = 0;
    std::uint64_t position = 0;
    Clock before;
    std::vector<ObjectId> nodes;  // the node of each log; a single 0 for an operation outside of graphs
    std::vector<AccessLog> logs;  // normalised
    std::shared_ptr<const EventOrder> events = {};  // of a launch with event nodes
    struct By {
      int device = 0;
      bool copy = false;
    };
    std::vector<By> by = {};  // the device that carried out the operation of each log; only where one read or wrote
    // The position of log i in its stream, and the clock that it came after.
    [[nodiscard]] std::uint64_t position_of(std::size_t i) const {
      return events == nullptr ? position : position - events->positions() + 1 + events->group(i);
    }
    [[nodiscard]] const Clock& before_of(std::size_t i) const { return events == nullptr ? before : events->before(i); }
  };

  // A part of a reserved range that the host changed while the operations up to these counts were enqueued.
  struct MappingChange {
    MappingPart part;
    Clock enqueued;
  };

  Status route(const Stream& stream, Capture** capture);
  Status refuse_captured(const Event& event);
  Status add_captured(Capture& capture, const Stream& stream, NodeParams params);
  Status capture_launch(Capture& capture, const Stream& stream, const GraphExec& exec);
  Status wait_captured(Capture* capture, const Stream& stream, const Event& event);
  [[nodiscard]] std::vector<Node*> nodes_behind(const Capture& capture, StreamSlot stream) const;
  [[nodiscard]] bool all_joined(const Capture& capture, const Graph& graph) const;
  void drop_capture(const Capture& capture);
  void leave_capture(const Stream& stream);
  void start();
  void drop_everything();
  [[nodiscard]] Clock comes_before(const Stream& stream, const Clock* also_after);
  Status push(Stream& stream, Work work, const Clock* also_after, std::uint64_t positions = 1);
  [[nodiscard]] Status check_promises(const GraphExec& exec) const;
  Status free_promised(const GraphExec& exec, Stream& stream);
  void make_promises(const Plan& plan);
  Status free_reserved(Reservation& range, Address base);
  Status free_captured(Capture& capture, const Stream& stream, Address base);
  void run_allocation(const Operation& operation, const Reservation& range, Ran* ran);
  void forget_stream_memory(Address base);
  void run_memory_step(const NodeParams& params, ObjectId node, const Operation& operation, Ran* ran, std::size_t slot);
  Status launch_plan(GraphExec& exec, Stream& stream);
  Status launch_with_events(GraphExec& exec, Stream& stream);
  void record_events(const EventOrder& order, const Plan& plan, StreamSlot stream, std::uint64_t first);
  [[nodiscard]] static const Clock& race_clock(const Operation& operation);
  void order_with_null_stream(const Stream& stream, Clock* before);
  void order_with_null_stream_for_host(const Stream& stream, Clock* target);
  [[nodiscard]] bool ready(const Operation& operation) const;
  [[nodiscard]] bool waits_for_value(const Operation& operation) const;
  [[nodiscard]] StreamSlot choose_past_wait() const;
  [[nodiscard]] bool done(const Clock& point) const;
  [[nodiscard]] StreamSlot choose(const Clock& target);
  void run_head(StreamSlot slot);
  void drain(const Clock& target);
  void run(Operation& operation);
  void run_graph(const Operation& operation, const Plan& plan, Ran* ran);
  void run_free(const Operation& operation, Address base, Ran* ran);
  void run_step(const NodeParams& params, ObjectId node, const Operation& operation, Ran* ran, std::size_t slot);
  void raise_fault(Status status, const NodeParams& params, ObjectId node, const Operation& operation,
                   const std::optional<BadAccess>& bad, const std::string& why);
  void abandon_pending();
  [[nodiscard]] int device_of(const NodeParams& params, const Operation& operation) const;
  void mapping_changed(const MappingPart& part);
  void check_mapping_changes(Ran& ran);
  void report_change(const MappingPart& part, Ran& ran, std::size_t log);
  void check_races_in_graph(const Plan& plan, const Ran& ran);
  void check_races_between_streams(const Ran& ran);
  void report(const DataRace& race);
  void host_synchronized(const Clock& point);
  Status synchronize_with(const Clock& target);
  Status poll(const Clock& target);

  Options options_;
  Random random_;
  ObjectTable objects_;
  AddressSpace memory_;
  VirtualMemory virtual_memory_{objects_, memory_};
  bool in_host_function_ = false;
  UserObjects user_objects_{objects_, in_host_function_};  // outlives whatever holds references
  std::vector<Queue> queues_;
  std::set<std::pair<int, int>> peers_;  // (device, peer): enabled access of `device` to the memory of `peer`
  Clock host_;                           // the operations that the host has synchronised with
  std::deque<Ran> ran_;
  std::vector<MappingChange> changes_;
  std::uint64_t operations_ = 0;
  std::uint64_t now_ = 0;  // microseconds: one for each operation, and for each node of a launch that records events
  std::optional<Fault> fault_;
  std::vector<DataRace> races_;
  std::uint64_t races_seen_ = 0;
  std::uint64_t unchecked_launches_ = 0;
  std::uint64_t captures_made_ = 0;
  std::vector<std::unique_ptr<Capture>> captures_;
  std::vector<std::unique_ptr<Graph>> graphs_;
  std::vector<std::unique_ptr<GraphExec>> execs_;
  std::vector<std::unique_ptr<Stream>> null_streams_;  // by device; their slots are their devices
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::unique_ptr<Event>> events_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::vector<std::shared_ptr<MemoryPool>> pools_;
  std::map<int, MemoryPool*> current_pools_;  // by device; none: the default one
  std::map<Address, StreamMemory> stream_memory_;
  std::map<Address, std::shared_ptr<Reservation>>
      graph_memory_;  // that launches allocated, and nothing has freed since
};

}  // namespace model
