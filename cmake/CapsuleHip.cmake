# Builds against the releases of the capsule.
#
#   hgcheck_capsule_program(NAME SOURCES a.hip... [PRECOMPILED] [OPTIONS ...])
#       an ordinary HIP program, built by release 7.2's own hipcc for gfx942: ${PROJECT_BINARY_DIR}/programs/NAME, by
#       the target hgcheck_program_NAME. It runs with ${HGCHECK_CAPSULE_7_2}/bin/run alone: it has the capsule's C
#       library.
#       PRECOMPILED: <hip/hip_runtime.h>, which every source has to include, itself or by a header of its own, is parsed
#       once for all of them, at -O1.
#   HGCHECK_PRECOMPILED_HIP
#       options that give 7.2's hipcc that parsed header, for what tests build themselves: the target
#       hgcheck_precompiled_hip, which nothing builds that does not depend on it.
#   hgcheck_release_runtime(TARGET RELEASE FILE)
#       links that release's runtime, whose path FILE becomes.
#   hgcheck_release_headers(TARGET RELEASE)
#       TARGET is compiled by the project's compiler against the headers of a release, for sources that
#       are built once a release. The headers come before those of hgcheck_hip_headers, should TARGET have both.
#
# Both ask for a release that is there: `if(HGCHECK_CAPSULE_7_2)` is the caller's question, so that nothing that was
# asked for is silently not built. Not checked: that the program runs; that is what tests are for.

# All output of the capsule's compiler depends on these.
set(HGCHECK_CAPSULE_TOOLCHAIN ${HGCHECK_CAPSULE_7_2}/VERSION ${HGCHECK_CAPSULE_7_2}/bin/tool
    ${HGCHECK_CAPSULE_7_2}/bin/capsule.cfg)

# Parsing HIP's header is two thirds of what hipcc takes for a small source (2.1 s of processor time against 0.9), and a
# source is parsed twice, for the host and for the device. Where a header has a folder beside it (.gch), clang takes
# the file that fits the compilation. Only sources that include this header first are compiled with it, so a missing
# include is still an error.
if(HGCHECK_CAPSULE_7_2)
  block(PROPAGATE HGCHECK_PRECOMPILED_HIP HGCHECK_PRECOMPILED_HIP_FILES)
    set(header ${PROJECT_BINARY_DIR}/programs/precompiled/runtime.h)
    file(MAKE_DIRECTORY ${header}.gch)
    file(CONFIGURE OUTPUT ${header} CONTENT "#include <hip/hip_runtime.h>\n")
    set(HGCHECK_PRECOMPILED_HIP -include ${header})
    set(HGCHECK_PRECOMPILED_HIP_FILES "")
    foreach(side host device)
      # The device's side ends at bitcode, before a linker is asked. -Werror suits sources that are built without, too.
      set(bitcode "")
      if(side STREQUAL "device")
        set(bitcode -emit-llvm)
      endif()
      add_custom_command(OUTPUT ${header}.gch/${side}.pch
                         COMMAND ${HGCHECK_CAPSULE_7_2}/bin/clang++ --offload-arch=gfx942 -O1 -Wall -Wextra -Werror
                                 -x hip --cuda-${side}-only ${bitcode} -Xclang -emit-pch
                                 -c ${header} -o ${header}.gch/${side}.pch
                         DEPENDS ${header} ${HGCHECK_CAPSULE_TOOLCHAIN}
                         COMMENT "Precompiling HIP's header (${side})" VERBATIM)
      list(APPEND HGCHECK_PRECOMPILED_HIP_FILES ${header}.gch/${side}.pch)
    endforeach()
    add_custom_target(hgcheck_precompiled_hip DEPENDS ${HGCHECK_PRECOMPILED_HIP_FILES})
  endblock()
endif()

function(hgcheck_capsule_program NAME)
  cmake_parse_arguments(P "PRECOMPILED" "" "SOURCES;OPTIONS" ${ARGN})
  if(NOT HGCHECK_CAPSULE_7_2)
    message(FATAL_ERROR "hgcheck_capsule_program(${NAME}): release 7.2 is not there; ask HGCHECK_CAPSULE_7_2 first")
  endif()
  set(hipcc ${HGCHECK_CAPSULE_7_2}/bin/hipcc)
  set(folder ${PROJECT_BINARY_DIR}/programs)
  file(MAKE_DIRECTORY ${folder}/objects)
  set(precompiled "")
  set(precompiled_files "")
  if(P_PRECOMPILED)
    set(precompiled ${HGCHECK_PRECOMPILED_HIP})
    set(precompiled_files ${HGCHECK_PRECOMPILED_HIP_FILES})
  endif()
  set(objects "")
  foreach(source IN LISTS P_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    cmake_path(GET source FILENAME file)
    set(object ${folder}/objects/${NAME}.${file}.o)
    # One file a command: a compiler that is given several writes the dependencies of the last alone. Without system
    # headers: the capsule's are found through a symbolic link, past which CMake's depfile leads to nothing, and VERSION
    # stands for them.
    add_custom_command(OUTPUT ${object}
                       COMMAND ${hipcc} --offload-arch=gfx942 ${P_OPTIONS} ${precompiled} -MMD -MF ${object}.d
                               -MT ${object}
                               -c ${source} -o ${object}
                       DEPENDS ${source} ${HGCHECK_CAPSULE_TOOLCHAIN} ${precompiled_files} DEPFILE ${object}.d
                       COMMENT "Compiling ${file} with the capsule's hipcc" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_custom_command(OUTPUT ${folder}/${NAME}
                     COMMAND ${hipcc} --offload-arch=gfx942 ${P_OPTIONS} ${objects} -o ${folder}/${NAME}
                     DEPENDS ${objects} ${HGCHECK_CAPSULE_TOOLCHAIN} COMMENT "Linking programs/${NAME}" VERBATIM)
  add_custom_target(hgcheck_program_${NAME} ALL DEPENDS ${folder}/${NAME})
  if(P_PRECOMPILED)
    add_dependencies(hgcheck_program_${NAME} hgcheck_precompiled_hip)
  endif()
endfunction()

# The runtime needs the capsule's C library, which is newer than the one that is linked here.
function(hgcheck_release_runtime target release file)
  string(REPLACE "." "_" id ${release})
  file(GLOB runtime ${HGCHECK_CAPSULE_${id}}/usr/lib/x86_64-linux-gnu/libamdhip64.so)
  target_link_libraries(${target} PRIVATE ${runtime})
  target_link_options(${target} PRIVATE LINKER:--allow-shlib-undefined)
  set(${file} ${runtime} PARENT_SCOPE)
endfunction()

function(hgcheck_release_headers target release)
  string(REPLACE "." "_" id ${release})
  if(NOT HGCHECK_CAPSULE_${id})
    message(FATAL_ERROR "hgcheck_release_headers(${target} ${release}): that release is not there; "
                        "ask HGCHECK_CAPSULE_${id} first")
  endif()
  target_include_directories(${target} SYSTEM BEFORE PRIVATE ${HGCHECK_CAPSULE_${id}}/include)
  # The overloads that HIP's header adds for C++ would hide the C functions whose types we take
  # (cmake/HipHeaders.cmake).
  target_compile_definitions(${target} PRIVATE __HIP_PLATFORM_AMD__=1 __HIP_DISABLE_CPP_FUNCTIONS__=1)
endfunction()
