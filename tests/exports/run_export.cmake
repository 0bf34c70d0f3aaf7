# Exports one program, builds the file as its release's users would, runs it, and passes when the failure shows.
#
#   cmake -DHGCHECK=... -DPROGRAM=FILE.program -DFORM=hip|catch2 -DNAME=... -DFOLDER=... -DCAPSULES=... -DAGENT=...
#   -DSTUB=...
#         -DSCHEDULE=libhgschedule.so -DPRECOMPILED=OPTIONS [-DCRASHES=ON] -P run_export.cmake
#
# CRASHES: the finding says that the program crashes. A wild write may break what the file's own signal handler needs,
# and then the signal that ends the file is the failure.
# Status 1 is the failure; a runtime that does the right thing in every order, or a file that could not run, fails the
# test. The releases before 7.2 come without a compiler: 7.2's builds against their headers and their library.
include(${CMAKE_CURRENT_LIST_DIR}/../run_until_shown.cmake)
file(MAKE_DIRECTORY ${FOLDER})
set(source ${FOLDER}/${NAME}.hip)
set(binary ${FOLDER}/${NAME})
if(FORM STREQUAL "refused")
  execute_process(COMMAND ${HGCHECK} export ${PROGRAM} RESULT_VARIABLE status ERROR_VARIABLE errors OUTPUT_QUIET)
  if(NOT status EQUAL 2 OR NOT errors MATCHES "has no stand-alone form")
    message(FATAL_ERROR "the export should say what it cannot write (${status}): ${errors}")
  endif()
  return()
endif()
execute_process(COMMAND ${HGCHECK} export ${PROGRAM} --as ${FORM} -o ${source}.new RESULT_VARIABLE status
                ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the export failed (${status}): ${errors}")
endif()
file(READ ${source}.new text)
if(NOT text MATCHES "rocm-soft@([0-9.]+):")
  message(FATAL_ERROR "the file does not say on which release it fails: ${errors}")
endif()
set(release ${CMAKE_MATCH_1})
set(old "")
if(EXISTS ${source} AND EXISTS ${binary})
  file(READ ${source} old)
endif()

# The comment may count other orders each time; the code is what has to be built.
string(REGEX REPLACE "(^|\n)//[^\n]*" "" code "${text}")
string(REGEX REPLACE "(^|\n)//[^\n]*" "" old_code "${old}")
if(NOT code STREQUAL old_code)
  file(REMOVE ${binary})
  file(RENAME ${source}.new ${source})
  set(common -Wall -Wextra -Werror -O1 --offload-arch=gfx942 -I${STUB})
  if(release STREQUAL "7.2")
    # The file includes the precompiled header first itself, so a missing include is still an error.
    if(NOT code MATCHES "^[^#]*#include <hip/hip_runtime.h>\n")
      set(PRECOMPILED "")
    endif()
    set(build ${CAPSULES}/7.2/bin/hipcc ${common} ${PRECOMPILED} ${source} -o ${binary})
  else()
    file(GLOB library ${CAPSULES}/${release}/usr/lib/x86_64-linux-gnu/libamdhip64.so.[0-9])
    set(build ${CAPSULES}/7.2/bin/clang++ ${common} -D__AMDGCN_WAVEFRONT_SIZE=64 -mcode-object-version=5
              --no-offload-compress --no-offload-new-driver -isystem ${CAPSULES}/${release}/include --hip-link
              -no-hip-rt
              -Wno-unused-command-line-argument -x hip ${source} -x none ${library}
              -Wl,--unresolved-symbols=ignore-in-shared-libs -o ${binary})
  endif()
  execute_process(COMMAND ${build} RESULT_VARIABLE status ERROR_VARIABLE errors OUTPUT_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "hipcc does not build it (${status}): ${errors}")
  endif()
endif()

if(text MATCHES "hipSetDevice\\([1-9]")
  set(AGENTS 2)
endif()
# An exported file does not start without the variables that its program states.
file(STRINGS ${PROGRAM} variables REGEX "^environment ")
list(TRANSFORM variables REPLACE "^environment " "")
run_until_shown(status output env ${variables} ${CAPSULES}/${release}/bin/run --agent ${AGENT} ${binary})
if(FORM STREQUAL "catch2" AND NOT status STREQUAL "0" AND NOT status STREQUAL "2")
  return()  # a failed assertion, or the crash that is the finding
elseif(CRASHES AND status MATCHES "fault|abort|error|llegal|exception")
  return()  # died of a signal, whose name is the status
elseif(NOT status STREQUAL "1")
  message(FATAL_ERROR "${NAME} on ${release}: expected status 1 (the failure shows), observed ${status}")
elseif(NOT output MATCHES "expected .*observed ")
  message(FATAL_ERROR "${NAME} failed without saying what was expected and what was observed")
endif()
