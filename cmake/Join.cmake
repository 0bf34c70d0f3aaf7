# hgcheck_join(TARGETS...): several sources of a target are compiled at once, which saves most of the time that a
# compiler spends on headers. `./dev` asks for it, so that its first build is quick.
#
# Off unless asked for: each source has to stand by itself, and ccache knows single sources better. Sources that define
# a name for themselves that another source of their target defines, too, are listed here and compiled alone, and so is
# executor.cpp, which must not see how commands run (verify/run/run_command.h). A source that is missing in the list
# does not compile then; `./dev` says so and compiles all of them alone. There is no -Wshadow in a joined target
# (cmake/Options.cmake): a local name may be the name of a function of another source.
option(HGCHECK_JOIN "Compile several sources of a target at once" OFF)

set(HGCHECK_JOINED_AT_ONCE 8)
set(HGCHECK_APART
    bench/counting_api.cpp
    fuzz/faults/systems/scratch_buffers.cpp fuzz/faults/systems/stabilizers.cpp fuzz/faults/systems/stream_caches.cpp
    hip/cached_allocator.cpp hip/driver_nodes.cpp hip/flatten.cpp hip/generic_nodes.cpp hip/kernel_attributes.cpp
    hip/launcher.cpp hip/record_graph.cpp hip/recording.cpp hip/release_quirks.cpp
    hip/agent/handlers.cpp hip/agent/queue.cpp hip/agent/signals.cpp
    model/abi/device_image.cpp model/abi/graphs.cpp model/abi/peers.cpp model/abi/pools.cpp model/abi/unsupported.cpp
    model/dot.cpp
    model/gfx942/flat.cpp model/gfx942/vop_double.cpp model/gfx942/vop_float.cpp model/gfx942/vop_int.cpp
    model/gfx942/vop_packed.cpp model/gfx942/vop_short.cpp
    reports/html_sections.cpp reports/json.cpp reports/markdown.cpp
    tests/hip/by_host_test.cpp tests/hip/cached_allocator_test.cpp tests/hip/device_nodes_test.cpp
    tests/hip/graph_patcher_test.cpp tests/hip/launcher_test.cpp tests/hip/patch_safety_test.cpp
    tests/model/graph_memory_test.cpp tests/model/params_test.cpp
    tests/reports/junit_test.cpp
    tests/verify/devices_test.cpp tests/verify/export/families_test.cpp tests/verify/generator_test.cpp
    tests/verify/graph_memory_test.cpp tests/verify/systems/beside_captures_test.cpp
    tests/verify/systems/cached_allocator_test.cpp
    tests/verify/systems/differential_capture_test.cpp tests/verify/systems/scratch_release_test.cpp
    tests/verify/systems/traced_commands_test.cpp tests/verify/systems/worker_model_test.cpp
    verify/race/scenarios/stable_buffers.cpp verify/race/scenarios/stream_cache.cpp
    verify/race/scenarios/trace_cache.cpp
    verify/run/executor.cpp)

function(hgcheck_join)
  if(NOT HGCHECK_JOIN)
    return()
  endif()
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${HGCHECK_JOINED_AT_ONCE})
  foreach(source IN LISTS HGCHECK_APART)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()
