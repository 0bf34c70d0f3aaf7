// Generators of streams and events, eager work, queries and stream captures. Internal to verify/generate.
//
// A capture is drawn as one episode, because buffers must not move during it: work on the origin, forks and joins,
// launches that become child nodes, eager work elsewhere, questions, and, seldom, something that HIP forbids. Most
// episodes end well and are instantiated.
#pragma once

#include "verify/generate/nodes.h"

namespace verify {

class StreamsDraft : protected NodesDraft {
 protected:
  using NodesDraft::NodesDraft;

  void declare_stream();
  void stream_or_event();
  void destroy_stream_or_event();
  void synchronize();
  void eager_work();
  void query();
  void capture();
  // Draws any work for a stream, without races; false: no work was added.
  bool work(Id stream);
  // Access of devices to each other's memory, and a copy that names the device of each end.
  void peers();
  // Instantiates a graph; in a program that records graphs anew, mostly destroys it at once.
  void instantiate(const Instantiate& command);
  // Updates an executable graph as frameworks do: its nodes are recorded or captured anew, at the present addresses,
  // into a graph that is mostly destroyed behind the update.
  void update_anew();
  // Loads a module, or unloads one that no graph has a kernel of.
  void modules();
  // Memory, on a stream that captures or beside it.
  virtual void in_capture(Id stream) = 0;
  // Changes what is mapped while a stream captures.
  virtual void map_during_capture() = 0;

 private:
  [[nodiscard]] std::vector<Id> usable_on_streams(const GraphState* graph) const;
  [[nodiscard]] std::vector<Id> capturing() const;
  Id other_thread() { return static_cast<Id>(choices_.percent(85) ? 0 : choices_.between(1, 2)); }
  void declare_event();
  void record(Id event);
  std::optional<Id> event_for(Id stream);
  [[nodiscard]] bool many_streams() const { return swarm_.most_streams > Swarm{}.most_streams; }
  std::optional<BeginCapture> begin();
  void capture_in_another_mode(const BeginCapture& earlier);
  void act_during_capture();
  // Ends all open captures, so that later commands may touch memory.
  void end_captures();
  void fork();
  // Makes a stream wait for another; seldom where HIP refuses it.
  void pass(Id from, Id to);
  void ring(Id from);
  void join();
  void launch_into(Id stream);
  // Adds a graph by hand, as a child, to the graph that the stream captures into.
  void child_into(Id stream);
  void change_dependencies(Id stream);
  [[nodiscard]] bool waits(Enqueue work);
  // A call of the rest of the process; one that HIP refuses only in programs with refusals.
  void call_beside();
  void destroy_beside();
  void forbidden();
  void join_everything(const CaptureState& capture);
  void end(std::uint64_t serial);
  void wait_for_some(Id stream);
  bool capture_anew(const GraphState& like, Id graph);
  void record_anew(const GraphState& like, Id graph);
};

}  // namespace verify
