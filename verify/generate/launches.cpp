#include "verify/generate/launches.h"

#include "verify/program/state_devices.h"

namespace verify {

void LaunchesDraft::launch() {
  const std::vector<Id> execs = alive(state_.execs());
  if (!execs.empty()) launch_exec(pick(execs));
}

void LaunchesDraft::launch_exec(Id exec) {
  if (swarm_.graph_memory || swarm_.stream_memory) before_launch(exec);
  if (swarm_.mapped_memory) reach_views(exec);
  patch_exec(exec);
  const bool null_stream = choices_.percent(swarm_.devices ? 10 : 50);
  const Launch command{exec, null_stream ? kNullStream : stream_for(state_.exec(exec)->graph)};
  if (state_.check(command)) return;
  const bool across = swarm_.event_nodes && choices_.percent(40);
  if (across) before_waits(command);
  if (state_.launch_races(exec, command.stream) || !may_stand(command)) take(Synchronize{Target::kDevice, 0});
  if (state_.launch_races(exec, command.stream)) return;  // a capture refuses the wait
  const std::uint32_t repeat = choices_.percent(4) ? static_cast<std::uint32_t>(choices_.between(2, 3)) : 1;
  take(command, repeat);
  if (across) behind_records(command);
}

template <class Params>
std::optional<Id> LaunchesDraft::event_of(const Launch& launch) {
  std::vector<Id> events;
  for (const NodeState& node : state_.exec(launch.exec)->graph.nodes) {
    if (const auto* params = std::get_if<Params>(&node.params)) events.push_back(params->event);
  }
  return events.empty() ? std::nullopt : std::optional<Id>(pick(events));
}

// Gives other streams work that event nodes order without a wait of the host: before_waits() adds work that the
// launch waits for, behind_records() adds work that waits for the launch.
void LaunchesDraft::before_waits(const Launch& launch) {
  const std::optional<Id> event = event_of<EventWaitParams>(launch), stream = other_stream(launch.stream);
  if (event && stream && work(*stream)) take(RecordEvent{*event, *stream});
}

void LaunchesDraft::behind_records(const Launch& launch) {
  const std::optional<Id> event = event_of<EventRecordParams>(launch), stream = other_stream(launch.stream);
  if (event && stream && take(WaitEvent{*stream, *event})) work(*stream);
}

std::optional<Id> LaunchesDraft::other_stream(Id stream) {
  std::vector<Id> streams = state_.live_streams();
  std::erase_if(streams, [&](Id each) {
    return each == stream || state_.device_of_stream(each) != state_.device_of_stream(stream);
  });
  return streams.empty() ? std::nullopt : std::optional<Id>(pick(streams));
}

// Mostly a stream of the graph's home device.
Id LaunchesDraft::stream_for(const GraphState& graph) {
  std::vector<Id> streams = state_.live_streams();
  if (swarm_.devices && choices_.percent(80)) {
    const Id home = home_of(graph);
    std::erase_if(streams, [&](Id stream) { return state_.device_of_stream(stream) != home; });
  }
  return streams.empty() ? kNullStream : pick(streams);
}

}  // namespace verify
