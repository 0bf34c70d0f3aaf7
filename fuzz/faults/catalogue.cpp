#include "fuzz/faults/catalogue.h"

#include <algorithm>
#include <utility>

#include "fuzz/faults/patchers.h"
#include "fuzz/faults/runtime/faults.h"
#include "fuzz/faults/systems/systems.h"

namespace fuzz {

namespace {

Fault runtime_fault(std::string_view id, std::string_view summary, std::vector<verify::PropertyId> properties) {
  return {id, "runtime", summary, std::move(properties), {}, find_runtime_fault(id)->make};
}

Fault system_fault(std::string_view id, std::string_view system, std::string_view summary, verify::PropertyId property,
                   verify::Parts parts, verify::System scenarios) {
  Fault fault{id, system, summary, {property}, {}, {}};
  fault.parts = std::move(parts);
  fault.scenarios = scenarios;
  return fault;
}

Fault deadly(Fault fault) {
  fault.ends_the_process = true;
  return fault;
}

}  // namespace

std::span<const Fault> faults() {
  using enum verify::PropertyId;
  using enum verify::System;
  static const std::vector<Fault> kFaults = {
      {"F01", "patcher", "scans kernelParams for values equal to an old address", {kA1}, scans_kernel_params(), {}},
      {"F02",
       "patcher",
       "scans packed argument blocks word by word and matches raw values",
       {kA1},
       scans_packed_blocks(),
       {}},
      {"F03", "patcher", "matches exact bases only: slices stay stale", {kA2}, matches_exact_bases(), {}},
      {"F04",
       "patcher",
       "applies moves one after another: swaps and cycles chain",
       {kA3},
       moves_one_after_another(),
       {}},
      {"F05", "patcher", "packs every argument as 8 bytes", {kA4}, packs_eight_bytes_each(), {}},
      {"F06", "patcher", "stops at a fixed number of arguments", {kA2}, holds_few_arguments(), {}},
      {"F07", "patcher", "re-issues 2D and 3D copies as 1D", {kA5}, flattens_copies(), {}},
      {"F08", "patcher", "sends every patched copy as device-to-device", {kA5}, sends_device_to_device(), {}},
      {"F09", "patcher", "skips child graphs", {kA2}, skips_child_graphs(), {}},
      deadly(
          {"F10", "patcher", "recurses into child graphs with no depth bound", {kP11}, recurses_without_bound(), {}}),
      {"F11", "patcher", "skips node types that it does not know", {kA7, kP5}, skips_unknown_nodes(), {}},
      {"F12",
       "patcher",
       "resolves dependencies of flattened nodes by position and drops those of skipped nodes",
       {kP5},
       flattens_by_position(),
       {}},
      {"F13",
       "patcher",
       "updates the graph's definition and not the executable graph",
       {kP3},
       patches_the_definition(),
       {}},
      {"F13r",
       "patcher",
       "updates the executable graph and not the graph's definition",
       {kP3, kP2},
       patches_the_executable_graph(),
       {}},
      {"F14", "patcher", "keeps the caller's argument buffer instead of a copy", {kP1}, borrows_arguments(), {}},
      {"F15", "patcher", "returns success when a setter half-way failed", {kP4}, swallows_errors(), {}},
      {"F16",
       "patcher",
       "its table of previous addresses is allocated outside RAII and never freed",
       {kP8},
       leaves_its_table_behind(),
       {}},
      {"F17",
       "patcher",
       "compares only with the addresses of the last call, which may have failed",
       {kP3, kP4},
       compares_with_the_last_call(),
       {}},
      system_fault("F18", "command buffer", "accepts an empty traced graph and instantiates it as a child", kP11,
                   instantiates_empty_traces(), kTraces),
      system_fault("F19", "command buffer", "finalises an empty body graph without a node", kP11,
                   finalises_empty_bodies(), kTraces),
      system_fault("F20", "trace cache", "keyed by address only: freed and reused addresses hit a stale trace", kA3,
                   keys_traces_by_address(), kTraces),
      system_fault("F21", "trace cache", "collectives are recorded on every call", kP10,
                   records_collectives_each_time(), kTraces),
      system_fault("F22", "trace cache", "ranks decide hit or miss on their own", kC6, ranks_decide_alone(), kTraces),
      system_fault("F23", "stabiliser", "persistent buffers are never freed", kP8, never_frees_its_buffers(),
                   kStabilizer),
      system_fault("F24", "stabiliser", "notes that a command is recorded before recording succeeds", kC3,
                   notes_the_recording_before_it_succeeds(), kStabilizer),
      system_fault("F27", "stabiliser", "teardown discards errors of deallocation", kC4, drops_errors_of_teardown(),
                   kStabilizer),
      system_fault("F28", "stabiliser", "copies results back to the address of an earlier step", kS4,
                   copies_back_to_an_earlier_step(), kStabilizer),
      system_fault("F29", "stabiliser", "reuses a cached buffer that is too small for a later step", kS4,
                   reuses_what_is_too_small(), kStabilizer),
      system_fault("F30", "stream cache", "caches a stream whose query returned an error", kC1,
                   caches_after_a_failed_query(), kCache),
      system_fault("F31", "stream cache", "queries and reuses a stream without making its device current", kC1,
                   never_makes_the_device_current(), kCache),
      system_fault("F32", "stream cache", "key without flags or priority", kC1, keys_by_device_alone(), kCache),
      system_fault("F33", "stream cache", "returns a stream that still has work", kC1, caches_busy_streams(), kCache),
      system_fault("F35", "streams", "synchronising handle 0 is a no-op", kS1, default_stream_needs_no_waiting(),
                   kStreams),
      system_fault("F36", "streams", "current stream shared between threads", kS2, one_current_stream_for_all_threads(),
                   kStreams),
      system_fault("F38", "launcher", "copies external arrays in on the default stream instead of the active one", kS1,
                   copies_in_on_the_default_stream(), kLauncher),
      system_fault("F39", "launcher",
                   "reads a result without the one synchronisation that it needs when there are no transfers", kS3,
                   waits_for_arrays_only(), kLauncher),
      system_fault("F40", "scratch buffer", "frees the old buffer before the new one is allocated", kS3,
                   frees_before_it_allocates(), kScratch),
      system_fault("F41", "scratch buffer", "keeps a pointer across a growing call", kS1,
                   keeps_a_pointer_across_growing(), kScratch),
      system_fault("F42", "scratch buffer", "a moved-from buffer loses its stream", kS3,
                   moved_from_forgets_its_stream(), kScratch),
      runtime_fault("U01", "a kernel setter keeps the caller's pointers", {kP1}),
      runtime_fault("U02", "an argument array that a getter returned is edited to point at the caller's memory", {kP1}),
      runtime_fault("U03", "setters of executable graphs hit the original graph", {kP2}),
      runtime_fault("U04", "nodes that share a kernel share its arguments", {kP2}),
      runtime_fault("U05", "an update looks at every node again after each node", {kP10}),
      runtime_fault("U06", "an update drops an error and runs what was there", {kP4}),
      runtime_fault("U07", "disabled nodes drop their edges", {kP5}),
      runtime_fault("U08", "waits are dropped once the streams wrap around", {kP5}),
      runtime_fault("U09", "a stream that waits for its own event while it captures recurses for ever", {kP7}),
      runtime_fault("U10", "captured work runs at once", {kP6}),
      runtime_fault("U11", "a graph with a redundant edge cannot be launched", {kP9}),
      runtime_fault("U12", "a copy's setter has its assignment reversed: the kind is never stored", {kP3}),
      runtime_fault("U13", "an event's query is rejected because of a capture elsewhere", {kP7}),
      runtime_fault("U14", "a failed end of a capture leaks the graph", {kP8}),
      runtime_fault("U15", "instantiating a graph without work takes the first of no commands", {kP11}),
      runtime_fault("U16", "a child graph's last launch is never released", {kP8}),
      runtime_fault("U17", "memory is handed out again while the stream that frees it still uses it", {kS1}),
  };
  return kFaults;
}

std::span<const RaceFault> race_faults() {
  static constexpr RaceFault kFaults[] = {
      {"F22", "trace cache", "ranks decide hit or miss on their own", "C6", "rank-agreement"},
      {"F25", "stabiliser", "the set of cached addresses is read outside the lock that guards its writes", "C5",
       "stable-buffers"},
      {"F26", "stabiliser", "looks up and inserts under two separate locks: two threads allocate, one allocation leaks",
       "C2", "stable-buffers"},
      {"F34", "worker thread", "members are destroyed while queued callbacks still use them", "C4", "worker-thread"},
      {"F36", "streams", "current stream shared between threads", "S2", "current-stream"},
      {"F37", "launcher", "a context goes through a list that another thread drains during the launch", "S1",
       "launcher"}};
  return kFaults;
}

const Fault* find_fault(std::string_view id) {
  const std::span<const Fault> all = faults();
  const auto found = std::find_if(all.begin(), all.end(), [id](const Fault& fault) { return fault.id == id; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace fuzz
