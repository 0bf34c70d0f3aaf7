// The rows of the scenarios, one in each file, and a function that they share.
#pragma once

#include "hip/errors.h"
#include "verify/race/fake_hip.h"
#include "verify/race/scenario.h"

namespace verify::race {

[[nodiscard]] Scenario stream_cache_scenario();
[[nodiscard]] Scenario trace_cache_scenario();
[[nodiscard]] Scenario worker_thread_scenario();
[[nodiscard]] Scenario current_stream_scenario();
[[nodiscard]] Scenario launcher_scenario();
[[nodiscard]] Scenario rank_agreement_scenario();
[[nodiscard]] Scenario remapped_ranks_scenario();
[[nodiscard]] Scenario stabiliser_scenario();
[[nodiscard]] Scenario stable_buffers_scenario();
[[nodiscard]] Scenario capture_modes_scenario();
[[nodiscard]] Scenario graph_nodes_scenario();
[[nodiscard]] Scenario graph_launches_scenario();

// Takes the errors that a system reports and that the scenario expects.
inline hip::ErrorSink no_sink() {
  return {[](void*, const hip::Error&) {}, nullptr};
}

}  // namespace verify::race
