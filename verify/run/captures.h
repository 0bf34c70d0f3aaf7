// verify::Captures: the stream captures of a run, and the nodes that each has captured so far.
//
// A capture that succeeds becomes a graph like any other. Its recording holds the work that the program gave to the
// streams as nodes, the dependencies by State's rules of capture (not the runtime's: so a runtime that lost an edge is
// noticed), and the runtime's node handles, queried node by node with hipStreamGetCaptureInfo_v2 as frameworks do. So
// patches, setters and updates work on the graph. Under every strategy, recording such a graph again adds its nodes by
// hand, so the captured graph is compared with a graph built by hand (P3, P9).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hip/recording.h"
#include "verify/execute/objects.h"
#include "verify/execute/observation.h"
#include "verify/program/state.h"

namespace verify {

struct Run;

struct CapturedNode {
  hip::RecordedNode node;
  hipGraphNode_t handle = nullptr;  // null: the runtime did not report it
};

struct OpenCapture {
  std::vector<CapturedNode> nodes;
  std::size_t before = 0;  // nodes that the graph had before the capture
  std::optional<unsigned long long> id;
};

class Captures {
 public:
  Captures(Run& run, const Program& program);
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  // Called after each command, before the next one runs. `fired`: a failure was injected into the command, so its
  // status says nothing about the rules of capture.
  void ran(const Command& command, const StepStatus& status, bool fired);
  [[nodiscard]] bool capturing() const { return state_ && !state_->captures().empty(); }
  // The capture that a stream is in, or null.
  [[nodiscard]] const CaptureState* of(Id stream) const { return state_ ? state_->capture_of(stream) : nullptr; }
  // Notes that a call on a stream made `node`: the node belongs to the stream's capture, when there is one.
  void add(Id stream, hip::RecordedNode node);

  // Adds a node to the graph that a stream captures into, behind the stream's dependencies, and puts the stream's next
  // node behind it. add() then notes it.
  hip::Status add_by_hand(Id stream, const hip::RecordedNode& node, hip::NodeExtras& extras);

  // HIP's answer to the running command by the rules of capture.
  [[nodiscard]] int answer(const Command& command) const { return state_ ? state_->answer(command).status : 0; }
  // The rules of capture after the commands so far; only for programs that begin, end or ask about captures.
  [[nodiscard]] const State& state() const { return *state_; }
  // The capture that the running command begins.
  [[nodiscard]] OpenCapture& begun() { return open_[state_->captures_begun() + 1]; }
  [[nodiscard]] OpenCapture& open(const CaptureState& capture) { return open_[capture.serial]; }
  // Checks that no host function of a capture has run by its end (P6).
  void check_eager_work(const CaptureState& capture, std::string into);
  // The handles of nodes that a capture has or is going to have, by their names. Null for a node without a handle.
  [[nodiscard]] std::vector<hipGraphNode_t> handles_of(const CaptureState& capture, const std::vector<Id>& names) const;
  // Keeps a graph that a runtime returned where it should have refused; it is destroyed at the program's end.
  void keep_stray(hipGraph_t graph) { strays_.push_back(graph); }

  // Threads of a block follow the rules each on its own, because the rules know one order of all commands. What a
  // thread follows is swapped in while it has the turn.
  struct Followed {
    std::optional<State> state;
    std::map<std::uint64_t, OpenCapture> open;
  };
  [[nodiscard]] Followed of_thread() const { return {state_, {}}; }
  void swap(Followed& other) {
    std::swap(state_, other.state);
    std::swap(open_, other.open);
  }
  // The block has ended: its steps come one after the other.
  void ran_in_threads(std::span<const Step> block);

  // At the program's end: ends open captures, resets the threads' capture modes, and destroys graphs from keep_stray().
  void abandon();

 private:
  // The graph of a stream's capture, and the nodes that the stream's next node waits for.
  struct Behind {
    hipGraph_t graph = nullptr;  // null: the runtime reports no capture
    std::vector<hipGraphNode_t> nodes;
  };
  [[nodiscard]] static hip::Result<Behind> behind(const hip::Api& api, hipStream_t stream);
  [[nodiscard]] hipGraphNode_t last_node(hipStream_t stream) const;
  void note_invalid();
  // Notes a capture that failed on the per-thread stream. Runtimes may keep the stream invalid, or keep the capture's
  // last nodes, and the stream outlives the program. A graph that it captured into may be gone.
  void note_failed(const CaptureState& capture);
  void cannot_clean_up(const char* what);
  void abandon(const CaptureState& capture);
  void reset_mode(Id thread);

  Run& run_;
  std::optional<State> state_;                 // of programs that capture
  std::map<std::uint64_t, OpenCapture> open_;  // by serial of State's capture
  std::vector<hipGraph_t> strays_;
};

// Appends the handles of the graph's node that has this name: several where the node is a fan.
void append_handles(const GraphObject& graph, Id name, std::vector<hipGraphNode_t>& handles);

}  // namespace verify
