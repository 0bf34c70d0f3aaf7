#include "fuzz/faults/catalogue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "fuzz/faults/lists.h"
#include "fuzz/faults/runtime/faults.h"

namespace fuzz {

namespace {

Fault runtime_fault(std::string_view id, std::string_view summary, std::vector<verify::PropertyId> properties) {
  return {.id = id,
          .system = "runtime",
          .summary = summary,
          .properties = std::move(properties),
          .layer = find_runtime_fault(id)->make};
}

// The files of fuzz/faults/runtime describe each fault.
std::vector<Fault> layer_faults() {
  using enum verify::PropertyId;
  return {
      runtime_fault("U01", "a kernel setter keeps the caller's pointers", {kP1}),
      runtime_fault("U02", "an argument array that a getter returned is edited to point at the caller's memory", {kP1}),
      runtime_fault("U03", "setters of executable graphs hit the original graph", {kP2, kA2}),
      runtime_fault("U04", "nodes that share a kernel share its arguments", {kP2, kA3}),
      runtime_fault("U05", "an update looks at every node again after each node", {kP10}),
      runtime_fault("U06", "an update drops an error and runs what was there", {kP4}),
      runtime_fault("U07", "disabled nodes drop their edges", {kP5}),
      runtime_fault("U08", "waits are dropped once the streams wrap around", {kP5}),
      runtime_fault("U09", "a stream that waits for its own event while it captures recurses for ever", {kP7}),
      runtime_fault("U10", "captured work runs at once", {kP6}),
      runtime_fault("U11", "a graph with a redundant edge cannot be launched", {kP9}),
      runtime_fault("U12", "a copy's setter has its assignment reversed: the kind is never stored", {kP3, kP11}),
      runtime_fault("U13", "an event's query is rejected because of a capture elsewhere", {kP7}),
      runtime_fault("U14", "a failed end of a capture leaks the graph", {kP8}),
      runtime_fault("U15", "instantiating a graph without work takes the first of no commands", {kP11}),
      runtime_fault("U16", "a child graph's last launch is never released", {kP8}),
      runtime_fault("U17", "a kernel's setter does not record its packet again: the old arguments run", {kP3}),
      runtime_fault("U18", "a setter of a disabled node overwrites the packet of the next node", {kP3, kP2, kA3, kA4}),
      runtime_fault("U19", "each setter takes another slot for arguments, and none is given back", {kP8}),
      runtime_fault("U21", "a captured copy leaves a leaked duplicate of its node", {kP8}),
      runtime_fault("U22", "a memset's setter applies only to memory with a pitch", {kP3}),
      runtime_fault("U23", "the N-th launch executes N times", {kP3}),
      runtime_fault("U24", "a launch prunes edges of the caller's graph", {kP2}),
      runtime_fault("U25", "a captured free is lost", {kP5, kP6, kP8, kP11}),
      runtime_fault("U26", "a capture goes by the mode of the capture before it", {kP7}),
      runtime_fault("U27", "memory that escapes its captured graph is unmapped when the launch is done", {kP12, kP8}),
      runtime_fault("U28", "an instantiation that fails leaks what it had made", {kP8}),
      runtime_fault("U30", "memory is handed out again while the stream that frees it still uses it", {kS1}),
      runtime_fault("U31", "a memset's setter that is refused has stored its parameters", {kP11}),
      runtime_fault("U32", "edges that are refused leave those before the wrong one", {kP11}),
      runtime_fault("U33", "a second begin of a capture is refused and ends the first", {kP4, kP7, kP11}),
      runtime_fault("U34", "an update that is refused has updated the nodes before the difference", {kP4}),
      runtime_fault("U35", "an instantiation that is refused keeps an edge that it took out of the graph", {kP4}),
  };
}

}  // namespace

std::span<const Fault> faults() {
  static const std::vector<Fault> kFaults = [] {
    std::vector<Fault> all;
    for (const auto list :
         {value_scan_faults, address_match_faults, packing_faults, copies_faults, children_faults,
          unbounded_recursion_faults, unknown_nodes_faults, wrong_target_faults, borrowed_arguments_faults,
          swallowed_errors_faults, address_tables_faults, launcher_faults, remapper_faults, scratch_buffer_faults,
          stabilizer_faults, stream_cache_faults, stream_faults, trace_faults, layer_faults}) {
      std::ranges::move(list(), std::back_inserter(all));
    }
    std::ranges::sort(all, {}, &Fault::id);
    return all;
  }();
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
       "launcher"},
      {"M12", "remapper", "peers map in another order than they launch", "C6", "remapped-ranks"},
      {"U20", "runtime", "node ids are counted without a lock: two threads get one", "C5", "graph-nodes"},
      {"U29", "runtime", "a completion callback runs after its owner is gone", "C4", "graph-launches"}};
  return kFaults;
}

const Fault* find_fault(std::string_view id) {
  const std::span<const Fault> all = faults();
  const auto found = std::ranges::find(all, id, &Fault::id);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace fuzz
