# hgcheck_join(TARGET): several sources of the target are compiled at once, which saves most of the time that a
# compiler spends on headers. `./dev` asks for it where there is no ccache, so that its first build is quick.
#
# Off unless asked for: each source has to stand by itself, and ccache knows single sources better. Sources that define
# a name for themselves that another source of their room defines, too, are listed here and compiled alone, and so is
# executor.cpp, which must not see how commands run (verify/run/run_command.h). A source that is missing in the list
# does not compile then; `./dev` says so and compiles all of them alone.
option(HGCHECK_JOIN "Compile several sources of a room at once" OFF)

set(HGCHECK_JOINED_AT_ONCE 8)
set(HGCHECK_APART
    fuzz/faults/systems/scratch_buffers.cpp fuzz/faults/systems/stabilizers.cpp fuzz/faults/systems/stream_caches.cpp
    hip/cached_allocator.cpp hip/driver_nodes.cpp hip/flatten.cpp hip/generic_nodes.cpp hip/kernel_attributes.cpp
    hip/launcher.cpp hip/record_graph.cpp hip/recording.cpp hip/release_quirks.cpp
    model/abi/device_image.cpp model/abi/graphs.cpp model/abi/peers.cpp model/abi/pools.cpp
    model/dot.cpp
    reports/html_sections.cpp reports/json.cpp reports/markdown.cpp
    verify/run/executor.cpp)

function(hgcheck_join TARGET)
  if(NOT HGCHECK_JOIN)
    return()
  endif()
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${HGCHECK_JOINED_AT_ONCE})
  foreach(source IN LISTS HGCHECK_APART)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()
