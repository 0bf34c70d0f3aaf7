// model::Capture: work given to streams becomes nodes of a graph instead of being done (stream capture).
//
// A capture begins on one stream, its origin, and spreads to the streams that wait for an event which was recorded in
// it. Every stream that takes part has a set of nodes that its next node depends on. The capture ends on the origin,
// after the origin has waited for all work of the other streams. Calls that HIP forbids meanwhile answer HIP's status
// and make the capture invalid: then nothing is added any more, and ending it answers kStreamCaptureInvalidated.
//
// Sources: HIP's header documentation of hipStreamBeginCapture and its neighbours; CUDA's programming guide, "Creating
// a Graph Using Stream Capture"; catch/unit/graph: hipStreamBeginCapture*.cc, hipStreamEndCapture.cc.
//
// A graph launch becomes a child graph node, hipMallocAsync a memory allocation node, and hipFreeAsync a free node.
// hipMalloc and hipFree are unsafe calls (refuse_unsafe_call(): kStreamCaptureUnsupported).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/graph.h"
#include "model/object.h"
#include "model/stream.h"

namespace model {

// The numbers of hipStreamCaptureMode: which threads' unsafe calls a capture forbids.
enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
// The numbers of hipStreamCaptureStatus.
enum class CaptureStatus : int { kNone = 0, kActive = 1, kInvalidated = 2 };

using ThreadId = std::uint64_t;  // of the host; whatever the caller tells threads apart by

class Capture {
 public:
  Capture(std::uint64_t id, const Stream& origin, ObjectId graph, bool owns_graph, CaptureMode mode, ThreadId thread)
      : id_(id), origin_(origin.slot()), graph_(graph), owns_graph_(owns_graph), mode_(mode), thread_(thread) {
    behind_[origin_];
  }

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] ObjectId graph() const { return graph_; }
  [[nodiscard]] bool owns_graph() const { return owns_graph_; }  // the graph was made for this capture
  [[nodiscard]] CaptureMode mode() const { return mode_; }
  [[nodiscard]] ThreadId thread() const { return thread_; }  // that began the capture
  [[nodiscard]] StreamSlot origin() const { return origin_; }
  [[nodiscard]] CaptureStatus status() const { return valid_ ? CaptureStatus::kActive : CaptureStatus::kInvalidated; }
  void invalidate() { valid_ = false; }

  [[nodiscard]] bool has(StreamSlot stream) const { return behind_.contains(stream); }
  // The ids of the nodes that the stream's next node depends on.
  [[nodiscard]] const std::vector<ObjectId>& behind(StreamSlot stream) const { return behind_.at(stream); }
  void set_behind(StreamSlot stream, std::vector<ObjectId> nodes) { behind_[stream] = std::move(nodes); }
  // The caller replaces the dependencies (hipStreamUpdateCaptureDependencies): the old ones need not be joined any
  // more.
  void replace_behind(StreamSlot stream, std::vector<ObjectId> nodes) {
    std::vector<ObjectId>& old = behind_[stream];
    taken_out_.insert(taken_out_.end(), old.begin(), old.end());
    old = std::move(nodes);
  }
  [[nodiscard]] const std::vector<ObjectId>& taken_out() const { return taken_out_; }
  // Adds dependencies of the stream's next node. A stream that takes no part yet begins to take part.
  void wait(StreamSlot stream, const std::vector<ObjectId>& nodes);
  void leave(StreamSlot stream) { behind_.erase(stream); }
  [[nodiscard]] const std::map<StreamSlot, std::vector<ObjectId>>& streams() const { return behind_; }

 private:
  std::uint64_t id_;
  StreamSlot origin_;
  ObjectId graph_;
  bool owns_graph_;
  CaptureMode mode_;
  ThreadId thread_;
  bool valid_ = true;
  std::map<StreamSlot, std::vector<ObjectId>> behind_;
  std::vector<ObjectId> taken_out_;
};

}  // namespace model
