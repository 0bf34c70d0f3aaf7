// model::EventOrder: the order that the event nodes of one launch create, inside the launch and outside of it.
//
// An event record node records its event each time the graph is launched, at the node: an operation that waits for the
// record comes after the node and its ancestors, not after the rest of the graph. An event wait node waits for the
// record that its event holds at the launch: the node's descendants come after that record, the other nodes do not.
// Events are read in the order of the launches (Unit_hipGraphAddEventRecordNode_*, Unit_hipGraphAddEventWaitNode_*;
// CUDA's documentation of cudaGraphAddEventRecordNode: "each launch of the graph will record event").
//
// A launch still runs as one step: its wait nodes delay all of it, and an event recorded by it is done when all of it
// is. That is legal, and shows only in programs with data races. The race detector uses the finer order kept here:
// a launch with r record nodes takes r + 1 positions of its stream, and every step is put at the first one that all
// records from there on come after. So the order is exact for records that follow each other, and too weak for records
// that nothing orders with each other. A wait node behind a record node of the same event in the same launch adds no
// order to that of the edges.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/clock.h"
#include "model/object.h"

namespace model {

class Event;
struct Plan;

class EventOrder {
 public:
  // `base`: the clock that the launch comes after independently of its nodes. `find` knows every event of the plan.
  EventOrder(const Plan& plan, Clock base, const std::function<const Event&(ObjectId)>& find);

  [[nodiscard]] const Clock& base() const { return clocks_.front(); }
  // The merged clock of all events that the wait nodes wait for.
  [[nodiscard]] const Clock& waited() const { return waited_; }
  // How many positions of its stream the launch takes, and at which of them (from 0) a step stands.
  [[nodiscard]] std::uint64_t positions() const { return records_.size() + 1; }
  [[nodiscard]] std::uint64_t group(std::size_t step) const { return groups_[step]; }
  // The clock that a step comes after, outside of the launch.
  [[nodiscard]] const Clock& before(std::size_t step) const { return clocks_[which_[step]]; }
  // The record nodes' steps, in order: the k-th is the last of group k.
  [[nodiscard]] const std::vector<std::uint32_t>& records() const { return records_; }

 private:
  void place_steps(const Plan& plan);
  void wait(const Plan& plan, const std::function<const Event&(ObjectId)>& find);

  std::vector<std::uint32_t> records_;
  std::vector<std::uint64_t> groups_;  // by step
  std::vector<Clock> clocks_;          // the first one: base
  std::vector<std::uint32_t> which_;   // by step
  Clock waited_;
};

}  // namespace model
