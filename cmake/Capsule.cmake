# Finds the capsule: the releases of AMD's HIP runtime that `./dev setup` unpacked (docs/capsule.md).
#
# Sets, for each of HGCHECK_RELEASES, HGCHECK_CAPSULE_7_2 and its like to the folder, or to nothing when the release is
# not there; what is left out then is printed at the end of the configure step. Below each folder:
#   include/  the headers of HIP, HSA and comgr, and nothing else. Not usr/include: release 7.2 has the headers of a C
#             library there, newer than this machine's, that the project's compiler must never see
#   bin/run   starts a program on the release's runtime; bin/hipcc and others (7.2) are its compiler (CapsuleHip.cmake)
# Promises: a release that is set up anew makes the next build configure again. Does not check: what is in the folder
# beyond VERSION, which tools/fetch-capsule writes last.
set(HGCHECK_CAPSULE_ROOT ${PROJECT_SOURCE_DIR}/.capsule CACHE PATH "Where `./dev setup` unpacked AMD's runtimes")

function(hgcheck_find_release release what)
  string(REPLACE "." "_" id ${release})
  set(folder ${HGCHECK_CAPSULE_ROOT}/${release})
  if(EXISTS ${folder}/VERSION AND EXISTS ${folder}/bin/run)
    set(HGCHECK_CAPSULE_${id} ${folder} PARENT_SCOPE)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/VERSION)
    file(STRINGS ${folder}/VERSION version LIMIT_COUNT 1)
    message(STATUS "Capsule ${release}: ${version}")
  else()
    set(HGCHECK_CAPSULE_${id} "" PARENT_SCOPE)
    hgcheck_left_out("rocm-soft@${release}${what}: HIP ${release} is not in ${HGCHECK_CAPSULE_ROOT}"
                     "run './dev setup', or 'tools/fetch-capsule ${release}' and read what it says (docs/capsule.md)")
  endif()
endfunction()

set(also ", ordinary HIP programs and the sources of the findings")  # of the reference
foreach(release IN LISTS HGCHECK_RELEASES)
  hgcheck_find_release(${release} "${also}")
  set(also "")
endforeach()
