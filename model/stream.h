// model::Stream, model::Event and the operations that wait on streams.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "model/clock.h"
#include "model/event_order.h"
#include "model/object.h"
#include "model/plan.h"

namespace model {

// hipStreamDefault and hipStreamNonBlocking.
inline constexpr unsigned kStreamDefault = 0;
inline constexpr unsigned kStreamNonBlocking = 1;

// The kinds of work of an operation. An empty node is a marker (event record, event wait).
struct GraphLaunch {
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const EventOrder> events = {};  // null: the plan has no event nodes
};
struct FreeMemory {
  Address address = 0;
  std::shared_ptr<Reservation> range;  // of memory of a graph or a stream; keeps the address until the free has run
};  // hipFreeAsync
struct AllocateMemory {
  std::shared_ptr<Reservation> range;
};  // hipMallocAsync
using Work = std::variant<NodeParams, GraphLaunch, FreeMemory, AllocateMemory>;

struct Operation {
  std::uint64_t number = 0;  // of the runtime, from 1
  StreamSlot stream = 0;
  std::uint64_t position = 0;  // in its stream, from 1; of a launch with event nodes the last of several
  Clock before;                // everything that must have happened, transitively
  Work work;
};

// hipStreamAttrValue: kept and handed out again, without effect. The priority is the stream's own.
struct StreamAttributes {
  AccessWindow window;
  int sync_policy = 1;  // hipSyncPolicyAuto
  int sync_domain = 0;
  unsigned char sync_domain_default = 0, sync_domain_remote = 0;
};

class Stream {
 public:
  Stream(ObjectId id, StreamSlot slot, unsigned flags, int priority, int device)
      : id_(id), slot_(slot), flags_(flags), priority_(priority), device_(device) {}
  [[nodiscard]] ObjectId id() const { return id_; }  // 0 for a null stream
  void set_id(ObjectId id) { id_ = id; }
  [[nodiscard]] StreamSlot slot() const { return slot_; }
  [[nodiscard]] unsigned flags() const { return flags_; }
  [[nodiscard]] int priority() const { return priority_; }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] const StreamAttributes& attributes() const { return attributes_; }
  void set_attributes(const StreamAttributes& attributes) { attributes_ = attributes; }
  void set_priority(int priority) { priority_ = priority; }
  [[nodiscard]] bool blocking() const { return (flags_ & kStreamNonBlocking) == 0; }

 private:
  ObjectId id_;
  StreamSlot slot_;
  unsigned flags_;
  int priority_;
  int device_;
  StreamAttributes attributes_;
};

class Event {
 public:
  explicit Event(unsigned flags, int device = 0) : flags_(flags), device_(device) {}
  [[nodiscard]] ObjectId id() const { return id_; }
  void set_id(ObjectId id) { id_ = id; }
  [[nodiscard]] unsigned flags() const { return flags_; }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] bool recorded() const { return recorded_; }
  // The clock that the last record stands for.
  [[nodiscard]] const Clock& point() const { return point_; }
  // When the event was last recorded, in the model's microseconds (Runtime::now_); 0: never.
  [[nodiscard]] std::uint64_t time() const { return time_; }
  void record(Clock point, std::uint64_t time) {
    point_ = std::move(point), recorded_ = true, time_ = time, capture_ = 0;
    captured_nodes_.clear();
  }
  // The capture in which the event was last recorded (0: none), and the nodes that the event stands for there.
  [[nodiscard]] std::uint64_t capture() const { return capture_; }
  [[nodiscard]] const std::vector<ObjectId>& captured_nodes() const { return captured_nodes_; }
  void record_captured(std::uint64_t capture, std::vector<ObjectId> nodes) {
    capture_ = capture, captured_nodes_ = std::move(nodes);
  }

 private:
  ObjectId id_ = 0;
  unsigned flags_;
  int device_;
  bool recorded_ = false;
  std::uint64_t time_ = 0;
  Clock point_;
  std::uint64_t capture_ = 0;
  std::vector<ObjectId> captured_nodes_;
};

}  // namespace model
