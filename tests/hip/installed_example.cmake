# Installs hip/'s package, finds it where there is no libelf, builds the example against it, runs it on the host backend
# and, given one, on a runtime.
#
#   cmake -DBUILD=<build folder> -DSOURCE=<hip/example> -DWORK=<scratch folder> -DHEADERS=<HIP's headers>
#         -DCOMPILER=<c++>
#         [-DRUN=<capsule's bin/run> -DAGENT=<folder> -DLIBRARY=<libamdhip64> -DCODE=<code object>
#          -DSCHEDULE=<libhgschedule>]
#         -P installed_example.cmake
function(must)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 900)
  message("${output}")
  if(NOT status STREQUAL "0")
    message(FATAL_ERROR "failed (${status}): ${ARGV}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
must(${CMAKE_COMMAND} --install ${BUILD} --component hip --prefix ${WORK}/prefix)
set(against -DCMAKE_PREFIX_PATH=${WORK}/prefix -DHGCHECK_HIP_INCLUDE=${HEADERS} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_CXX_FLAGS=${FLAGS})
must(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/package_without_libelf -B ${WORK}/without_libelf ${against})
must(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build ${against})
must(${CMAKE_COMMAND} --build ${WORK}/build)
string(JOIN ".*" lines
       "stream cache: 1 made, 2 reused" "streams and events: in order" "worker thread: drained" "scratch buffer: "
       "cached allocator: one buffer, grown once" "address stabiliser: 3 steps, recorded once"
       "launcher: 1 synchronisation")
must(${WORK}/build/systems)
if(NOT output MATCHES "${lines}")
  message(FATAL_ERROR "the example did not say what it did on the host backend")
endif()
if(RUN)
  must(${RUN} --agent ${AGENT} ${WORK}/build/systems ${LIBRARY} ${CODE})
  string(JOIN ".*" lines_on_a_runtime
         "${lines}" "stream cache of the process: shared" "trace cache: 6 steps, 4 captures"
         "command buffer: recorded, launched, patched, with a kernel's argument found by its metadata")
  if(NOT output MATCHES "${lines_on_a_runtime}")
    message(FATAL_ERROR "the example did not say what it did on the runtime")
  endif()
  # Two devices: a rank has one of its own. The ranks load the runtime themselves, after the schedule is chosen: so the
  # agent is there before it.
  must(${CMAKE_COMMAND} -E env HGCHECK_SCHEDULE=1:0:2 "LD_PRELOAD=${SCHEDULE} ${AGENT}/libhsa-runtime64.so.1"
       ${RUN} --agent ${AGENT} ${WORK}/build/ranks ${LIBRARY})
  foreach(rank 0 1)
    if(NOT output MATCHES "rank ${rank} on device ${rank}: ")
      message(FATAL_ERROR "rank ${rank} was not on a device of its own")
    endif()
  endforeach()
  string(JOIN ".*" lines_of_the_ranks
         "2 ranks as processes: together for 8 rounds, and none waited for the one that left"
         "a rank that was given up: its peer did not go on alone")
  if(NOT output MATCHES "${lines_of_the_ranks}")
    message(FATAL_ERROR "the ranks did not say that they were together")
  endif()
endif()
