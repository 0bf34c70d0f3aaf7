// The faulty systems, one factory each; what is wrong with each is said where it is defined. A factory answers the real
// parts with its own in one place.
#pragma once

#include "verify/systems/parts.h"

namespace fuzz {

// stream_caches.cpp
[[nodiscard]] verify::Parts caches_after_a_failed_query();
[[nodiscard]] verify::Parts never_makes_the_device_current();
[[nodiscard]] verify::Parts keys_by_device_alone();
[[nodiscard]] verify::Parts caches_busy_streams();
// streams.cpp
[[nodiscard]] verify::Parts default_stream_needs_no_waiting();
[[nodiscard]] verify::Parts one_current_stream_for_all_threads();
// launchers.cpp
[[nodiscard]] verify::Parts copies_in_on_the_default_stream();
[[nodiscard]] verify::Parts waits_for_arrays_only();
// scratch_buffers.cpp
[[nodiscard]] verify::Parts frees_before_it_allocates();
[[nodiscard]] verify::Parts keeps_a_pointer_across_growing();
[[nodiscard]] verify::Parts moved_from_forgets_its_stream();
// stabilizers.cpp
[[nodiscard]] verify::Parts never_frees_its_buffers();
[[nodiscard]] verify::Parts notes_the_recording_before_it_succeeds();
[[nodiscard]] verify::Parts drops_errors_of_teardown();
[[nodiscard]] verify::Parts copies_back_to_an_earlier_step();
[[nodiscard]] verify::Parts reuses_what_is_too_small();
// traces.cpp
[[nodiscard]] verify::Parts instantiates_empty_traces();
[[nodiscard]] verify::Parts finalises_empty_bodies();
[[nodiscard]] verify::Parts keys_traces_by_address();
[[nodiscard]] verify::Parts records_collectives_each_time();
[[nodiscard]] verify::Parts ranks_decide_alone();

}  // namespace fuzz
