// verify::CaptureOps: what the executor does about eager work, queries and stream capture.
//
// A capture that ends well becomes a graph like any other: a recording whose nodes are what the program gave to the
// streams, with the dependencies that the rules of capture say (State's, not the runtime's: a runtime that lost an edge
// shows against them), and the runtime's handles, asked for node by node with hipStreamGetCaptureInfo_v2 as frameworks
// do. So patches, setters and updates work on it. Recording such a graph again builds it by hand, under every strategy:
// the rebuilt graph is what the captured one is held against (P3, P9).
//
// Calls for `thread=N` are made by a helper thread that takes turns with this one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "verify/execute/enqueue.h"
#include "verify/execute/objects.h"
#include "verify/execute/observation.h"
#include "verify/execute/platform.h"
#include "verify/program/state.h"

namespace verify {

class CaptureOps {
 public:
  // What a run has; it outlives this.
  struct Context {
    Platform& platform;
    Interposer& interposer;
    Machine& machine;
    Trace& trace;
    std::map<Id, GraphObject>& graphs;
    std::map<Id, ExecObject>& execs;
    std::map<Id, hipStream_t>& streams;
    std::map<Id, hipEvent_t>& events;
    std::function<Id(Id)> device_of_stream;
    std::function<Id(Id)> device_of_buffer;
    std::function<hip::RecordedNode(const NodeParams&)> record;
    std::function<hip::RecordedNode(hip::RecordedNode)> as_added;  // to a capture: Strategy::as_added
    std::function<void(GraphObject&, const hip::RecordedNode&)> note_addresses;
    std::function<std::uint64_t(const hip::HostRecord&)> host_runs;  // how often that host function has run
  };
  CaptureOps(Context context, const Program& program);

  // Keeps up with the program: called when a command has been run and before the next one is. `fired`: a failure was
  // injected into it, so its status says nothing about rules.
  void ran(std::size_t step, const Command& command, const StepStatus& status, bool fired);
  [[nodiscard]] bool capturing() const { return state_ && !state_->captures().empty(); }

  hip::Status perform(const Enqueue& c);
  hip::Status perform(const Query& c);
  hip::Status perform(const Elapsed& c);
  hip::Status perform(const BeginCapture& c);
  hip::Status perform(const EndCapture& c, std::string& seen);
  hip::Status perform(const CaptureInfo& c, std::string& seen);
  hip::Status perform(const CaptureAfter& c);
  hip::Status perform(const ExchangeCaptureMode& c, std::string& seen);
  hip::Status perform(const UnsafeCall& c);
  // An executable graph was launched on a stream: into its capture, when it has one.
  void launched(Id stream, const ExecObject& exec);
  // What a call made of a stream's capture, when it has one: a memory node.
  void captured(Id stream, hip::RecordedNode node);

  // The program's end: open captures are ended, threads are as they were, graphs that nobody asked for are destroyed.
  void abandon();

  hip::Status on_thread(Id thread, const std::function<hip::Status()>& body);

 private:
  struct Node {
    hip::RecordedNode node;
    hipGraphNode_t handle = nullptr;
  };
  // What was captured so far, by serial of State's capture.
  struct Open {
    std::vector<Node> nodes;
    std::size_t before = 0;  // nodes that State's graph had
    std::optional<unsigned long long> id;
  };
  [[nodiscard]] std::optional<CopyOfPeers> peers_of(const NodeParams& params, const hip::NodeRecord& record) const;
  hip::Status missing() const;
  hip::Status unsupported(const char* function);
  [[nodiscard]] bool has_stream(Id id) const { return id == kNullStream || context_.streams.contains(id); }
  [[nodiscard]] hipStream_t stream(Id id) const;
  [[nodiscard]] const CaptureState* capture_of(Id stream) const;
  void add(Id stream, hip::RecordedNode node);
  [[nodiscard]] hipGraphNode_t last_node(hipStream_t stream) const;
  [[nodiscard]] std::vector<hipGraphNode_t> handles_of(const CaptureState& capture, const std::vector<Id>& names) const;
  [[nodiscard]] std::string names_of(const CaptureState& capture, std::vector<hipGraphNode_t> handles) const;
  hip::Status spoil(const EndCapture& c, const hip::Status& status);
  hip::Status ended(const EndCapture& c, hipGraph_t graph, std::string& seen);
  void append(GraphObject& object, const CaptureState& capture, Open& open);
  void look_for_eager_work(std::string into, const Open& open);

  Context context_;
  std::optional<State> state_;  // of programs that capture
  std::map<std::uint64_t, Open> open_;
  std::vector<hipGraph_t> strays_;  // that a runtime gave where it should have refused
  std::size_t step_ = 0;
};

}  // namespace verify
