// verify::Captures: the stream captures of a run, and the nodes that each has captured so far.
//
// A capture that ends well becomes a graph like any other. Its recording has the work that the program gave to the
// streams as nodes, the dependencies that State's rules of capture give (not the runtime's: a runtime that lost an edge
// shows against them), and the runtime's handles, asked for node by node with hipStreamGetCaptureInfo_v2 as frameworks
// do. So patches, setters and updates work on it. Under every strategy, recording such a graph again builds it by hand,
// and the captured graph is compared with the rebuilt graph (P3, P9).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hip/recording.h"
#include "verify/execute/objects.h"
#include "verify/execute/observation.h"
#include "verify/program/state.h"

namespace verify {

struct Run;

struct CapturedNode {
  hip::RecordedNode node;
  hipGraphNode_t handle = nullptr;  // null: the runtime did not say
};

struct OpenCapture {
  std::vector<CapturedNode> nodes;
  std::size_t before = 0;  // nodes that State's graph had
  std::optional<unsigned long long> id;
};

class Captures {
 public:
  Captures(Run& run, const Program& program);
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  // Keeps up with the program: called when a command has been run and before the next one is. `fired`: a failure was
  // injected into it, so its status says nothing about rules.
  void ran(const Command& command, const StepStatus& status, bool fired);
  [[nodiscard]] bool capturing() const { return state_ && !state_->captures().empty(); }
  // The capture that a stream is in, or null.
  [[nodiscard]] const CaptureState* of(Id stream) const { return state_ ? state_->capture_of(stream) : nullptr; }
  // A call on a stream made `node`: it is in the stream's capture, when there is one.
  void add(Id stream, hip::RecordedNode node);

  // The rules of capture at the point that the program has reached; of programs that begin, end or ask about captures.
  [[nodiscard]] const State& state() const { return *state_; }
  // The capture that the command which is running begins.
  [[nodiscard]] OpenCapture& begun() { return open_[state_->captures_begun() + 1]; }
  [[nodiscard]] OpenCapture& open(const CaptureState& capture) { return open_[capture.serial]; }
  // P6: no host function of a capture has run by its end.
  void check_eager_work(const CaptureState& capture, std::string into);
  // The handles of nodes that a capture has or is going to have, by their names. Null for a node without a handle.
  [[nodiscard]] std::vector<hipGraphNode_t> handles_of(const CaptureState& capture, const std::vector<Id>& names) const;
  // A runtime gave this graph where it should have refused; it is destroyed at the program's end.
  void keep_stray(hipGraph_t graph) { strays_.push_back(graph); }

  // The program's end: open captures are ended, threads are as they were, graphs that nobody asked for are destroyed.
  void abandon();

 private:
  [[nodiscard]] hipGraphNode_t last_node(hipStream_t stream) const;
  void abandon(const CaptureState& capture);
  void reset_mode(Id thread);

  Run& run_;
  std::optional<State> state_;                 // of programs that capture
  std::map<std::uint64_t, OpenCapture> open_;  // by serial of State's capture
  std::vector<hipGraph_t> strays_;
};

// A node of a graph by its name, as handles: several where it is fanned out.
void append_handles(const GraphObject& graph, Id name, std::vector<hipGraphNode_t>& handles);

}  // namespace verify
