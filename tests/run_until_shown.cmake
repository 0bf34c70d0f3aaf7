# run_until_shown(STATUS OUTPUT COMMAND...): runs a program of AMD's runtime on the software gfx942 until its failure
# shows.
#
# The first run is what a user would see. Where it ends as documented, the agent is asked for other orders
# (tests/schedule.c), because a failure of order shows in some orders only: first stepped, where a seed repeats its
# order, then on free threads with longer and longer delays, where the machine has a say, too. `env` becomes the
# program, so that a signal that ends the program stays one (`cmake -E env` would make it status 1). A run that dies
# otherwise is told and tried again, at most twice. STATUS and OUTPUT are the last run's. SCHEDULE: path of
# libhgschedule.so. AGENTS, where it is set: how many devices the agent has.
set(one_run_seconds 60)
set(last_begin_seconds 200)  # later, the test's own limit would end a run without a word of what was seen
function(run_until_shown STATUS OUTPUT)
  set(died 0)
  string(TIMESTAMP begin "%s")
  set(agents "")
  if(AGENTS)
    set(agents ":${AGENTS}")
  endif()
  set(stepped ":1:1")
  if(AGENTS)
    set(stepped ":${AGENTS}:1")
  endif()
  foreach(run RANGE 1 28)
    set(prefix "")
    if(run GREATER 1 AND run LESS 10)
      set(prefix env HGCHECK_SCHEDULE=${run}:0${stepped} LD_PRELOAD=${SCHEDULE})
    elseif(run GREATER 1)
      math(EXPR delay "100 * (${run} - 8) * (${run} - 8)")
      set(prefix env HGCHECK_SCHEDULE=${run}:${delay}${agents} LD_PRELOAD=${SCHEDULE})
    elseif(agents)
      set(prefix env HGCHECK_SCHEDULE=0:0${agents} LD_PRELOAD=${SCHEDULE})
    endif()
    execute_process(COMMAND ${prefix} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output
                    TIMEOUT ${one_run_seconds})
    message("run ${run} (${status}): ${output}")
    string(TIMESTAMP now "%s")
    math(EXPR seconds "${now} - ${begin}")
    if(status STREQUAL "1")
      break()
    elseif(seconds GREATER last_begin_seconds)
      message("stopped after ${seconds} s and ${run} runs of 28")
      break()
    elseif(NOT status STREQUAL "0")
      math(EXPR died "${died} + 1")
      if(died GREATER 2)
        break()
      endif()
    endif()
  endforeach()
  set(${STATUS} ${status} PARENT_SCOPE)
  set(${OUTPUT} "${output}" PARENT_SCOPE)
endfunction()
