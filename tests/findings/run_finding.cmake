# Runs the source of one finding and passes when the deviation still shows.
#
#   cmake -DRUN=<capsule's bin/run> -DAGENT=<folder of the agent> -DPROGRAM=<program> -DID=<id>
#         -DSCHEDULE=<libhgschedule.so> [-DAGENTS=<devices>] -P run_finding.cmake
#
# Status 1 with the expected and the observed side is the deviation; 0 is a runtime that does the right thing now, which
# its folder then has to say; anything else is a case that could not run.
include(${CMAKE_CURRENT_LIST_DIR}/../run_until_shown.cmake)
run_until_shown(status output ${RUN} --agent ${AGENT} ${PROGRAM})
if(status STREQUAL "0")
  message(FATAL_ERROR "${ID} no longer shows: the runtime does what is documented. Say so in verify/findings/${ID}")
elseif(NOT status STREQUAL "1")
  message(FATAL_ERROR "${ID} could not run (${status})")
elseif(NOT output MATCHES "expected .*observed ")
  message(FATAL_ERROR "${ID} failed without saying what was expected and what was observed")
endif()
